"""What the user of a recording says of the part: right in kind, and wrong by as much as users are."""

from __future__ import annotations

from typing import Any

import numpy as np

from nefty.physics.materials import Material
from nefty.synth.parts.filming import Filming
from nefty.synth.parts.history import LampPulse
from nefty.synth.parts.part import Part

STREAM = 142  # seeds of users
THICKNESS, DIFFUSIVITY, RATIO, PULSE = 0.02, 0.10, 0.20, 0.20  # standard deviations, as shares
FARTHEST = 2.5  # standard deviations


def told(part: Part, filming: Filming, seed: int) -> dict[str, Any]:
    """Facts by the names of ``nefty.load``; numbers in SI units.

    Thickness, diffusivity, ratios of the axes and duration of the pulse are off by normal errors of 2, 10, 20 and 20 %
    (at most 2.5 of them). When within its frame the flash came, nobody knows; half of the users say the frame. Of an
    isotropic material they know that it is.

    Args:
        part: the true one.
        filming: the camera.
        seed: of the errors.
    """
    random = np.random.default_rng([seed, STREAM])
    lamp = part.heat.history
    assert isinstance(lamp, LampPulse)  # of other heatings a user has a curve

    def off(share: float) -> float:
        return 1 + share * float(np.clip(random.standard_normal(), -FARTHEST, FARTHEST))

    true = part.material
    alpha = true.alpha_z * off(DIFFUSIVITY)
    errors = (off(RATIO), off(RATIO))
    y, x = (1.0 if r == 1 else r * e for r, e in zip(true.anisotropy, errors, strict=True))
    material = Material(
        name=true.name, alpha_z=alpha, alpha_y=alpha * y, alpha_x=alpha * x, rho=true.rho, cp=true.cp, note="as told"
    )
    facts = {
        "material": material,
        "thickness": part.thickness * off(THICKNESS),
        "pixel": part.pixel,
        "pulse": lamp.duration * off(PULSE),
        "fps": part.fps,
        "units": "counts" if filming.counts else "K",
    }
    return {**facts, "flash_frame": filming.before} if random.random() < 0.5 else facts
