"""Parts with different insides that look alike from outside, recorded by the explicit simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.special import ndtr

from nefty.bench.illposedness.options import LAMP, SIZE, Flash, Options
from nefty.bench.solver.case import FLASH
from nefty.core.grid import Grid
from nefty.core.tell import Tell, say_nothing
from nefty.physics.heat_model import HeatModel
from nefty.physics.linearization import Linearization
from nefty.synth.explicit import simulate_explicit
from nefty.synth.specimen import Defect, Specimen

STRATUM, FIRST_STRATUM = 1 / 8, 3 / 8  # thickness of the strata of the stacks; depth from which they alternate
FINER = 4  # layers of cells per layer of the profile, so that the search does not exploit the grid
SEARCH = (3e-3, 3e-4, 3e-5)  # the share of the peak that weighs as much as a factor e in alpha, stage by stage


@dataclass(frozen=True, eq=False)
class Pair:
    """Two parts with their recordings by the explicit simulator.

    Args:
        title: what they are.
        names: of the two.
        times: of the frames.
        alpha: both insides, (z, y, x).
        frames: both recordings, (t, y, x).
        values: how many numbers the camera records; more than the frames have where all pixels are equal.
        shows: how large the difference is in % of the peak in another experiment.
        where: which one.
    """

    title: str
    names: tuple[str, str]
    times: np.ndarray
    alpha: tuple[np.ndarray, np.ndarray]
    frames: tuple[np.ndarray, np.ndarray]
    values: int
    shows: float
    where: str

    @property
    def difference(self) -> np.ndarray:
        """Of the recordings, second minus first, in % of the peak, (t, y, x)."""
        first, second = self.frames
        return 100 * (second - first) / first.max()

    def row(self, noise: float) -> dict[str, Any]:
        """Numbers for the table; ``noise`` of the camera as a share of the peak."""
        first, second = self.alpha
        ratio = np.abs(np.log(second / first))
        differ = ratio > np.log(1.1)
        rms = float(np.sqrt(np.mean(self.difference**2)))
        together = rms / (100 * noise) * float(np.sqrt(self.values))
        return {
            "title": self.title,
            "names": f"{self.names[0]} | {self.names[1]}",
            "differ": float(differ.mean()),
            "factor": float(np.exp(ratio[differ].mean())) if differ.any() else 1.0,
            "relative": float(np.linalg.norm(second - first) / np.linalg.norm(first)),
            "largest": float(np.abs(self.difference).max()),
            "rms": rms,
            "together": together,
            "right": float(ndtr(together / 2)),
            "shows": f"{self.shows:.2g} % {self.where}",
        }


def pairs(options: Options, tell: Tell = say_nothing) -> list[Pair]:
    """Shadows under the paper's flash, stacks of strata under a uniform one."""
    tell("pairs", "defects in the shadow of another")
    found = [
        shadow(options, 300, 2.5, ((0.75, 5.0, 5.0, 0.6),)),
        shadow(options, 30, 2.0, ((0.75, 5.0, 4.2, 0.4), (0.75, 5.0, 5.8, 0.4))),
    ]
    tell("pairs", "stacks of strata")
    return [*found, *stacks(options)]


def shadow(
    options: Options, contrast: float, radius: float, places: Sequence[tuple[float, float, float, float]]
) -> Pair:
    """A flat defect with sound material below it, and with hidden blocks below it.

    Args:
        options: slab, frames, background.
        contrast: bulk diffusivity over the defects'.
        radius: of the upper defect.
        places: depth, y, x and half width of each block.
    """
    low = options.alpha / contrast
    upper = Defect("cylinder", (0.375, 5.0, 5.0), (0.125, radius, radius), 0.0, low)
    blocks = tuple(Defect("box", (z, y, x), (0.125, r, r), 0.0, low) for z, y, x, r in places)
    grid = Grid(options.fine, SIZE)
    alpha = [Specimen(SIZE, (), (options.alpha,), d).alpha(grid) for d in ((upper,), (upper, *blocks), (), blocks)]
    frames = [_simulate(a, FLASH, options) for a in alpha]
    return Pair(
        f"defects of 1 : {contrast:g} in the shadow of another",
        ("a delamination", f"the same and {'a block' if len(blocks) == 1 else f'{len(blocks)} blocks'} below it"),
        options.times(options.fine_frames),
        (alpha[0], alpha[1]),
        (frames[0], frames[1]),
        frames[0].size,
        _largest(frames[2], frames[3]),
        "without the upper one",
    )


