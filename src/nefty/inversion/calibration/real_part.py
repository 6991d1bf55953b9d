"""A real part: the background calibrated on its sound pixels, what that leaves to the volume, and where the model is
not to be trusted.

The volume is sought with the part's own physics, losses and pulse included. What the cells cannot show is taken out of
the frames beforehand: the surface lies half a cell above the mean of the first cells, heat flows sideways out of the
frame, and all pixels have a course in common (``sound_decay``).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import ndimage

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import CalibratedValue, Note, NoteKind
from nefty.inversion.calibration.interface import Calibration, Compared
from nefty.inversion.calibration.prior import SoundPrior
from nefty.inversion.calibration.settings import CalibrationSettings, PartSettings
from nefty.inversion.calibration.sound_decay import SPREADS, SoundDecay, SoundFit
from nefty.inversion.calibration.whole_part import WholePart
from nefty.inversion.observation import Observation
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import TopHatPulse
from nefty.result.calibrated_part import CalibratedPart

SOON = 0.1  # of the recording, within which a heating is short against the flow of heat sideways
FEWEST = 4  # frames that a fit of diffusivity, two losses and an amplitude needs


class RealPartCalibration(Calibration):
    """Diffusivity, losses, flash and gains of a part, calibrated on its sound pixels.

    Args:
        model: of the part, for all frames, with first guesses of losses and amplitude.
        seen: the recording; its noise is the camera's.
        start: first guess of the diffusivity through the thickness.
        settings: how.
        floor: the model's own error, as a share of the peak.
        whole: the part of which the recording shows a piece, as it was calibrated; calibrated here if not given.
    """

    def __init__(
        self,
        model: HeatModel,
        seen: Observation,
        start: float,
        settings: CalibrationSettings,
        *,
        floor: float,
        whole: WholePart | None = None,
    ) -> None:
        self._pulse = _even_pulse(model)
        self._from = _counts_from(self._pulse)
        after = model.times > self._from
        if after.sum() < FEWEST:
            raise InputError(
                f"only {after.sum()} frames come after the pulse, which ends at {self._from:g}; "
                "check the times and the pulse's duration."
            )
        self._all = model.replaced(times=model.times[after])
        self._settings, self._floor, self._whole = settings, floor, whole
        self._frames, self._counted = seen.frames[after].astype(np.float64), seen.counted[after]
        middle = None if whole is None else whole.level(self._all.times)
        self._beside = _beside_the_part(self._frames, self._counted, settings.part, middle)
        self._counted = self._counted & ~self._beside
        self._frames = np.where(self._counted, self._frames, 0.0)
        noise = np.ravel(np.asarray(seen.noise, dtype=np.float64))
        self.prior = self._stated(start, model.times)
        self.fit = self._sound_fit(np.broadcast_to(noise, model.times.shape)[after])
        self._start = start, (model.boundary.h_front, model.boundary.h_back)
        self._void = np.zeros(model.grid.shape[1:])
        self._over_void = np.zeros(model.grid.shape[1:], dtype=bool)
        self._searched = False
        self._take(self.fit.fit(start, h=self._start[1]))

    def _sound_fit(self, noise: np.ndarray) -> SoundFit:
        """The fit to all frames after the pulse, whose noise is ``noise``, (t,)."""
        model = self._all
        return SoundFit(
            self._frames,
            self._counted,
            model.times,
            np.maximum(noise, 1e-6 * float(np.abs(self._frames).max())),
            model.grid.size,
            model.anisotropy,
            model.heating,
            losses=(model.boundary.front == "robin", model.boundary.back == "robin"),
            surroundings=self._settings.surroundings and self._soon_over(),
            settings=self._settings.decay,
            prior=self.prior,
            whole=self._whole,
        )

    def _stated(self, start: float, times: np.ndarray) -> SoundPrior:
        """What the user knows, with its width; ``times`` of all frames, the first of which follow each other."""
        widths, boundary = self._settings.decay, self._all.boundary
        h = boundary.h_front, boundary.h_back
        frame = float(np.diff(times).min())
        unsure = 0.0 if isinstance(self._pulse, HeatingCurve) else widths.pulse_width * self._pulse.duration / 2
        return SoundPrior(
            start,
            widths.alpha_width,
            h,
            (widths.loss_width * max(h), widths.loss_width * max(h)) if max(h) > 0 else (np.inf, np.inf),
            float(np.hypot(widths.frame_width * frame, unsure)),
            widths.margin_width,
        )

    def _soon_over(self) -> bool:
        """Whether the heating is over early, so that what flows out sideways since can be told by the time alone."""
        end = self._pulse.start + self._pulse.duration
        return not isinstance(self._pulse, HeatingCurve) or end < SOON * float(self._all.times[-1])

    def _time_of(self, frame: int) -> float:
        """Of the first frame that is even or clear; under a heating that lasts the first ones are faint, not uneven."""
        return float(self._all.times[frame]) if self._soon_over() else self._from

    @property
    def first_even(self) -> int:
        """Index of the first frame after the pulse that the model explains at all."""
        return int(np.argmax(self._all.times >= self._time_of(self.decay.first)))

    def clock(self) -> tuple[np.ndarray, HeatingCurve | None]:
        """Times of the frames after the pulse since the middle of the flash; or those of a heating that lasts, and it.

        A short pulse acts like a flash in its middle, up to the square of its length over the time since.
        """
        times = self._all.times
        if not isinstance(self._pulse, HeatingCurve):
            return times - (self._pulse.start + self._pulse.duration / 2 + self.decay.delay), None
        if self._soon_over():
            return times - self._pulse.history.middle - self.decay.delay, None
        return times, dataclasses.replace(self._pulse, amplitude=1.0)

    def _take(self, decay: SoundDecay) -> None:
        """Let a fit be the present one: the model, and the frames as its cells would show them."""
        self.decay = decay
        self.used = self._used()
        self._model = self._fitted(self._all.times[self.used])
        self._seen = self._observation()

    @property
    def background(self) -> np.ndarray:
        """Diffusivity of the layers, (z,), all equal."""
        return np.full(self._all.grid.shape[0], self.decay.alpha)

    @property
    def model(self) -> HeatModel:
        """Of the present fit, for the frames that are used."""
        return self._model

    @property
    def observation(self) -> Observation:
        """The frames that are used, as the cells of ``model`` would show them."""
        return self._seen

    def _used(self) -> np.ndarray:
        """Which of the frames after the pulse the volume is fitted to, (t,)."""
        times, decay, dz = self._all.times, self.decay, self._all.grid.spacing[0]
        earliest = self._from + self._settings.part.earliest * dz**2 / decay.alpha
        until = self._settings.until * self._all.grid.size[0] ** 2 / decay.alpha
        earliest = max(earliest, self._time_of(decay.first))
        risen = self.fit.surface(decay) > 0  # a delay may move the first frames to before a slow heating
        found = (times >= earliest) & (times <= until) & risen
        if found.sum() < FEWEST:
            raise InputError(
                f"only {found.sum()} frames lie between {earliest:.3g} s, before which the "
                f"model does not follow the sound pixels, and {until:.3g} s (calibration.until); check thickness, "
                "diffusivity and frame rate, or record longer."
            )
        return found

    @property
    def buried(self) -> int:
        """Layers under the front face that were crossed before the first clear frame, and are taken as sound."""
        times = self._all.times
        time = max(times[self.used][0], self._time_of(self.decay.clear))
        return int(self._settings.part.horizon * np.sqrt(self.decay.alpha * time) / self._all.grid.spacing[0])

    def factor(self) -> np.ndarray:
        """What the frames of ``model`` are to be multiplied by, without the pixels' gain, (t, y, x)."""
        decay, used = self.decay, self.used
        course = decay.common[used] * self.fit.surface(decay)[used] / self._column(self._all.times[used])
        sideways = self.fit.surroundings(decay)
        sideways = sideways[used] if isinstance(sideways, np.ndarray) else 1.0
        return np.broadcast_to(course[:, None, None] * sideways, self._frames[used].shape)

    def _observation(self) -> Observation:
        used, factor, settings = self.used, self.factor(), self._settings
        noise = np.hypot(self.decay.noise[used], self._floor * float(self._frames[used].max()))
        return Observation(
            self._all.grid,
            self._all.times[used],
            self._frames[used] / factor,
            self._counted[used],
            noise[:, None, None] / factor,
            gain_spread=settings.gain,
            early_spread=self._early_spread() if settings.gain else 0.0,
            early_fall=settings.part.early_fall,
        )

    def _early_spread(self) -> float:
        """How far pixels deviate in the first frame beyond the camera's noise, as a share of the value; 0 if little."""
        at, decay, settings = int(np.argmax(self.used)), self.decay, self._settings
        level = decay.amplitude * float(self.fit.surface(decay)[at])
        camera, error = settings.part.early_noise, settings.decay.model_error
        excess = decay.noise[at] ** 2 - (camera * self.fit.noise[at]) ** 2 - (camera * error * level) ** 2
        return settings.part.early_spread * float(np.sqrt(max(excess, 0.0))) / level

    @property
    def measured(self) -> np.ndarray:
        """The frames that are used, as recorded; NaN where a value does not count, or hardly does."""
        counts = self._counted[self.used]
        if self._searched:
            counts = counts & (self.share() >= self._settings.part.counts)
        return np.where(counts, self._frames[self.used], np.nan)

    def compared(self, volume: np.ndarray, pixels: np.ndarray | float) -> Compared:
        """What the camera showed, and what it would show of the volume."""
        fitted = self._model(volume).double().numpy() * self.factor() * pixels
        return Compared(self.measured, fitted, self.decay.noise[self.used])

    def refine(self, volume: np.ndarray, steps: int, *, searched: bool) -> int:
        """Take note of the voids, and fit the sound pixels again under the defects found so far."""
        if not searched:
            return 0
        self.find_voids(volume)
        if not steps:
            return 0
        times = self._all.times
        frames = self._fitted(times)(volume).double().numpy()
        sound = self.decay.amplitude * self._column(times)
        self._take(self.fit.fit(self.decay, frames / sound[:, None, None], sound=self._far_from_voids()))
        return 1

    def _far_from_voids(self) -> np.ndarray | None:
        """Pixels (y, x) that hardly feel the voids found; ``None`` if they are too few."""
        spacing, thickness = self._all.grid.spacing[1:], self._all.grid.size[0]
        if not self._over_void.any():
            return None
        distance = ndimage.distance_transform_edt(~self._over_void, sampling=spacing)
        far = np.asarray(distance) > self._settings.part.void_far * thickness
        return far if far.mean() >= self._settings.part.enough_far else None

    def find_voids(self, volume: np.ndarray) -> None:
        """Take note of where voids lie, and how deep."""
        grid = self._all.grid
        void = 1 - volume / self.background[:, None, None] > self._settings.part.void
        depth = grid.centres()[0][:, 0, 0][void.argmax(axis=0)]
        found = np.where(void.any(axis=0), 1 / depth, 0.0)
        self._over_void = found > 0
        reach = [self._settings.part.void_beside * grid.size[0] / d for d in grid.spacing[1:]]
        found = ndimage.maximum_filter(found, [2 * round(r) + 1 for r in reach])
        self._void, self._searched = ndimage.gaussian_filter(found, reach), True

    def share(self) -> np.ndarray:
        """Of its weight that each value keeps, (t, y, x).

        A hole that is open to the back loses heat through its walls, which the model does not know: after the time t,
        a share of about ``void_loss`` h_back t/d if its bottom lies at the depth d. Values of pixels over voids count
        less, as if that were noise. Before any void is known, frames so late that a shallow one would matter do not
        count at all.
        """
        seen, settings = self._seen, self._settings.part
        lost = settings.void_loss * self.decay.h_back * seen.times[:, None, None]
        if not self._searched:
            early = lost <= settings.lost * settings.shallow * self._all.grid.size[0]
            early[:FEWEST] = True
            return np.broadcast_to(early.astype(np.float64), seen.frames.shape)
        return seen.variance / (seen.variance + (lost * self._void * seen.frames) ** 2)

    def state(self) -> dict[str, Any]:
        """All that a checkpoint has to hold."""
        return {"decay": dataclasses.asdict(self.decay), "void": self._void, "searched": self._searched}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self._take(SoundDecay(**state["decay"]))
        self._void, self._searched = state["void"], bool(state["searched"])

    def summary(self) -> tuple[CalibratedValue, ...]:
        """What was calibrated, for the report."""
        decay, (alpha, h) = self.decay, self._start
        prior, boundary = self.prior, self._all.boundary
        width = prior.alpha_width * alpha
        rows = [
            CalibratedValue("diffusivity through the thickness", decay.alpha, alpha, "m2/s", decay.alpha_spread, width)
        ]
        losses = (
            ("front", boundary.front, decay.h_front, h[0], decay.h_front_spread, prior.h_width[0]),
            ("back", boundary.back, decay.h_back, h[1], decay.h_back_spread, prior.h_width[1]),
        )
        for face, kind, value, start, spread, width in losses:
            if kind == "robin":
                name, width = f"heat loss of the {face} face over rho c", width if np.isfinite(width) else None
                rows.append(CalibratedValue(name, value, start, "m/s", spread, width))
        if prior.delay_width > 0:
            rows.append(
                CalibratedValue("delay of the heating", decay.delay, 0.0, "s", decay.delay_spread, prior.delay_width)
            )
        rows.append(CalibratedValue("heating", decay.amplitude, self._pulse.amplitude, "K"))
        if self._settings.surroundings and self._soon_over() and np.isfinite(decay.margin):
            rows.append(CalibratedValue("heated margin", decay.margin, None, "m", decay.margin_spread))
        return tuple(rows)

    def calibrated(self) -> CalibratedPart:
        """The present fit, as a closer look at a piece takes it over."""
        decay, times = self.decay, self._all.times
        surface = self.fit.surface(decay)
        spreads = [np.nan if v is None else v for v in (getattr(decay, name) for name in SPREADS.values())]
        return CalibratedPart(
            alpha=decay.alpha,
            along=self._all.anisotropy,
            h_front=decay.h_front,
            h_back=decay.h_back,
            margin=decay.margin,
            delay=decay.delay,
            amplitude=decay.amplitude,
            times=times,
            common=decay.common,
            level=decay.amplitude * decay.common * surface,
            first=float(times[decay.first]),
            clear=float(times[decay.clear]),
            spreads=np.array(spreads),
            converged=decay.converged,
        )

    def notes(self) -> list[Note]:
        """What went wrong, and what was left out, in words."""
        used, times = self.used, self._all.times
        said = []
        if not self.decay.converged:
            said.append(
                "The calibration did not come to rest: the sound pixels do not settle on one diffusivity and heat "
                "loss. Depths may be wrong; check thickness, material, pulse and the start of the flash."
            )
        if self._beside.any():
            said.append(
                f"{100 * self._beside.mean():.2g} % of the pixels do not count: they warm less than "
                f"{self._settings.part.beside:g} times as much as the middle one, or lie next to such pixels, and are "
                "not the part."
            )
        if not used[0]:
            depth = self.buried * self._all.grid.spacing[0]
            said.append(
                f"Frames before {times[used][0]:.3g} s do not tell about the volume (pulse, cell size or unevenness); "
                f"nothing is said about the first {1e3 * max(depth, self._all.grid.spacing[0]):.3g} mm of the depth."
            )
        left = float((self.share() < self._settings.part.counts).mean()) if self._searched else 0.0
        if left > 0:
            said.append(
                f"{100 * left:.2g} % of the values, late ones over voids, do not count: a void open to the back "
                "would lose heat there that the model does not know."
            )
        if not used[-1]:
            said.append(
                f"Frames after {times[used][-1]:.3g} s (a Fourier number of {self._settings.until:g}) served "
                "the calibration only."
            )
        return [Note(NoteKind.CALIBRATION, text) for text in said]

    def _fitted(self, times: np.ndarray) -> HeatModel:
        initial = dataclasses.replace(self._pulse, amplitude=self.decay.amplitude)
        return self._all.replaced(times=times, initial=initial, boundary=self._boundary())

    def _boundary(self) -> Boundary:
        own, decay = self._all.boundary, self.decay
        return dataclasses.replace(
            own,
            h_front=decay.h_front if own.front == "robin" else 0.0,
            h_back=decay.h_back if own.back == "robin" else 0.0,
        )

    def _column(self, times: np.ndarray) -> np.ndarray:
        """Frames of the background of amplitude 1, on cells of the model's thickness, (t,)."""
        grid = self._all.grid
        column = HeatModel(
            Grid((grid.shape[0], 1, 1), (grid.size[0], 1.0, 1.0)),
            times,
            dataclasses.replace(self._pulse, amplitude=1.0),
            dataclasses.replace(self._boundary(), lateral="adiabatic"),
            face_mean=self._all.face_mean,
            dtype="float64",
        )
        return column(np.full((grid.shape[0], 1, 1), self.decay.alpha)).numpy()[:, 0, 0]


