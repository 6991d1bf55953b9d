"""The derivative of a recording by the diffusivity at a constant background, and its singular values.

The paper's proposition 1 bounds the singular values of dK = B o J by those of the embedding J: H1 -> L2:
sigma_{n+1} <= ||B|| (1 + lambda_n)^(-1/2), with the eigenvalues lambda_n of the Laplacian, n = 0, 1, ...

Discretisation. Cells, and pixels of frames, are piecewise constant functions. So the Jacobian of the frames times
sqrt(pixel area * frame spacing / cell volume) is the matrix of B between orthonormal bases of L2(Omega) and
L2(Gamma x (0, T)). The slab's eigenfunctions (Fourier laterally, cosines in depth), sampled at the cell centres, are
orthonormal on the cells too. They keep the eigenvalues of the slab rather than get those of finite differences: the
bound is then the proposition's own, for the modes that the grid resolves, and it holds for the matrices exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.fft import dct, idct

from nefty.bench.illposedness.options import LAMP, SIZE, Flash, Options
from nefty.bench.solver.case import FLASH
from nefty.core.checks import one_of
from nefty.core.grid import Grid
from nefty.core.tell import Tell, say_nothing
from nefty.physics.heat_model import HeatModel
from nefty.physics.linearization import Linearization
from nefty.physics.pulses import GaussianFlash


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Singular values of the derivative at a constant background, largest first.

    Args:
        title: which slab.
        grid: its cells.
        frames: of the recording.
        surface: of B: L2 -> L2.
        smooth: of dK: H1 -> L2.
        eigenvalues: of the Laplacian, increasing.
        floor: the singular value of B from which on a pattern is seen.
    """

    title: str
    grid: Grid
    frames: int
    surface: np.ndarray
    smooth: np.ndarray
    eigenvalues: np.ndarray
    floor: float

    @property
    def norm(self) -> float:
        """||B||, the C_B of the proof."""
        return float(self.surface[0])

    @property
    def bound(self) -> np.ndarray:
        """||B|| (1 + lambda_n)^(-1/2)."""
        return self.norm * (1 + self.eigenvalues) ** -0.5

    @property
    def weyl(self) -> np.ndarray:
        """||B|| lambda_n^(-1/2) with Weyl's lambda_n = (6 pi^2 n / volume)^(2/3)."""
        n = np.arange(1, len(self.smooth) + 1)
        return self.norm * (6 * np.pi**2 * n / np.prod(self.grid.size)) ** (-1 / 3)

    @property
    def pixels(self) -> int:
        """Of a frame."""
        return self.grid.shape[1] * self.grid.shape[2]

    def above(self, level: float) -> int:
        """How many singular values of B exceed ``level``."""
        return int((self.surface > level).sum())

    def slope(self, values: np.ndarray) -> float:
        """d log(values)/d log(n) from a sixteenth to a quarter of the pixels, where the grid resolves the patterns."""
        n = np.arange(self.pixels // 16 + 1, self.pixels // 4 + 2)
        return float(np.polyfit(np.log(n), np.log(values[n - 1]), 1)[0])


def jacobian(
    at: Linearization, by: str = "columns", progress: Callable[[int, int], object] | None = None
) -> np.ndarray:
    """d frames/d alpha, (t y x, z y x), from one exact product per column (``jvp``) or row (``vjp``)."""
    one_of("by", by, ("columns", "rows"))
    product, shape = (at.jvp, at.point["alpha"].shape) if by == "columns" else (at.vjp, at.frames.shape)
    unit = torch.zeros(shape, dtype=at.point["alpha"].dtype)
    lines = np.empty((unit.numel(), at.frames.numel() if by == "columns" else at.point["alpha"].numel()))
    for i in range(unit.numel()):
        unit.view(-1)[i] = 1
        lines[i] = product(unit).numpy().ravel()
        unit.view(-1)[i] = 0
        if progress is not None and i % 64 == 63:
            progress(i + 1, unit.numel())
    return lines.T if by == "columns" else lines


def laplacian_eigenvalues(grid: Grid) -> np.ndarray:
    """(2 pi m/L)^2 + (2 pi l/L)^2 + (p pi/H)^2 of the slab's modes that the cells resolve, (p, l, m)."""
    (nz, ny, nx), (dz, dy, dx) = grid.shape, grid.spacing
    along_z = np.pi * np.arange(nz) / (nz * dz)
    along_y, along_x = 2 * np.pi * np.fft.fftfreq(ny, dy), 2 * np.pi * np.fft.fftfreq(nx, dx)
    return along_z[:, None, None] ** 2 + along_y[None, :, None] ** 2 + along_x[None, None, :] ** 2


def smoothed(rows: np.ndarray, grid: Grid, *, mean_free: bool = False) -> np.ndarray:
    """``rows`` (any, z y x) times (1 - Laplacian)^(-1/2), so that a matrix on L2 becomes the one on H1.

    Args:
        rows: of a matrix on the cells.
        grid: the cells.
        mean_free: the norm ||grad|| on patterns without a mean instead: (-Laplacian)^(-1/2), and 0 for the mean.
    """
    values = laplacian_eigenvalues(grid) + (0.0 if mean_free else 1.0)
    factors = np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
    modes = np.fft.fft2(_cosines(rows.reshape(-1, *grid.shape), axis=1))
    return _cosines(np.fft.ifft2(factors * modes).real, axis=1, back=True).reshape(rows.shape)


def _cosines(values: np.ndarray, axis: int, *, back: bool = False) -> np.ndarray:
    """The orthonormal cosine transform along the layers, or ``back``."""
    return np.asarray((idct if back else dct)(values, axis=axis, norm="ortho"))


def background(grid: Grid, frames: int, flash: Flash, options: Options) -> Linearization:
    """The model at the constant background, in float64."""
    model = HeatModel(grid, options.times(frames), flash, dtype="float64")
    return model.linearize(np.full(grid.shape, options.alpha))


def _floor(grid: Grid, frames: np.ndarray, options: Options) -> float:
    """sigma at which a pattern with the RMS ``change`` moves its own left singular vector by the noise's deviation."""
    _, dy, dx = grid.spacing
    noise = options.noise * frames.max() * np.sqrt(dy * dx * options.duration / len(frames))
    return float(noise / (options.change * options.alpha * np.sqrt(np.prod(grid.size))))


def dense_spectrum(
    options: Options, tell: Tell = say_nothing, flash: Flash = FLASH
) -> tuple[Spectrum, np.ndarray, float]:
    """From the full Jacobian; with the right singular vectors of B, (n, z, y, x), and how near the mean-free bound is.

    The last is the largest sigma_n / (||B|| lambda_n^(-1/2)), n >= 1, of the paper's remark on the mean.
    """
    grid, task = Grid(options.shape, SIZE), "Jacobian of the small slab"
    at = background(grid, options.frames, flash, options)
    by = "columns" if grid.cells <= at.frames.numel() else "rows"
    found = jacobian(at, by, lambda i, n: tell(task, f"{i} of {n} {by}"))
    tell(task, "singular values")
    operator = found * np.sqrt(options.duration / options.frames / grid.spacing[0])
    triangle = np.asarray(np.linalg.qr(operator, mode="r"))  # the singular values and right vectors of the operator
    _, surface, vectors = np.linalg.svd(triangle, full_matrices=False)
    smooth = np.linalg.svd(smoothed(triangle, grid), compute_uv=False)
    free = np.linalg.svd(smoothed(triangle, grid, mean_free=True), compute_uv=False)
    eigenvalues = np.sort(laplacian_eigenvalues(grid), axis=None)[: len(surface)]
    nearness = float((free[:-1] * np.sqrt(eigenvalues[1:])).max() / surface[0])
    title = f"{in_words(grid)} cells, {_flash_word(flash)}"
    floor = _floor(grid, at.frames.numpy(), options)
    spectrum = Spectrum(title, grid, options.frames, surface, smooth, eigenvalues, floor)
    return spectrum, vectors.reshape(-1, *grid.shape), nearness


def in_words(grid: Grid) -> str:
    """``"64 x 64 x 16"``, the cells along x, y, z."""
    return " x ".join(str(n) for n in reversed(grid.shape))


def _flash_word(flash: Flash) -> str:
    return "Gaussian flash" if isinstance(flash, GaussianFlash) else "uniform flash"


@dataclass(frozen=True, eq=False)
class LayerResponses:
    """How the frames answer to a change of one layer, at a uniform background under a uniform flash.

    Args:
        grid: the cells.
        cell: answer to one cell of each layer, (layer, t, y, x).
        blocks: the same in lateral Fourier space, (l, m, t, layer): J falls apart into them.
        frames: of the background.
    """

    grid: Grid
    cell: np.ndarray
    blocks: np.ndarray
    frames: np.ndarray


def layer_responses(shape: tuple[int, int, int], options: Options) -> LayerResponses:
    """One product per layer: under a uniform flash all other columns of J are shifted copies of these."""
    grid = Grid(shape, SIZE)
    at = background(grid, options.fine_frames, LAMP, options)
    unit, answers = torch.zeros(shape, dtype=torch.float64), []
    for layer in range(shape[0]):
        unit.zero_()[layer, 0, 0] = 1
        answers.append(at.jvp(unit).numpy().copy())
    cell = np.stack(answers)
    return LayerResponses(grid, cell, np.moveaxis(np.fft.fft2(cell), (0, 1), (3, 2)), at.frames.numpy())


def fourier_spectrum(of: LayerResponses, options: Options) -> Spectrum:
    """All singular values of a slab under a uniform flash, from one small matrix (t, layer) per lateral mode."""
    grid, frames = of.grid, len(of.frames)
    blocks = of.blocks * np.sqrt(options.duration / frames / grid.spacing[0])
    eigenvalues = laplacian_eigenvalues(grid)
    cosines = _cosines(blocks, axis=-1) / np.sqrt(1 + np.moveaxis(eigenvalues, 0, -1))[:, :, None, :]
    surface, smooth = (np.sort(np.linalg.svd(b, compute_uv=False), axis=None)[::-1] for b in (blocks, cosines))
    return Spectrum(
        f"{in_words(grid)} cells, {_flash_word(LAMP)}",
        grid,
        frames,
        surface,
        smooth,
        np.sort(eigenvalues, axis=None)[: len(smooth)],
        _floor(grid, of.frames, options),
    )
