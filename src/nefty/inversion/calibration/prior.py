"""What the user knows of a real part before the fit, with its width: facts are priors."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np


@dataclass(frozen=True)
class SoundPrior:
    """Stated values of a sound part and how far from them the truth may be, as standard deviations.

    Args:
        alpha: diffusivity through the thickness, as stated.
        alpha_width: of log alpha.
        h: loss of front and back over rho c, as stated, length/time.
        h_width: of each loss, length/time.
        delay_width: of the time by which the heat came later than stated: the flash lies somewhere within its frame,
            the pulse is longer or shorter, its lamps glow on. After the pulse the frames tell only the sum of these.
        margin_width: of the logarithm of the heated margin, around one diffusion length.
    """

    alpha: float
    alpha_width: float
    h: tuple[float, float] = (0.0, 0.0)
    h_width: tuple[float, float] = (np.inf, np.inf)
    delay_width: float = 0.0
    margin_width: float = np.inf

    def centres(self, thickness: float, margin: float) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation of each unknown of ``SoundShape``.

        Args:
            thickness: of the part, for Biot numbers h H/alpha.
            margin: one diffusion length.
        """
        biot = thickness / self.alpha
        return {
            "alpha": (log(self.alpha), self.alpha_width),
            "front": (self.h[0] * biot, self.h_width[0] * biot),
            "back": (self.h[1] * biot, self.h_width[1] * biot),
            "margin": (log(margin), self.margin_width),
            "delay": (0.0, 1.0),  # in units of its own width
        }
