"""How the sound pixels of a real recording cool, and how well the pixels follow it.

A sound pixel of a part in millimetres, seen by a camera, shows

    T(t, y, x) = g(y, x) A c(t) m(t, y, x) S(t; alpha, h_front, h_back),

S the exact surface of a slab with losses after a finite pulse, A the amplitude, g the gain of the pixel (uneven flash,
emissivity), m the heat that flows sideways into surroundings that were not heated (a margin beyond the frame was), and
c(t) what all pixels have in common besides: the pulse's true shape, the camera. ``sound_shape`` has m and S and their
unknowns. These few numbers are fitted here to thousands of pixels, by damped Gauss-Newton; pixels that lie over defects
and frames that the model cannot explain count the less, the worse they fit.

What the user stated is a prior (``SoundPrior``). Its weight against the frames is that of independent errors:
neighbours within a thickness err alike, so a patch of that size counts as one pixel. A recording that ends before the
back wall shows hardly depends on the diffusivity, which then stays as stated. The fit begins from several widths of
the heated margin, since each has a basin of its own, and the most probable end is taken.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

import numpy as np

from nefty.core.errors import NeftyError
from nefty.data.noise import MAD_TO_SIGMA
from nefty.inversion.calibration.prior import SoundPrior
from nefty.inversion.calibration.settings import DecaySettings
from nefty.inversion.calibration.sound_shape import SoundShape, Theta
from nefty.inversion.calibration.whole_part import WholePart
from nefty.physics.problem import Pulse

PROBE = {"alpha": 1e-3, "front": 1e-3, "back": 1e-3, "margin": 1e-2, "delay": 1e-2}  # of differences, above rounding
ALIKE = 1e-6  # share by which times of a piece may differ from those of the whole
SPREADS = {  # fields of a fit
    "alpha": "alpha_spread",
    "front": "h_front_spread",
    "back": "h_back_spread",
    "margin": "margin_spread",
    "delay": "delay_spread",
}


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
        delay: by how much later than stated the heat came.
        delay_spread: of the delay.
        converged: whether the fit came to rest.
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
    delay: float = 0.0
    delay_spread: float | None = None
    converged: bool = True


class _End(NamedTuple):
    """Where a descent ended: unknowns, trust in each pixel, spreads, cost, whether it came to rest."""

    theta: Theta
    trust: np.ndarray
    spread: Theta
    cost: float
    converged: bool


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
        prior: what is known beforehand; nothing if not given.
        whole: the part of which the frames show a piece. Then its numbers and its common course are taken as they are,
            and only gains and scatter are those of the piece.
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
        prior: SoundPrior | None = None,
        whole: WholePart | None = None,
    ) -> None:
        self._settings = settings or DecaySettings()
        self._whole = whole
        self.frames, self.counted, self.times, self.noise = frames, counted, times, noise
        self._usable = counted.sum(axis=0) >= max(2, len(times) // 2)
        if not self._usable.any():
            raise NeftyError("no pixel has values in half of the frames; check mask, saturation and missing values.")
        self._shape = SoundShape(
            frames.shape[1:],
            times,
            size,
            anisotropy,
            pulse,
            losses=losses,
            surroundings=surroundings,
            settings=self._settings,
            prior=prior,
            piece=None if whole is None else whole.piece,
        )
        patch = max(size[0] ** 2, size[1] * size[2] / self._settings.most_patches)
        pixel = size[1] * size[2] / (frames.shape[1] * frames.shape[2])
        self._independent = min(1.0, pixel / patch)  # independent errors per pixel

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
        usable = self._usable if sound is None else self._usable & sound
        if self._whole is not None:
            return self._as_whole(self._whole, usable, modulation)
        ends = [self._descend(begin, usable, modulation) for begin in self._beginnings(start, h)]
        theta, trust, spread, _, converged = min(ends, key=lambda end: end.cost)
        found = self._with_spread(self._summary(theta, trust, usable, modulation), spread)
        return dataclasses.replace(found, converged=converged)

    def _as_whole(self, whole: WholePart, usable: np.ndarray, modulation: np.ndarray | float) -> SoundDecay:
        """The numbers of the whole part, with gains and scatter of these pixels."""
        sound = whole.sound
        theta = self._shape.unknowns(sound.alpha, (sound.h_front, sound.h_back), sound.margin, sound.delay)
        trust, _, _ = self._weights(self._shape(theta) * modulation, usable)
        found = self._summary(theta, trust, usable, modulation)
        spreads = dict(zip(SPREADS.values(), (None if np.isnan(v) else float(v) for v in sound.spreads), strict=True))
        return dataclasses.replace(found, **spreads, converged=sound.converged)

    def _beginnings(self, start: SoundDecay | float, h: tuple[float, float]) -> list[Theta]:
        """Where the fit begins: an earlier end, or the first guess with several margins."""
        if isinstance(start, SoundDecay):
            return [self._shape.unknowns(start.alpha, (start.h_front, start.h_back), start.margin, start.delay)]
        first = self._shape.unknowns(start, h)
        if "margin" not in self._shape.names:
            return [first]
        return [{**first, "margin": first["margin"] + log(factor)} for factor in self._settings.margins]

    def _descend(self, theta: Theta, usable: np.ndarray, modulation: np.ndarray | float) -> _End:
        """Damped Gauss-Newton steps; each lowers the cost at the weights of where it begins."""
        settings = self._settings
        damping, converged, spread = settings.damping, False, {}
        trust, root, inverse = self._weights(self._shape(theta) * modulation, usable)
        for _ in range(settings.steps):
            here = self._residual(theta, root, inverse, modulation)
            jacobian = self._jacobian(theta, here, root, inverse, modulation)
            cost = self._cost(theta, here)
            while True:
                move, spread = self._step(theta, here, jacobian, damping)
                trial = {n: self._shape.bounded(n, value + move.get(n, 0.0), theta) for n, value in theta.items()}
                if self._cost(trial, self._residual(trial, root, inverse, modulation)) <= cost:
                    damping = max(damping / settings.relief, settings.damping / 1e3)
                    break
                damping *= settings.relief
                if damping > settings.stiffest:
                    trial = theta
                    break
            moved = max(abs(trial[name] - theta[name]) for name in self._shape.names)
            theta = trial
            trust, root, inverse = self._weights(self._shape(theta) * modulation, usable)
            if moved < settings.settled:
                converged = True
                break
        return _End(theta, trust, spread, self._evidence_cost(theta, usable, modulation), converged)

    def _evidence_cost(self, theta: Theta, usable: np.ndarray, modulation: np.ndarray | float) -> float:
        """What compares ends that weigh pixels differently: prior, and residual of the better half of the pixels."""
        _, square = self._squares(self._shape(theta) * modulation)
        square = square.sum(axis=0)[usable]
        half = np.sort(square)[: max(1, square.size // 2)]
        return 2 * self._independent * float(half.sum()) + self._shape.prior_cost(theta)

    def _cost(self, theta: Theta, residual: np.ndarray) -> float:
        return self._independent * float(residual @ residual) + self._shape.prior_cost(theta)

    def _weights(self, shape: np.ndarray, usable: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How much pixels and values count in a step.

        Returns:
            trust in each pixel, (y, x); root of the weight of each value; inverse variance of each value, (t, y, x).
        """
        settings = self._settings
        inverse, square = self._squares(shape)
        values = np.maximum(self.counted.sum(axis=0), 1)
        level = np.sqrt(square.sum(axis=0) / values)
        quiet = max(float(np.quantile(level[usable], settings.quiet)), settings.quiet_noise)
        trust = usable / (1 + (level / (settings.doubtful * quiet)) ** 2) ** 2
        trusted = np.maximum((trust * self.counted).sum(axis=(1, 2)), 1e-12)
        per_frame = np.sqrt((trust * square).sum(axis=(1, 2)) / trusted)
        middle = max(float(np.median(per_frame)), settings.frame_noise)
        frame_trust = 1 / (1 + (per_frame / (settings.doubtful_frame * middle)) ** 2) ** 2
        return trust, np.sqrt(inverse * trust * frame_trust[:, None, None]), inverse

    def _squares(self, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inverse variance of each value, and its squared residual over the variance, (t, y, x)."""
        typical = self._typical(shape)
        variance = self.noise[:, None, None] ** 2 + (self._settings.relative * typical * shape) ** 2
        inverse = _over(self.counted, variance, 0.0)  # what neither rises nor is noisy says nothing
        return inverse, (self.frames - _gain(self.frames, shape, inverse) * shape) ** 2 * inverse

    def surroundings(self, decay: SoundDecay) -> np.ndarray | float:
        """m(t, y, x) of a fitted part, or 1."""
        return self._shape.sideways(decay.alpha, decay.margin)

    def surface(self, decay: SoundDecay) -> np.ndarray:
        """S(t) of a fitted part, (t,)."""
        return self._shape.surface(decay.alpha, decay.h_front, decay.h_back, decay.delay)

    def _typical(self, shape: np.ndarray) -> float:
        """The amplitude of the middle pixel."""
        ratio = np.where(self.counted, self.frames / np.maximum(shape, 1e-300), np.nan)
        return float(np.nanmedian(np.nanmedian(ratio[:, self._usable], axis=0)))

    def _residual(
        self, theta: Theta, root: np.ndarray, inverse: np.ndarray, modulation: np.ndarray | float
    ) -> np.ndarray:
        """Weighted residuals with the best gain of each pixel, one after the other."""
        shape = self._shape(theta) * modulation
        return (root * (self.frames - _gain(self.frames, shape, inverse) * shape)).ravel()

    def _jacobian(
        self,
        theta: Theta,
        here: np.ndarray,
        root: np.ndarray,
        inverse: np.ndarray,
        modulation: np.ndarray | float,
    ) -> np.ndarray:
        """Derivatives of the residuals, one row per unknown; the gain is eliminated, so it is part of each."""
        rows = [
            (self._residual({**theta, n: theta[n] + PROBE[n]}, root, inverse, modulation) - here) / PROBE[n]
            for n in self._shape.names
        ]
        return np.stack(rows)

    def _step(self, theta: Theta, here: np.ndarray, jacobian: np.ndarray, damping: float) -> tuple[Theta, Theta]:
        """A damped Gauss-Newton step, and the standard deviations of the unknowns, by frames and prior together."""
        names, normal = self._shape.names, self._independent * (jacobian @ jacobian.T)
        if not np.trace(normal) > 0:
            raise NeftyError("the frames do not depend on the part's diffusivity; check times, thickness and pixels.")
        right = -self._independent * (jacobian @ here)
        for i, (mean, width) in ((names.index(n), c) for n, c in self._shape.centres().items()):
            normal[i, i] += 1 / width**2
            right[i] += (mean - theta[names[i]]) / width**2
        scale = np.diag(1e-9 * np.diag(normal) + 1e-12 * np.trace(normal))
        found = np.linalg.solve(normal + scale + damping * np.diag(np.diag(normal)), right)
        if not np.isfinite(found).all():
            raise NeftyError("the fit of the sound pixels failed; check times, thickness, pixels and the diffusivity.")
        longest = [self._longest(name) for name in names]
        spread = np.sqrt(np.maximum(np.diag(np.linalg.inv(normal + scale)), 0.0))
        moves = np.clip(found, np.negative(longest), longest)
        return dict(zip(names, moves.tolist(), strict=True)), dict(zip(names, spread.tolist(), strict=True))

    def _with_spread(self, decay: SoundDecay, spread: Theta) -> SoundDecay:
        """With the spreads of the unknowns."""
        found = self._shape.in_units(spread, decay.alpha, decay.margin)
        return dataclasses.replace(decay, **{SPREADS[name]: value for name, value in found.items()})

    def _longest(self, name: str) -> float:
        if name == "delay":
            return 1.0
        return self._settings.largest_margin_step if name == "margin" else self._settings.largest_step

    def _summary(
        self, theta: Theta, trust: np.ndarray, usable: np.ndarray, modulation: np.ndarray | float
    ) -> SoundDecay:
        """The fit, with gain, common course and scatter, and what they say of the frames."""
        settings = self._settings
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
        if self._whole is not None:
            known, middle = self._whole.sound, 1.0
            amplitude = known.amplitude
            first, clear = (int(np.argmax(self.times >= (1 - ALIKE) * t)) for t in (known.first, known.clear))
        h_front, h_back = self._shape.losses(theta)
        return SoundDecay(
            alpha=exp(theta["alpha"]),
            h_front=h_front,
            h_back=h_back,
            margin=self._shape.margin(theta),
            amplitude=amplitude * middle,
            common=common / middle,
            noise=noise,
            first=first,
            clear=clear,
            gain=np.where(self._usable, gain / amplitude, 1.0),
            quiet=trust,
            delay=self._shape.delay(theta),
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
        if self._whole is not None:
            common = self._whole.common(self.times)
        gain, scatter = np.ones(good.shape), noise
        seen = self.counted[:, good]
        for _ in range(self._settings.rounds):
            weight = self.counted / noise[:, None, None] ** 2
            gain = _gain(self.frames, shape * common[:, None, None], weight)
            if self._whole is None:
                ratio = self.frames[:, good] / np.maximum((gain * shape)[:, good], 1e-300)
                common = np.clip(_median(ratio, seen), 1 / widest, widest)
            away = np.abs(self.frames - gain * shape * common[:, None, None])[:, good]
            scatter = MAD_TO_SIGMA * _median(away, seen)
            excess = np.sqrt(np.maximum(scatter**2 - self.noise**2, 0.0))
            typical = level * float(np.median(_over(excess, level, 0.0)))
            noise = np.sqrt(self.noise**2 + np.maximum(excess, typical) ** 2 + (error * level) ** 2)
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
