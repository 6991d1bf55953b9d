"""What the sound pixels of a real part show, up to gain, amplitude and common course: m S, by a few unknowns.

S is the exact surface of a slab with losses after a finite pulse, m the heat that flows sideways into surroundings that
were not heated (``sound_decay`` has the whole of it, and fits the unknowns).
"""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from nefty.inversion.calibration.prior import SoundPrior
from nefty.inversion.calibration.settings import DecaySettings
from nefty.physics.problem import Pulse, delayed
from nefty.physics.slab.lateral_spreading import Piece, remaining_share
from nefty.physics.slab.surface import slab_surface

UNKNOWNS = ("alpha", "front", "back", "margin", "delay")
Theta = dict[str, float]
"""log alpha, Biot numbers of front and back, log margin, delay in units of the prior's width."""


class SoundShape:
    """m(t, y, x) S(t) of a part, by its unknowns; where these may lie and what is known of them.

    Args:
        face: pixels (y, x).
        piece: where they lie in the frame of the whole part; they are all of it if not given. All others as of
            ``SoundFit``.
    """

    def __init__(
        self,
        face: tuple[int, int],
        times: np.ndarray,
        size: tuple[float, float, float],
        anisotropy: tuple[float, float],
        pulse: Pulse,
        *,
        losses: tuple[bool, bool],
        surroundings: bool,
        settings: DecaySettings,
        prior: SoundPrior | None,
        piece: Piece | None = None,
    ) -> None:
        self._piece = piece
        self._face, self._times, self._size, self._anisotropy, self._pulse = face, times, size, anisotropy, pulse
        self._settings, self._prior = settings, prior
        self._delay = prior.delay_width if prior is not None else 0.0
        free = (True, *losses, surroundings, self._delay > 0)
        self.names = [name for name, is_free in zip(UNKNOWNS, free, strict=True) if is_free]

    def __call__(self, theta: Theta) -> np.ndarray:
        """m S of the unknowns, (t, y, x) or (t, 1, 1)."""
        alpha = exp(theta["alpha"])
        surface = self.surface(alpha, *self.losses(theta), self.delay(theta))
        return surface[:, None, None] * self.sideways(alpha, exp(theta["margin"]))

    def surface(self, alpha: float, h_front: float, h_back: float, delay: float) -> np.ndarray:
        """S(t), (t,)."""
        pulse = delayed(self._pulse, delay)
        times = self._times if self._pulse is not None else np.maximum(self._times - delay, 0.1 * self._times)
        return slab_surface(times, alpha, self._size[0], h_front=h_front, h_back=h_back, pulse=pulse)

    def sideways(self, alpha: float, margin: float) -> np.ndarray | float:
        """m(t, y, x), or 1 where the surroundings are not felt."""
        if not self._feels(alpha, margin):
            return 1.0
        along = (alpha * self._anisotropy[0], alpha * self._anisotropy[1])
        return remaining_share(self._times, along, self._size[1:], self._face, margin, self._piece)

    def unknowns(self, alpha: float, h: tuple[float, float], margin: float | None = None, delay: float = 0.0) -> Theta:
        """The unknowns of a part whose heated margin is one diffusion length if it is not given."""
        biot = [loss * self._size[0] / alpha for loss in h]
        length = self._length(alpha)
        widest = self._settings.widest_margin * length
        margin = min(length if margin is None else margin, widest) if "margin" in self.names else np.inf
        late = delay / self._delay if self._delay else 0.0
        return {"alpha": log(alpha), "front": biot[0], "back": biot[1], "margin": log(margin), "delay": late}

    def losses(self, theta: Theta) -> tuple[float, float]:
        """Of front and back over rho c, length/time."""
        alpha, thickness = exp(theta["alpha"]), self._size[0]
        return theta["front"] * alpha / thickness, theta["back"] * alpha / thickness

    def margin(self, theta: Theta) -> float:
        """How far beyond the frames the part was heated; infinite if its surroundings are not felt."""
        margin = exp(theta["margin"])
        return margin if self._feels(exp(theta["alpha"]), margin) else np.inf

    def delay(self, theta: Theta) -> float:
        """By how much later than stated the heat came."""
        return theta["delay"] * self._delay

    def in_units(self, spread: Theta, alpha: float, margin: float) -> Theta:
        """Spreads of the unknowns as those of diffusivity, losses, margin and delay of a part."""
        biot = alpha / self._size[0]
        units = {"alpha": alpha, "front": biot, "back": biot, "margin": margin, "delay": self._delay}
        return {name: units[name] * value for name, value in spread.items()}

    def centres(self) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation that the prior gives to each unknown that is fitted."""
        if self._prior is None:
            return {}
        centres = self._prior.centres(self._size[0], self._length(self._prior.alpha))
        return {name: centre for name, centre in centres.items() if name in self.names}

    def prior_cost(self, theta: Theta) -> float:
        """Squared distance from the prior, in its widths."""
        return sum(((theta[n] - mean) / width) ** 2 for n, (mean, width) in self.centres().items())

    def bounded(self, name: str, value: float, theta: Theta) -> float:
        """The value of an unknown, or the nearest that it may have beside the others of ``theta``."""
        settings = self._settings
        if self._prior is not None and name in ("alpha", "delay"):
            mean, width = self.centres().get(name, (value, 0.0))
            return float(np.clip(value, mean - settings.farthest * width, mean + settings.farthest * width))
        if name in ("front", "back"):
            return float(np.clip(value, 0.0, settings.largest_biot))
        if name == "margin" and "margin" in self.names:
            length = self._length(exp(theta["alpha"]))
            narrowest, widest = log(settings.narrowest_margin * length), log(settings.widest_margin * length)
            return float(np.clip(value, narrowest, widest))
        return value

    def _length(self, alpha: float) -> float:
        """How far heat flows sideways until the last frame."""
        return sqrt(4 * alpha * max(self._anisotropy) * float(self._times[-1]))

    def _feels(self, alpha: float, margin: float) -> bool:
        """Whether the surroundings beyond a margin are felt."""
        return margin < 0.99 * self._settings.widest_margin * self._length(alpha)