def _beside_the_part(
    frames: np.ndarray, counted: np.ndarray, settings: PartSettings, middle: np.ndarray | None = None
) -> np.ndarray:
    """Pixels (y, x) that hardly warm, and those next to them, where the lens blurs the edge of the part.

    This is not ``data.preparation.outline.find_outline``, which looks for a rectangle to cut the picture to, by the
    first frames and only where the background stays cold (``--roi auto``). Here any outline counts, of all frames that
    are left after that, at a level against the middle pixel and not one that the histogram sets: what is beside the
    part gets no weight, but no pixel goes. A part without background has none in both.

    Args:
        frames: after the pulse, (t, y, x); 0 where a value does not count.
        counted: which do.
        settings: what is hardly warm.
        middle: temperature of the middle pixel of the part, (t,), where the frames show only a piece of it.
    """
    known = counted.any(axis=(1, 2))
    if middle is None:
        values = np.where(counted, frames, np.nan)
        middle = np.nanmedian(values[known].reshape(known.sum(), -1), axis=1)
    else:
        middle = middle[known]
    bright = middle > 0.1 * middle.max(initial=0.0)
    seen = counted[known][bright].any(axis=0)
    ratio = np.where(counted[known][bright], frames[known][bright] / middle[bright, None, None], 0.0)
    share = ratio.sum(axis=0) / np.maximum(counted[known][bright].sum(axis=0), 1)
    cold = seen & (share < settings.beside)
    cold = cold & np.asarray(ndimage.binary_opening(cold, np.ones((2, 2))))  # a single cold pixel is a dead one
    return np.asarray(ndimage.binary_dilation(cold, iterations=settings.blurred)) if cold.any() else cold


def _counts_from(pulse: TopHatPulse | HeatingCurve) -> float:
    """The time from which on frames count: after a flash, and from the start of a heating whose course is known."""
    return pulse.start if isinstance(pulse, HeatingCurve) else pulse.start + pulse.duration


def _even_pulse(model: HeatModel) -> TopHatPulse | HeatingCurve:
    """The pulse that heated the part, or an error that says which parts can be calibrated."""
    pulse = model.initial
    if not isinstance(pulse, (TopHatPulse, HeatingCurve)) or pulse.profile is not None or model.observe == "both":
        raise InputError(
            "calibration.background=part calibrates parts that an even pulse heated and one face of which was seen; "
            "give excitation=nefty.TopHatPulse(duration=...), or use the recipe fast."
        )
    if model.observe != "front":
        raise InputError("calibration.background=part needs frames of the heated face, not of the back.")
    return pulse
