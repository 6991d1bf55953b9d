"""Recordings of drawn specimens, by the independent simulator, with noise."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Listing

import numpy as np

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.core.provenance import versions
from nefty.data.sequence import Excitation, Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash
from nefty.synth.explicit import simulate_explicit
from nefty.synth.specimen import PAPER_GRID, Specimen

PAPER_TIMES = tuple(0.05 * frame for frame in range(1, 101))
PAPER_FLASH = GaussianFlash(amplitude=100.0, width=2.5, depth=0.2)
PAPER_SIDES = Boundary()


def simulate(
    specimen: Specimen,
    *,
    noise: float = 0.0,
    seed: int = 0,
    grid: Grid = PAPER_GRID,
    times: Listing[float] | np.ndarray = PAPER_TIMES,
    excitation: Excitation = PAPER_FLASH,
    boundary: Boundary = PAPER_SIDES,
    observe: str = "front",
    refine: int = 1,
    safety: float = 16.0,
    face_mean: str = "harmonic",
    anisotropy: tuple[float, float] = (1.0, 1.0),
    progress: Callable[[int, int], object] | None = None,
) -> Sequence:
    """Simulate the recording of a specimen; by default the paper's slab, flash and frames.

    Args:
        specimen: what is recorded.
        noise: standard deviation of white Gaussian noise, as a share of the highest noise-free value: 0.001 is 0.1 %.
        seed: of the noise, together with the specimen's.
        grid: one pixel per column of cells; the truth is given on it.
        times: of the frames after the flash.
        excitation: the flash or pulse, or the temperature at t = 0 on ``grid``.
        boundary: the sides.
        observe: ``"front"``, ``"back"`` or ``"both"``.
        refine: simulate the specimen on cells so many times smaller along each axis.
        safety: of the substeps; see ``simulate_explicit``. At 16 the error in time is, as RMS, 0.003 % of the peak.
        face_mean: diffusivity between two cells.
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        progress: called with (frames done, frames in all).

    Returns:
        Frames in float64 with everything that made them: in ``truth`` the diffusivity, in ``meta`` the specimen's
        record and how it was simulated. ``noise`` is left open, as it is in a real recording; ``meta["noise_sigma"]``
        has it.
    """
    if not isinstance(specimen, Specimen):
        raise InputError(f"specimen={specimen!r} must be a Specimen, such as nefty.draw_specimen(seed=0).")
    noise, seed = number("noise", noise, at_least=0), count("seed", seed, at_least=0)
    frames = simulate_explicit(
        grid,
        specimen.alpha(grid.refined(refine)),
        times,
        excitation,
        boundary,
        face_mean=face_mean,
        anisotropy=anisotropy,
        observe=observe,
        refine=refine,
        safety=safety,
        progress=progress,
    )
    sigma = noise * float(frames.max())
    if sigma > 0:
        random = np.random.default_rng([seed, specimen.seed or 0])
        frames += sigma * random.standard_normal(frames.shape)
    return Sequence(
        frames=frames,
        times=np.asarray(times, dtype=np.float64),
        size=grid.size,
        excitation=excitation,
        boundary=boundary,
        anisotropy=anisotropy,
        face_mean=face_mean,
        observe=observe,
        truth=specimen.alpha(grid),
        meta={
            "source": "simulated",
            "engine": "explicit, forward Euler, float64",
            "specimen": specimen.record(),
            "safety": float(safety),
            "refine": int(refine),
            "face_mean": face_mean,
            "noise": noise,
            "noise_sigma": sigma,
            "seed": seed,
            "versions": versions(),
        },
    )