def stacks(options: Options) -> list[Pair]:
    """A uniform plate and two stacks of strata, one fast where the other is slow."""
    grid = Grid(options.fine, SIZE)
    z = grid.centres()[0].ravel()
    wanted = np.where(z > FIRST_STRATUM, np.log(2) * (-1.0) ** np.floor(z / STRATUM), 0.0)
    profiles = [options.alpha * np.exp(p) for p in (0 * z, lookalike(wanted, options), lookalike(-wanted, options))]
    frames = [_simulate(np.repeat(p, FINER)[:, None, None], LAMP, options, steps=10) for p in profiles]
    spot = [_simulate(np.broadcast_to(p[:, None, None], grid.shape), FLASH, options) for p in profiles]
    names, times = ("a uniform plate", "a stack of strata", "its opposite"), options.times(options.fine_frames)

    def pair(i: int, j: int) -> Pair:
        alpha = profiles[i][:, None, None], profiles[j][:, None, None]
        lit = frames[i], frames[j]
        shows = _largest(spot[i], spot[j])
        return Pair(f"{names[i]} and {names[j]}", (names[i], names[j]), times, alpha, lit, spot[i].size, shows, _SPOT)

    return [pair(0, 1), pair(1, 2)]


_SPOT = "under the Gaussian flash"


def lookalike(wanted: np.ndarray, options: Options) -> np.ndarray:
    """log(alpha / background) of a layered plate near ``wanted`` (z,), with the surface curve of the uniform plate.

    Least squares in both, the curve ever more strictly: what it does not tell stays as wanted, what it tells gives way.
    """
    grid = Grid((FINER * len(wanted), 1, 1), SIZE)
    model = HeatModel(grid, options.times(options.fine_frames), LAMP, dtype="float64")
    strata = np.kron(np.eye(len(wanted)), np.ones(FINER)).reshape(-1, *grid.shape)

    def at(profile: np.ndarray) -> Linearization:
        return model.linearize(options.alpha * np.exp(np.repeat(profile, FINER))[:, None, None])

    def residuals(profile: np.ndarray, unit: float) -> np.ndarray:
        return np.concatenate([(at(profile).frames.numpy().ravel() - curve) / unit, profile - wanted])

    def derivative(profile: np.ndarray, unit: float) -> np.ndarray:
        here, moves = at(profile), strata * options.alpha * np.exp(profile)[:, None, None, None]
        answers = [here.jvp(move).numpy().ravel() / unit for move in moves]
        return np.vstack([np.stack(answers, axis=1), np.eye(len(wanted))])

    found = np.zeros_like(wanted)
    curve = at(found).frames.numpy().ravel()
    for share in SEARCH:
        found = least_squares(
            residuals,
            found,
            derivative,  # pyright: ignore[reportArgumentType]
            bounds=(-2.0, 2.0),
            ftol=1e-3,
            xtol=1e-4,
            max_nfev=options.evaluations,
            args=(share * float(curve.max()),),
        ).x
    return found


def _simulate(alpha: np.ndarray, flash: Flash, options: Options, *, steps: float = 1.0) -> np.ndarray:
    """Frames by the explicit simulator, with so many times the steps that the options ask for."""
    nz, ny, nx = alpha.shape
    times = options.times(options.fine_frames)
    return simulate_explicit(Grid((nz, ny, nx), SIZE), alpha, times, flash, safety=steps * options.safety)


def _largest(first: np.ndarray, second: np.ndarray) -> float:
    """Largest difference in % of the peak."""
    return float(100 * np.abs(second - first).max() / first.max())
