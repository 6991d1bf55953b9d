"""How the heat enters: a flash that is over at t = 0, or a pulse that lasts.

A flash is an initial temperature, a pulse is a surface source. Both are an amplitude times a shape, so that
the derivative for the amplitude is one inner product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.heating_curve import HeatingCurve, face_profile


@dataclass(frozen=True)
class GaussianFlash:
    """The paper's synthetic flash (appendix A.5), sampled at the cell centres:

    T0 = A exp(-((x - xc)^2 + (y - yc)^2)/(2 w^2)) exp(-z^2/(2 d^2)).

    Args:
        amplitude: A, the peak rise of temperature at the surface.
        width: w, the lateral standard deviation.
        depth: d, the absorption depth.
        centre: (yc, xc); the middle of the face if not given.
    """

    amplitude: float = 100.0
    width: float = 2.5
    depth: float = 0.2
    centre: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        number("flash amplitude", self.amplitude)
        number("flash width", self.width, above=0)
        number("flash depth", self.depth, above=0)
        if self.centre is not None:
            try:
                y, x = self.centre
            except (TypeError, ValueError):
                raise InputError(f"flash centre={self.centre!r} must be two numbers, (y, x).") from None
            number("flash centre y", y)
            number("flash centre x", x)

    def shape(self, grid: Grid) -> np.ndarray:
        """Initial temperature for amplitude 1, float64, (z, y, x)."""
        z, y, x = grid.centres()
        yc, xc = self.centre if self.centre is not None else (grid.size[1] / 2, grid.size[2] / 2)
        lateral = np.exp(-((x - xc) ** 2 + (y - yc) ** 2) / (2 * self.width**2))
        return lateral * np.exp(-(z**2) / (2 * self.depth**2))


@dataclass(frozen=True)
class UniformFlash:
    """A flash lamp over the whole face (paper, appendix A.5): T0 = A exp(-z^2/(2 d^2)).

    Args:
        amplitude: A, the rise of temperature at the surface.
        depth: d, the absorption depth.
    """

    amplitude: float = 1.0
    depth: float = 0.1

    def __post_init__(self) -> None:
        number("flash amplitude", self.amplitude)
        number("flash depth", self.depth, above=0)

    def shape(self, grid: Grid) -> np.ndarray:
        """Initial temperature for amplitude 1, float64, (z, y, x)."""
        z, _, _ = grid.centres()
        return np.broadcast_to(np.exp(-(z**2) / (2 * self.depth**2)), grid.shape).copy()


@dataclass(frozen=True, eq=False)
class TopHatPulse:
    """A constant heat flux into the front face from ``start`` to ``start + duration``.

    Args:
        amplitude: the rise that the pulse leaves in the slab once its heat has spread through the thickness
            and nothing is lost (the adiabatic rise), where ``profile`` is 1. The flux over rho c is
            amplitude * thickness / duration.
        duration: any positive time; frames may lie inside the pulse.
        start: when it begins.
        profile: lateral distribution (y, x), 1 everywhere if not given.
    """

    amplitude: float = 1.0
    duration: float = 0.01
    start: float = 0.0
    profile: np.ndarray | None = None

    def __post_init__(self) -> None:
        number("pulse amplitude", self.amplitude)
        number("pulse duration", self.duration, above=0)
        number("pulse start", self.start, at_least=0)

    def shape(self, grid: Grid) -> np.ndarray:
        """Heating rate of the front cells over the pulse, for amplitude 1, float64, (y, x).

        A cell of thickness dz warms at the rate amplitude * H / (duration * dz).
        """
        rate = grid.shape[0] / self.duration
        return face_profile(self.profile, grid) * rate


LASTING = (TopHatPulse, HeatingCurve)
"""Excitations that heat the front face over a time: they have ``start``, ``duration``, ``amplitude``, ``profile``."""
