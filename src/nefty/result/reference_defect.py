"""Would a plain defect show in this recording at all?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nefty.physics.slab.reference_decay import reference_decay
from nefty.result.indications.detection_image import front_frames

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

VISIBLE = 5.0  # standard errors, in one frame, from which on people and methods see a region
DEPTH = 0.5  # of the thickness, at which the reference defect lies
WIDTH = 1.0  # of the thickness: its diameter


def reference_visibility(rec: Reconstruction) -> float | None:
    """By how many standard errors an insulating gap at half the thickness, as wide as the part is thick, stands out
    in its best frame; ``None`` if the noise is not known or zero.

        max_t |T(t)| (T_{L/2}(t)/T_L(t) - 1) sqrt(N)/sigma(t)

    with T the median pixel of the fit, T_L the surface of an adiabatic slab of thickness L (``reference_decay``), and N
    the pixels over the gap. Heat that flows around it, which would make it fainter still, is left out.
    """
    noise = rec.noise_of_frames
    if noise is None or not noise.all():
        return None
    thickness, (_, dy, dx) = rec.grid.size[0], rec.grid.spacing
    alpha = float(np.exp(np.mean(np.log(rec.background))))
    gap, sound = (reference_decay(rec.times, alpha, length) for length in (DEPTH * thickness, thickness))
    level = np.abs(np.median(front_frames(rec.fitted), axis=(1, 2)))
    _, ny, nx = rec.grid.shape
    pixels = min(max(math.pi / 4 * (WIDTH * thickness) ** 2 / (dy * dx), 1.0), ny * nx)
    return float(np.max(level * (gap / sound - 1) * math.sqrt(pixels) / noise))
