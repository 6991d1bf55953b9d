"""Whether a volume would have given the recording: surface frames simulated again (paper, appendix G).

The simulator is the independent explicit one, never the solver of the inversion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.sequence import Sequence
from nefty.metrics.volume import checked
from nefty.physics.heating_curve import HeatingCurve
from nefty.synth.explicit import simulate_explicit
from nefty.synth.recording import setup_of, specimen_of

SAFETY = 16.0


@dataclass(frozen=True)
class SurfaceScore:
    """How close the frames of a volume are to the true ones.

    Args:
        mse: mean squared difference, in the unit of the temperatures squared.
        psnr: in decibels, 10 log10(peak^2 / mse); infinite for equal frames.
        peak: the highest true value. The paper does not name its own; its 0.50e-4 and 82.33 dB imply 92.5.
    """

    mse: float
    psnr: float
    peak: float


def surface_score(
    reconstruction: Any,
    sequence: Sequence,
    true_frames: np.ndarray | None = None,
    *,
    safety: float | None = None,
    refine: int | None = None,
) -> SurfaceScore:
    """Simulate the frames of a volume as the recording was made, and compare them with those of the true part.

    Args:
        reconstruction: a volume (z, y, x), or anything that has one as ``.alpha``; a column of cells per pixel.
        sequence: the recording; pixels outside its mask do not count.
        true_frames: without noise, of the recording's shape; ``noise_free(sequence)`` if not given.
        safety: see ``resimulated``.
        refine: likewise.
    """
    true = noise_free(sequence) if true_frames is None else np.asarray(true_frames, dtype=np.float64)
    if true.shape != sequence.frames.shape:
        raise InputError(f"the true frames have shape {true.shape}, the recording {sequence.frames.shape}.")
    return frames_score(resimulated(reconstruction, sequence, safety=safety, refine=refine), true, sequence.mask)


def frames_score(frames: np.ndarray, true: np.ndarray, mask: np.ndarray | None = None) -> SurfaceScore:
    """How close frames are to the true ones, where the pixels (y, x) of ``mask`` count."""
    if mask is not None:
        true = np.where(mask, true, np.nan)
    return SurfaceScore(frames_mse(frames, true), frames_psnr(frames, true), float(np.nanmax(true)))


def resimulated(
    reconstruction: Any, sequence: Sequence, *, safety: float | None = None, refine: int | None = None
) -> np.ndarray:
    """Frames that a volume would have given, float64, (t, y, x) or (2, t, y, x).

    Times, excitation, boundary, anisotropy and observed faces are the recording's; the face mean is that of the data
    (``setup_of``), where it is known, and not that of the model that inverts them.

    Args:
        reconstruction: a volume (z, y, x), or anything that has one as ``.alpha``; a column of cells per pixel.
        sequence: the recording.
        safety: of the substeps; that of the recording's simulation, or 16.
        refine: simulate on cells so many times smaller; that of the recording's simulation, or 1.
    """
    alpha = checked(getattr(reconstruction, "alpha", reconstruction))
    return _simulated(alpha, sequence.grid(alpha.shape[0]), sequence, safety, refine)


def noise_free(sequence: Sequence) -> np.ndarray:
    """The frames of a simulated recording before its camera: the specimen of its record, simulated like a volume.

    For data of the explicit simulator that is, bit for bit, what noise and gains were added to.
    """
    specimen = specimen_of(sequence)
    if sequence.truth is None or specimen is None:
        raise InputError(
            "the recording does not say what it was simulated from; give its true frames, or compare with those "
            "measured: frames_mse(resimulated(alpha, sequence), sequence.frames)."
        )
    grid = sequence.grid(sequence.truth.shape[0])
    alpha = specimen.alpha(grid.refined(_refine(sequence, None)))
    return _simulated(alpha, grid, sequence, None, None)


def frames_mse(frames: Any, true: Any) -> float:
    """Mean of the squared differences of two arrays of one shape; NaN in ``true`` does not count."""
    difference = _differences(frames, true)
    return float(np.mean(difference**2))


def frames_psnr(frames: Any, true: Any, *, peak: float | None = None) -> float:
    """10 log10(peak^2 / MSE) in decibels; infinite for equal frames.

    Args:
        frames: of any shape.
        true: of the same; NaN does not count.
        peak: the highest of ``true`` if not given.
    """
    error = frames_mse(frames, true)
    peak = number("peak", np.nanmax(true) if peak is None else peak, above=0)
    return math.inf if error == 0 else 10 * math.log10(peak**2 / error)


def _simulated(
    alpha: np.ndarray, grid: Grid, sequence: Sequence, safety: float | None, refine: int | None
) -> np.ndarray:
    if sequence.excitation is None:
        raise InputError("the recording does not name its flash; give Sequence(..., excitation=...) to simulate it.")
    if isinstance(sequence.excitation, HeatingCurve):
        raise InputError(
            "the simulator of specimens knows flashes and even pulses; a heating curve cannot be scored so."
        )
    setup = setup_of(sequence)
    return simulate_explicit(
        grid,
        alpha,
        sequence.times,
        sequence.excitation,
        sequence.boundary,
        face_mean=sequence.face_mean if setup is None else setup.data_face_mean,
        anisotropy=sequence.anisotropy,
        observe=sequence.observe,
        refine=_refine(sequence, refine),
        safety=safety or (SAFETY if setup is None or setup.safety is None else setup.safety),
    )


def _refine(sequence: Sequence, given: int | None) -> int:
    setup = setup_of(sequence)
    own = 1 if setup is None or setup.refine is None else setup.refine
    return count("refine", own if given is None else given)


def _differences(frames: Any, true: Any) -> np.ndarray:
    """Frames minus true ones, where the latter are known; one list."""
    frames, true = np.asarray(frames, dtype=np.float64), np.asarray(true, dtype=np.float64)
    if frames.shape != true.shape:
        raise InputError(f"the frames have shape {frames.shape}, the true ones {true.shape}; compare the same frames.")
    known = ~np.isnan(true)
    if not known.any():
        raise InputError(f"the true frames, of shape {true.shape}, hold no number; there is nothing to compare with.")
    difference = frames[known] - true[known]
    if not np.isfinite(difference).all():
        raise InputError("the frames hold NaN or infinite values where the true ones are known; they have no error.")
    return difference
