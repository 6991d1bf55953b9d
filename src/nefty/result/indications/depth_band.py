"""How sure a depth is: a band around the depth to the top of a defect.

Three things widen it, and are added in squares:

1. the blur of its upper edge in the volume (``Indication.depth_blur``), at least half a cell;
2. the spread of the depth within the defect's core (``Indication.depth_spread``);
3. the change of depth that moves the decay over the defect by the noise of one value, at the time when it moves most.

For the third, diffusion has no length but the depth d: sqrt(t) c(t) is a function of t/d^2, c the contrast that the
model has over the defect. So a relative change of the depth moves the decay by

    dc/dln(d) = -(2 dc/dln(t) + c).

What the fit leaves unexplained over the defect in a frame counts as its noise, where that is more. The band holds
neither a wrong thickness or material (all depths scale with the thickness that was given) nor a second defect in the
shadow of the first.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nefty.result.indications.detection_image import front_frames, heating
from nefty.result.indications.indication import Indication
from nefty.result.indications.surroundings import Surroundings

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction


def depth_band(rec: Reconstruction, defect: Indication, place: Surroundings) -> tuple[float, float]:
    """Lower and upper end of the band around ``defect.depth_to_top``, in the grid's unit, within the part.

    Args:
        rec: the reconstruction.
        defect: of it.
        place: its pixels.
    """
    depth, thickness = defect.depth_to_top, rec.grid.size[0]
    blur = max(defect.depth_blur, rec.grid.spacing[0] / 2)
    half = math.hypot(blur, defect.depth_spread, depth * relative_error(rec, place))
    return max(depth - half, 0.0), min(depth + half, thickness)


def relative_error(rec: Reconstruction, place: Surroundings) -> float:
    """The relative change of depth that moves the decay by one noise level; infinite if it never moves that much."""
    times, fitted = rec.times, front_frames(rec.fitted)
    contrast = _contrast(fitted, place)
    late = times > 0
    if contrast is None or late.sum() < 3:
        return math.inf
    moved = 2 * np.gradient(contrast[late], np.log(times[late])) + contrast[late]
    noise = _noise(rec, place)[late]
    with np.errstate(divide="ignore", invalid="ignore"):
        most = float(np.max(np.abs(moved) / noise))
    return 1 / most if most > 0 else math.inf


def _contrast(fitted: np.ndarray, place: Surroundings) -> np.ndarray | None:
    """Mean over the core minus mean over the sound pixels, (t,), as if all pixels had been heated alike."""
    first = heating(fitted)
    d, s = (mask & np.isfinite(first) for mask in (place.core, place.sound))
    if not d.any() or not s.any():
        return None
    means = [(fitted[:, mask] / first[mask]).mean(axis=1, dtype=np.float64) for mask in (d, s)]
    return (means[0] - means[1]) * float(first[d].mean())


def _noise(rec: Reconstruction, place: Surroundings) -> np.ndarray:
    """Standard deviation of a value in each frame, (t,), no less than what is left over the defect in that frame."""
    known = np.broadcast_to(np.asarray(0.0 if rec.noise is None else rec.noise, dtype=np.float64), rec.times.shape)
    left = np.square(front_frames(rec.residual)[:, place.footprint], dtype=np.float64)
    number = np.isfinite(left).sum(axis=1)
    return np.where(number > 0, np.maximum(known, np.sqrt(np.nansum(left, axis=1) / np.maximum(number, 1))), np.inf)
