"""How clearly a place stands out of the frames: its contrast and SNR in the frame that shows it best.

A frame is looked at as if all of the part had been heated alike, T(t) mean_s(F) / F, F the model's first frame: uneven
flash and emissivity, as far as the model knows them, scale a pixel's whole decay and go out. That is the *detection
image*. (The measured first frame would not do: glare and afterglow of the flash are in it.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.core.errors import InputError
from nefty.result.indications.contrast_noise import contrast_noise
from nefty.result.indications.surroundings import Surroundings

#: Pixels whose first frame is below this share of the median were hardly heated; they do not count.
HEATED = 0.05


@dataclass(frozen=True)
class Visibility:
    """A place in its detection image.

    Args:
        snr: 20 log10(|mean_d - mean_s| / sigma_s) in dB.
        cnr: |mean_d - mean_s| / sigma_s.
        contrast: mean_d - mean_s, in the unit of the frames.
        frame: index of the frame, where the SNR is highest.
    """

    snr: float
    cnr: float
    contrast: float
    frame: int


def front_frames(frames: np.ndarray) -> np.ndarray:
    """Frames (t, y, x) of a recording of one face, or of the front of one of both."""
    return frames if frames.ndim == 3 else frames[0]


def heating(fitted: np.ndarray) -> np.ndarray:
    """How much each pixel was heated, by the model: its first frame (y, x), NaN where that was hardly at all."""
    first = fitted[0].astype(np.float64)
    return np.where(first > max(HEATED * float(np.median(first)), 0.0), first, np.nan)


def detection_image(frame: np.ndarray, heated: np.ndarray, sound: np.ndarray) -> np.ndarray:
    """A measured frame as if all pixels had been heated alike, (y, x); NaN where nothing is known.

    Args:
        frame: (y, x).
        heated: from ``heating``.
        sound: pixels (y, x) that set the scale.
    """
    known = heated[sound & np.isfinite(heated)]
    return frame.astype(np.float64) / heated * (float(known.mean()) if known.size else 1.0)


def visibility(frames: np.ndarray, heated: np.ndarray, place: Surroundings) -> Visibility | None:
    """Contrast and SNR of a place; ``None`` where its pixels, or the sound ones beside it, hold too little.

    Args:
        frames: (t, y, x), as measured.
        heated: from ``heating``.
        place: the defect's pixels and the sound ones.
    """
    known = np.isfinite(heated)
    d, s = (frames[:, mask & known] / heated[mask & known] for mask in (place.footprint, place.sound))
    frame = int(np.argmax(_ratios(d, s)))
    try:
        found = contrast_noise(detection_image(frames[frame], heated, place.sound), place.footprint, place.sound)
    except InputError:  # too few pixels that are known
        return None
    return Visibility(found.snr, found.cnr, found.contrast, frame)


def _ratios(d: np.ndarray, s: np.ndarray) -> np.ndarray:
    """|mean_d - mean_s| / sigma_s of every frame, (t,); -1 where it is not known.

    Args:
        d: values of the defect, (t, pixels).
        s: of sound pixels.
    """
    counts = [np.isfinite(values).sum(axis=1) for values in (d, s)]
    means = [np.nansum(v, axis=1) / np.maximum(n, 1) for v, n in zip((d, s), counts, strict=True)]
    squares = np.nansum(np.square(s - means[1][:, None]), axis=1) / np.maximum(counts[1] - 1, 1)
    known = (counts[0] > 0) & (counts[1] > 1) & (squares > 0)
    return np.where(known, np.abs(means[0] - means[1]) / np.sqrt(np.where(known, squares, 1.0)), -1.0)
