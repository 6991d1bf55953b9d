"""How the sound pixels of a real recording cool, and how well the pixels follow it.

A sound pixel of a part in millimetres, seen by a camera, shows

    T(t, y, x) = g(y, x) A c(t) m(t, y, x) S(t; alpha, h_front, h_back),

S the exact surface of a slab with losses after a finite pulse, A the amplitude, g the gain of the pixel (uneven flash,
emissivity), m the heat that flows sideways into surroundings that were not heated (a margin beyond the frame was), and
c(t) what all pixels have in common besides: the pulse's true shape, the camera. Few numbers are fitted to thousands of
pixels, by Gauss-Newton; pixels that lie over defects and frames that the model cannot explain count the less, the worse
they fit.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from nefty.core.errors import NeftyError
from nefty.data.noise import MAD_TO_SIGMA
from nefty.inversion.calibration.settings import DecaySettings
from nefty.physics.problem import Pulse
from nefty.physics.slab.lateral_spreading import remaining_share
from nefty.physics.slab.surface import slab_surface

PROBE = {"alpha": 1e-3, "front": 1e-3, "back": 1e-3, "margin": 1e-2}  # steps of differences, far above rounding


@dataclass(frozen=True, eq=False)
class SoundDecay:
    """The fitted background of a real part; lengths and times in the units of the recording.

    Args:
        alpha: diffusivity through the thickness.
        h_front: heat loss of the front over rho c, length/time.
        h_back: of the back.
        margin: how far beyond the frames the part was heated; infinite if its surroundings are not felt.
        amplitude: A, the rise that the heat leaves in the part.
        common: c(t), of each frame, (t,).
        noise: standard deviation of the values of sound pixels in each frame, camera and model together, (t,).
        first: index of the first frame that the model explains at all.
        clear: index of the first frame that it explains as well as later ones.
        gain: g of each pixel, with median 1, (y, x); of the sound fit, so not of pixels over defects.
        quiet: how sound each pixel looks, 0 to 1, (y, x).
        alpha_spread: standard deviation that the weighted frames leave the diffusivity, by the curvature of the fit; it
            knows nothing of what the model leaves out. ``None`` where a value was not fitted.
        h_front_spread: of the losses.
        h_back_spread: of the losses.
        margin_spread: of the margin.
    """

    alpha: float
    h_front: float
    h_back: float
    margin: float
    amplitude: float
    common: np.ndarray
    noise: np.ndarray
    first: int
    clear: int
    gain: np.ndarray
    quiet: np.ndarray
    alpha_spread: float | None = None
    h_front_spread: float | None = None
    h_back_spread: float | None = None
    margin_spread: float | None = None


class SoundFit:
    """The fit of a background to the sound pixels of frames.

    Args:
        frames: (t, y, x), float64; values that do not count are 0.
        counted: which count, of the same shape.
        times: after the flash.
        noise: standard deviation of the values of each frame, (t,).
        size: of the part, (z, y, x).
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        pulse: when the heating began and ended; ``None`` for a flash.
        losses: whether the front and the back lose heat.
        surroundings: whether heat may flow sideways out of the frame.
        settings: numbers of the fit.
    """

    def __init__(
        self,
        frames: np.ndarray,
        counted: np.ndarray,
        times: np.ndarray,
        noise: np.ndarray,
        size: tuple[float, float, float],
        anisotropy: tuple[float, float],
        pulse: Pulse,
        *,
        losses: tuple[bool, bool] = (True, True),
        surroundings: bool = True,
        settings: DecaySettings | None = None,
    ) -> None:
        self._settings = settings or DecaySettings()
        self.frames, self.counted, self.times, self.noise = frames, counted, times, noise
        self.size, self.anisotropy, self.pulse = size, anisotropy, pulse
        self._usable = counted.sum(axis=0) >= max(2, len(times) // 2)
        if not self._usable.any():
            raise NeftyError("no pixel has values in half of the frames; check mask, saturation and missing values.")
        free = (True, *losses, surroundings)
        self._names = [n for n, f in zip(("alpha", "front", "back", "margin"), free, strict=True) if f]

    def fit(
        self,
        start: SoundDecay | float,
        modulation: np.ndarray | float = 1.0,
        *,
        sound: np.ndarray | None = None,
        h: tuple[float, float] = (0.0, 0.0),
    ) -> SoundDecay:
        """Fit from a first guess.

        Args:
            start: diffusivity through the thickness, or an earlier fit.
            modulation: by what the defects found so far change the frames of the background, (t, y, x).
            sound: pixels (y, x) that no defect is near, all if not given.
            h: losses of front and back to start from, with a diffusivity only.
        """
        theta = self._theta(start, h)
        usable = self._usable if sound is None else self._usable & sound
        trust = usable.astype(np.float64)
        spread: dict[str, float] = {}
        for _ in range(self._settings.steps):
            trust, root, inverse = self._weights(self._shape(theta) * modulation, usable)
            move, spread = self._step(theta, root, inverse, modulation)
            theta = {name: self._bounded(name, value + move.get(name, 0.0), theta) for name, value in theta.items()}
            if max(abs(m) for m in move.values()) < self._settings.settled:
                break
        return self._with_spread(self._summary(theta, trust, usable, modulation), spread)

    def _weights(self, shape: np.ndarray, usable: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How much pixels and values count in a step.

        Returns:
            trust in each pixel, (y, x); root of the weight of each value; inverse variance of each value, (t, y, x).
        """
        settings = self._settings
        typical = self._typical(shape)
        variance = self.noise[:, None, None] ** 2 + (settings.relative * typical * shape) ** 2
        inverse = _over(self.counted, variance, 0.0)  # what neither rises nor is noisy says nothing
        gain = _gain(self.frames, shape, inverse)
        square = (self.frames - gain * shape) ** 2 * inverse
        values = np.maximum(self.counted.sum(axis=0), 1)
        level = np.sqrt(square.sum(axis=0) / values)
        quiet = max(float(np.quantile(level[usable], settings.quiet)), settings.quiet_noise)
        trust = usable / (1 + (level / (settings.doubtful * quiet)) ** 2) ** 2
        trusted = np.maximum((trust * self.counted).sum(axis=(1, 2)), 1e-12)
        per_frame = np.sqrt((trust * square).sum(axis=(1, 2)) / trusted)
        middle = max(float(np.median(per_frame)), settings.frame_noise)
        frame_trust = 1 / (1 + (per_frame / (settings.doubtful_frame * middle)) ** 2) ** 2
        return trust, np.sqrt(inverse * trust * frame_trust[:, None, None]), inverse

    def surroundings(self, decay: SoundDecay) -> np.ndarray | float:
        """m(t, y, x) of a fitted part, or 1."""
        return self._sideways(decay.alpha, decay.margin)

    def surface(self, decay: SoundDecay) -> np.ndarray:
        """S(t) of a fitted part, (t,)."""
        loss = {"h_front": decay.h_front, "h_back": decay.h_back}
        return slab_surface(self.times, decay.alpha, self.size[0], **loss, pulse=self.pulse)

    def _theta(self, start: SoundDecay | float, h: tuple[float, float]) -> dict[str, float]:
        if isinstance(start, SoundDecay):
            alpha, h, margin = start.alpha, (start.h_front, start.h_back), start.margin
        else:
            alpha, margin = start, self._length(start)
        biot = [loss * self.size[0] / alpha for loss in h]
        margin = min(margin, self._settings.widest_margin * self._length(alpha)) if "margin" in self._names else np.inf
        return {"alpha": log(alpha), "front": biot[0], "back": biot[1], "margin": log(margin)}

    def _length(self, alpha: float) -> float:
        """How far heat flows sideways until the last frame."""
        return sqrt(4 * alpha * max(self.anisotropy) * float(self.times[-1]))

    def _feels(self, alpha: float, margin: float) -> bool:
        """Whether the surroundings beyond a margin are felt."""
        return margin < 0.99 * self._settings.widest_margin * self._length(alpha)

    def _bounded(self, name: str, value: float, theta: dict[str, float]) -> float:
        if name in ("front", "back"):
            return float(np.clip(value, 0.0, self._settings.largest_biot))
        if name == "margin" and "margin" in self._names:
            length = self._length(exp(theta["alpha"]))
            return float(
                np.clip(
                    value, log(self._settings.narrowest_margin * length), log(self._settings.widest_margin * length)
                )
            )
        return value

    def _shape(self, theta: dict[str, float]) -> np.ndarray:
        """m S of the unknowns, (t, y, x) or (t, 1, 1)."""
        alpha = exp(theta["alpha"])
        loss = {f"h_{face}": theta[face] * alpha / self.size[0] for face in ("front", "back")}
        surface = slab_surface(self.times, alpha, self.size[0], **loss, pulse=self.pulse)
        return surface[:, None, None] * self._sideways(alpha, exp(theta["margin"]))

    def _sideways(self, alpha: float, margin: float) -> np.ndarray | float:
        """m(t, y, x), or 1 where the surroundings are not felt."""
        if not self._feels(alpha, margin):
            return 1.0
        along = (alpha * self.anisotropy[0], alpha * self.anisotropy[1])
        _, height, width = self.size
        _, rows, columns = self.frames.shape
        return remaining_share(self.times, along, (height, width), (rows, columns), margin)

    def _typical(self, shape: np.ndarray) -> float:
        """The amplitude of the middle pixel."""
        ratio = np.where(self.counted, self.frames / np.maximum(shape, 1e-300), np.nan)
        return float(np.nanmedian(np.nanmedian(ratio[:, self._usable], axis=0)))

    def _step(
        self, theta: dict[str, float], root: np.ndarray, inverse: np.ndarray, modulation: np.ndarray | float
    ) -> tuple[dict[str, float], dict[str, float]]:
        """A Gauss-Newton step, and the standard deviations (diagonal of the inverse matrix) of the unknowns.

        The gain is eliminated, so that its derivative is part of each column.
        """

        def residual(at: dict[str, float]) -> np.ndarray:
            shape = self._shape(at) * modulation
            return (root * (self.frames - _gain(self.frames, shape, inverse) * shape)).ravel()

        here = residual(theta)
        columns = [(residual({**theta, n: theta[n] + PROBE[n]}) - here) / PROBE[n] for n in self._names]
        jacobian = np.stack(columns)
        normal = jacobian @ jacobian.T
        if not np.trace(normal) > 0:
            raise NeftyError("the frames do not depend on the part's diffusivity; check times, thickness and pixels.")
        normal += np.diag(1e-9 * np.diag(normal) + 1e-12 * np.trace(normal))
        found = -np.linalg.solve(normal, jacobian @ here)
        if not np.isfinite(found).all():
            raise NeftyError("the fit of the sound pixels failed; check times, thickness, pixels and the diffusivity.")
        longest = [self._longest(name) for name in self._names]
        spread = np.sqrt(np.maximum(np.diag(np.linalg.inv(normal)), 0.0))
        moves = np.clip(found, np.negative(longest), longest)
        return dict(zip(self._names, moves.tolist(), strict=True)), dict(zip(self._names, spread.tolist(), strict=True))

    def _with_spread(self, decay: SoundDecay, spread: dict[str, float]) -> SoundDecay:
        """With the spreads of log alpha, Biot numbers and log margin as those of alpha, losses and margin."""
        units = {
            "alpha": ("alpha_spread", decay.alpha),
            "front": ("h_front_spread", decay.alpha / self.size[0]),
            "back": ("h_back_spread", decay.alpha / self.size[0]),
            "margin": ("margin_spread", decay.margin),
        }
        found = {units[name][0]: units[name][1] * value for name, value in spread.items()}
        return dataclasses.replace(decay, **found)

    def _longest(self, name: str) -> float:
        return self._settings.largest_margin_step if name == "margin" else self._settings.largest_step

    def _summary(
        self, theta: dict[str, float], trust: np.ndarray, usable: np.ndarray, modulation: np.ndarray | float
    ) -> SoundDecay:
        """The fit, with gain, common course and scatter, and what they say of the frames."""
        alpha, thickness, settings = exp(theta["alpha"]), self.size[0], self._settings
        shape = np.broadcast_to(self._shape(theta) * modulation, self.frames.shape)
        good = usable & (trust >= np.quantile(trust[usable], 1 - settings.trusted))
        level = self._typical(shape) * shape.mean(axis=(1, 2))
        gain, common, scatter, noise = self._courses(shape, level, good)
        relative = _over(scatter, level, np.inf)
        so_far, least = np.minimum.accumulate(relative), relative.min()
        best = so_far / least if 0 < least < np.inf else np.where(so_far > least, np.inf, 1.0)  # 0: without any noise
        first, clear = (int(np.argmax(best <= limit)) for limit in (settings.too_early, settings.unclear))
        amplitude = float(np.median(gain[usable]))
        if not amplitude > 0:
            raise NeftyError(f"the sound pixels rise by {amplitude:g}; frames must be the rise above ambient.")
        middle = float(np.exp(np.mean(np.log(common[first:]))))  # c and A share a factor
        margin = exp(theta["margin"])
        return SoundDecay(
            alpha=alpha,
            h_front=theta["front"] * alpha / thickness,
            h_back=theta["back"] * alpha / thickness,
            margin=margin if self._feels(alpha, margin) else np.inf,
            amplitude=amplitude * middle,
            common=common / middle,
            noise=noise,
            first=first,
            clear=clear,
            gain=np.where(self._usable, gain / amplitude, 1.0),
            quiet=trust,
        )

    def _courses(
        self, shape: np.ndarray, level: np.ndarray, good: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gain (y, x), common course (t,), scatter (t,) and noise (t,), each from the others.

        Args:
            shape: m S times what defects do to it, (t, y, x).
            level: the typical temperature of each frame, (t,).
            good: pixels (y, x) that tell scatter and common course.
        """
        error, widest = self._settings.model_error, self._settings.common
        noise, common = self.noise + error * level, np.ones(len(self.times))
        gain, scatter = np.ones(good.shape), noise
        seen = self.counted[:, good]
        for _ in range(self._settings.rounds):
            weight = self.counted / noise[:, None, None] ** 2
            gain = _gain(self.frames, shape * common[:, None, None], weight)
            ratio = self.frames[:, good] / np.maximum((gain * shape)[:, good], 1e-300)
            common = np.clip(_median(ratio, seen), 1 / widest, widest)
            away = np.abs(self.frames - gain * shape * common[:, None, None])[:, good]
            scatter = MAD_TO_SIGMA * _median(away, seen)
            noise = np.sqrt(np.maximum(scatter, self.noise) ** 2 + (error * level) ** 2)
        return gain, common, scatter, noise


def _over(values: np.ndarray, by: np.ndarray, otherwise: float) -> np.ndarray:
    """``values / by`` where that is above 0."""
    return np.divide(values, by, out=np.full(np.broadcast_shapes(values.shape, by.shape), otherwise), where=by > 0)


def _gain(frames: np.ndarray, shape: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The factor of each pixel that fits best, (y, x)."""
    return (weight * shape * frames).sum(axis=0) / np.maximum((weight * shape * shape).sum(axis=0), 1e-300)


def _median(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Median of the counted values of each frame; of frames with none that of the nearest one."""
    found = np.array([np.median(v[c]) if c.any() else np.nan for v, c in zip(values, counted, strict=True)])
    known = np.isfinite(found)
    return np.interp(np.arange(len(found)), np.flatnonzero(known), found[known])
