"""Heat flow in three dimensions that can be written down: a Gaussian in free space, cosine modes in a box."""

from __future__ import annotations

import numpy as np

from nefty.core.checks import count, number, one_of
from nefty.core.grid import Grid
from nefty.physics.slab.slab import gaussian_means


def free_gaussian(
    grid: Grid,
    time: float,
    alpha: float,
    sigma: float,
    *,
    centre: tuple[float, float, float] | None = None,
    amplitude: float = 1.0,
    anisotropy: tuple[float, float] = (1.0, 1.0),
) -> np.ndarray:
    """A Gaussian that spreads in free space (paper, appendix I), (z, y, x):

    T = A prod_d sigma/s_d exp(-(x_d - c_d)^2/(2 s_d^2)),   s_d^2 = sigma^2 + 2 alpha_d t.

    It also solves a half space with an adiabatic front if its centre lies on that face.

    Args:
        grid: the cells, small against the distance of the Gaussian from their outer faces.
        time: t.
        alpha: diffusivity along z.
        sigma: standard deviation at t = 0.
        centre: (z, y, x); the middle of the grid if not given.
        amplitude: A.
        anisotropy: (alpha_y, alpha_x)/alpha_z.
    """
    time, sigma = number("time", time, at_least=0), number("sigma", sigma, above=0)
    profiles = []
    for axis, ratio in enumerate((1.0, *anisotropy)):
        c = grid.size[axis] / 2 if centre is None else centre[axis]
        s = np.sqrt(sigma**2 + 2 * alpha * ratio * time)
        edges = np.linspace(0, grid.size[axis], grid.shape[axis] + 1)
        profiles.append(sigma / s * gaussian_means(edges, c, s))
    z, y, x = profiles
    return amplitude * z[:, None, None] * y[:, None] * x


def cosine_mode(grid: Grid, numbers: tuple[int, int, int], lateral: str = "periodic") -> np.ndarray:
    """prod_d cos(k_d x_d) at the cell centres, (z, y, x): for constant alpha it decays and keeps its shape.

    k = m pi/L along adiabatic axes (z always) and 2 pi m/L along periodic ones. It is an exact eigenvector of
    the finite-volume operator too; the cell means of the continuous mode are a constant times it.

    Args:
        grid: the cells.
        numbers: m along z, y, x.
        lateral: ``"periodic"`` or ``"adiabatic"`` sides.
    """
    k = _wave_numbers(grid, numbers, lateral)
    z, y, x = (np.cos(kd * xd) for kd, xd in zip(k, grid.centres(), strict=True))
    return z * y * x


def continuous_decay_rate(
    grid: Grid,
    numbers: tuple[int, int, int],
    alpha: float,
    lateral: str = "periodic",
    anisotropy: tuple[float, float] = (1.0, 1.0),
) -> float:
    """Decay rate of ``cosine_mode`` by the heat equation: sum_d alpha_d k_d^2."""
    k = _wave_numbers(grid, numbers, lateral)
    return alpha * sum(r * kd**2 for r, kd in zip((1.0, *anisotropy), k, strict=True))


def discrete_decay_rate(
    grid: Grid,
    numbers: tuple[int, int, int],
    alpha: float,
    lateral: str = "periodic",
    anisotropy: tuple[float, float] = (1.0, 1.0),
) -> float:
    """Decay rate of ``cosine_mode`` on the cells: sum_d alpha_d (2/dx_d sin(k_d dx_d/2))^2."""
    k = _wave_numbers(grid, numbers, lateral)
    parts = zip((1.0, *anisotropy), k, grid.spacing, strict=True)
    return alpha * float(sum(r * (2 / d * np.sin(kd * d / 2)) ** 2 for r, kd, d in parts))


def _wave_numbers(grid: Grid, numbers: tuple[int, int, int], lateral: str) -> tuple[float, float, float]:
    """k along z, y, x, such that the cosine fits the sides."""
    one_of("lateral", lateral, ("periodic", "adiabatic"))
    turns = np.pi * (2 if lateral == "periodic" else 1)
    mz, my, mx = (count("mode number", m, at_least=0) for m in numbers)
    return np.pi * mz / grid.size[0], turns * my / grid.size[1], turns * mx / grid.size[2]
