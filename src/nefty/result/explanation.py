"""Whether a reconstruction explains its recording, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from nefty.result.frame_pixels import frame_pixels

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

#: Residual over noise: below the first it is over-fitted, up to the second explained, beyond the third unexplained.
OVERFITTED, EXPLAINED, UNEXPLAINED = 0.9, 1.1, 1.5
#: Pixels along the side of the patch that is looked at on its own, and standard errors that its mean may stray.
PATCH, ERRORS = 5, 6


@dataclass(frozen=True)
class _Worst:
    """Where the residual is largest: a frame, a patch, and the residual over noise there."""

    frame: int
    frame_ratio: float
    pixel: tuple[int, int]
    patch_ratio: float
    face: str
    stands_out: bool


def explanation(rec: Reconstruction) -> tuple[str, str]:
    """Compare the residual with the noise, on the whole, frame by frame and patch by patch.

    Returns:
        ``"explained"``, ``"partly"``, ``"unexplained"``, ``"overfitted"`` or ``"unknown"``; and why.
    """
    noise = rec.noise_of_frames
    if rec.misfit is None or noise is None:
        return _without_noise(rec)
    ratio, worst = float(np.sqrt(rec.misfit)), _worst(rec)
    unit = rec.unit("time")
    when = f"t = {rec.times[worst.frame]:.3g}{' ' * bool(unit)}{unit}"
    where = f"around pixel (y, x) = {_frame_pixel(rec, worst.pixel)}{worst.face}"
    if ratio > UNEXPLAINED:
        return (
            "unexplained",
            f"The volume does not explain the recording: the residual is {ratio:.2g} times the noise, most at {when} "
            f"({worst.frame_ratio:.2g} times) and {where} ({worst.patch_ratio:.2g} times). {_remedy(rec, worst.frame)}",
        )
    if ratio < OVERFITTED and rec.facts.calibration:  # the noise is the scatter of sound pixels
        return (
            "explained",
            f"The volume explains the recording: the residual is {ratio:.2g} times the scatter of sound pixels around "
            "the calibrated part, which holds the camera's noise and what the model does not know.",
        )
    if ratio < OVERFITTED:
        return (
            "overfitted",
            f"The volume fits below the noise: the residual is only {ratio:.2g} times the noise, so noise is being "
            "explained by structure that is not there. Use a larger regularisation weight or stop earlier; if the "
            f"noise of {np.median(noise):.3g} was given by hand, check it.",
        )
    if worst.stands_out:
        return (
            "partly",
            f"On the whole the volume explains the recording, with a residual of {ratio:.2g} times the noise, but not "
            f"everywhere: it is {worst.frame_ratio:.2g} times the noise at {when} and {worst.patch_ratio:.2g} times "
            f"{where}. Look at the residual there; mask glare, edges and dead pixels, drop saturated frames, "
            "or give it more iterations.",
        )
    if ratio > EXPLAINED:
        return (
            "partly",
            f"The volume nearly explains the recording: the residual is {ratio:.3g} times the noise, spread evenly. "
            "More iterations or a smaller regularisation weight may reach the noise; check the noise figure too.",
        )
    return (
        "explained",
        f"The volume explains the recording down to the camera noise: the residual is {ratio:.3g} times the noise, "
        "and no frame or region stands out. More detail would need a quieter or longer recording.",
    )


def _without_noise(rec: Reconstruction) -> tuple[str, str]:
    unit = rec.unit("temperature")
    share = 100 * rec.rmse / max(float(np.nanmax(np.abs(rec.measured))), np.finfo(float).tiny)
    size = f"{rec.rmse:.3g}{' ' * bool(unit)}{unit} (RMSE), {share:.2g} % of the largest temperature rise"
    if rec.noise is None:
        return (
            "unknown",
            f"The noise of the recording is not known, so nothing says how small the residual should be; it is {size}. "
            "Give the noise with the recording, Sequence(noise=...), in the unit of the frames.",
        )
    return (
        "unknown",
        f"The recording is free of noise, so there is no noise floor to reach; the residual is {size}. What remains is "
        "the model's error and the regularisation; more iterations make it smaller.",
    )


def _remedy(rec: Reconstruction, frame: int) -> str:
    frames = len(rec.times)
    if frame < 0.1 * frames:
        return "It is worst early: check the start, duration and shape of the flash, and saturated frames."
    if frame > 0.7 * frames:
        return "It is worst late: check thickness, bulk diffusivity and heat loss, or leave the late frames out."
    return "Give it more iterations or a smaller regularisation weight, and check size, bulk diffusivity and boundary."


def _worst(rec: Reconstruction) -> _Worst:
    assert rec.noise_of_frames is not None  # judge sees to it
    square = np.square(rec.residual / rec.noise_of_frames[:, None, None], dtype=np.float64)
    square = square.reshape(-1, *square.shape[-3:])  # (face, t, y, x)
    valid = np.isfinite(square)
    square = np.where(valid, square, 0)
    frames, frame_errors = _means(square.sum(axis=(0, 2, 3)), valid.sum(axis=(0, 2, 3)))
    patches, patch_errors = _means(_patch_sums(square.sum(axis=1)), _patch_sums(valid.sum(axis=1)))
    limit = UNEXPLAINED**2
    frame = int(np.argmax(frames))
    face, y, x = (int(i) for i in np.unravel_index(np.argmax(patches), patches.shape))
    return _Worst(
        frame=frame,
        frame_ratio=float(np.sqrt(frames[frame])),
        pixel=(y, x),
        patch_ratio=float(np.sqrt(patches[face, y, x])),
        face=(" of the front", " of the back")[face] if len(square) == 2 else "",
        stands_out=bool((frames > limit + frame_errors).any() or (patches > limit + patch_errors).any()),
    )


def _frame_pixel(rec: Reconstruction, pixel: tuple[int, int]) -> tuple[int, int]:
    """Row and column, in the frames as they were read, of a pixel that was compared."""
    _, dy, dx = rec.grid.spacing
    return frame_pixels(rec.grid, rec.facts.window).pixel((pixel[0] + 0.5) * dy, (pixel[1] + 0.5) * dx)


def _patch_sums(images: np.ndarray) -> np.ndarray:
    """Sums over the patch around each pixel, (face, y, x)."""
    kernel = np.ones(PATCH)
    for axis in (1, 2):
        images = ndimage.convolve1d(images, kernel, axis=axis, mode="constant")
    return images


def _means(total: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of squares, 0 where there are none, and how far those of pure noise may stray (variance 2/number)."""
    number = np.maximum(number, 1)
    return total / number, ERRORS * np.sqrt(2 / number)
