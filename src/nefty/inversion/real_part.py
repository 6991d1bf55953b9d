"""A real recording as the inversion sees it: the calibrated sound part, what it leaves to the volume, and where the
model is not to be trusted.

The volume is sought with the part's own physics, losses and pulse included. What the cells cannot show is taken out of
the frames beforehand: the surface lies half a cell above the mean of the first cells, heat flows sideways out of the
frame, and all pixels have a course in common (``sound_decay``).
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np
from scipy import ndimage

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import CalibratedValue, Note, NoteKind
from nefty.inversion.observation import Observation
from nefty.inversion.recipe import Recipe
from nefty.inversion.sound_decay import LEAST, SoundDecay, SoundFit
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.pulses import TopHatPulse

VOID_LOSS = 0.2  # of h_back t/d: the share of heat that the wall of an open void at depth d takes unseen
SHALLOW = 0.1  # of the thickness: the depth of a void that the first stage reckons with
LOST = 0.1  # share of heat, at most, that such a void may have lost
COUNTS = 0.5  # of its weight that a value must keep to count in the result
VOID = 0.4  # deficit of a cell that is taken as void
BESIDE = 0.2  # thicknesses beside a void within which its losses are felt
FAR = 1.0  # thicknesses from a void at which the part is as if there were none
ENOUGH = 0.2  # the share of pixels that must be far from voids for them to count alone
HORIZON = 1.0  # diffusion lengths: what lies above was crossed before the first frame
NOTHING = 1.3  # times the camera's noise: scatter below that is the camera's
SPREAD = 2.0  # times its scatter: how far the early deviation of a pixel may go
EARLIEST = 0.5  # dz^2/alpha after the pulse: before, cells are too thick


class RealPart:
    """A part whose diffusivity, losses, flash and gains are calibrated on its sound region.

    Args:
        model: of the part, for all frames, with first guesses of losses and amplitude.
        frames: (t, y, x) of those frames; values that do not count are 0.
        counted: which count.
        noise: of the camera, one number or (t,).
        recipe: how.
        start: first guess of the diffusivity through the thickness.
    """

    def __init__(
        self,
        model: HeatModel,
        frames: np.ndarray,
        counted: np.ndarray,
        noise: float | np.ndarray,
        recipe: Recipe,
        start: float,
    ) -> None:
        pulse = model.initial
        if not isinstance(pulse, TopHatPulse) or pulse.profile is not None or model.observe == "both":
            raise InputError(
                f"recipe {recipe.name!r} calibrates parts that an even pulse heated and one face of which was seen; "
                "give excitation=nefty.TopHatPulse(duration=...), or use the recipe fast."
            )
        if model.observe != "front":
            raise InputError(f"recipe {recipe.name!r} needs frames of the heated face, not of the back.")
        after = model.times > pulse.start + pulse.duration
        if after.sum() < 4:
            raise InputError(
                f"only {after.sum()} frames come after the pulse, which ends at {pulse.start + pulse.duration:g}; "
                "check the times and the pulse's duration."
            )
        self._model = model.replaced(times=model.times[after])
        self._frames, self._counted = frames[after].astype(np.float64), counted[after]
        sigma = np.broadcast_to(np.asarray(noise, dtype=np.float64), model.times.shape)[after]
        self._recipe, self._pulse = recipe, pulse
        boundary = model.boundary
        self.fit = SoundFit(
            self._frames,
            self._counted,
            self._model.times,
            np.maximum(sigma, 1e-6 * float(np.abs(self._frames).max())),
            model.grid.size,
            model.anisotropy,
            (pulse.start, pulse.start + pulse.duration),
            losses=(boundary.front == "robin", boundary.back == "robin"),
            surroundings=recipe.calibration.surroundings,
        )
        self._start = start, (boundary.h_front, boundary.h_back)
        self._void = np.zeros(model.grid.shape[1:])
        self._over_void = np.zeros(model.grid.shape[1:], dtype=bool)
        self._entered = False

    @cached_property
    def decay(self) -> SoundDecay:
        """The present fit of the sound part."""
        start, h = self._start
        return self.fit.fit(start, h=h)

    @property
    def background(self) -> np.ndarray:
        """Diffusivity of the sound layers, (z,)."""
        return np.full(self._model.grid.shape[0], self.decay.alpha)

    @property
    def used(self) -> np.ndarray:
        """Which of the frames after the pulse the volume is fitted to, (t,)."""
        times, decay, dz = self._model.times, self.decay, self._model.grid.spacing[0]
        earliest = self._pulse.start + self._pulse.duration + EARLIEST * dz**2 / decay.alpha
        until = self._recipe.calibration.until * self._model.grid.size[0] ** 2 / decay.alpha
        found = (times >= max(earliest, times[decay.first])) & (times <= until)
        if found.sum() < 4:
            raise InputError(
                f"only {found.sum()} frames lie between {max(earliest, times[decay.first]):.3g} s, before which the "
                f"model does not follow the sound part, and {until:.3g} s (calibration.until); check thickness, "
                "diffusivity and frame rate, or record longer."
            )
        return found

    @property
    def buried(self) -> int:
        """Layers under the front face that were crossed before the first clear frame, and are taken as sound."""
        times = self._model.times
        time = max(times[self.used][0], times[self.decay.clear])
        return int(HORIZON * np.sqrt(self.decay.alpha * time) / self._model.grid.spacing[0])

    def model(self) -> HeatModel:
        """Of the present fit, for the frames that are used."""
        return self._fitted(self._model.times[self.used])

    def factor(self) -> np.ndarray:
        """What the frames of ``model`` are to be multiplied by, without the pixels' gain, (t, y, x)."""
        decay, used = self.decay, self.used
        course = decay.common[used] * self.fit.surface(decay)[used] / self._column(self._model.times[used])
        sideways = self.fit.surroundings(decay)
        sideways = sideways[used] if isinstance(sideways, np.ndarray) else 1.0
        return np.broadcast_to(course[:, None, None] * sideways, self._frames[used].shape)

    def observation(self) -> Observation:
        """The frames as the cells of ``model`` would show them."""
        used, factor = self.used, self.factor()
        noise = np.hypot(self.decay.noise[used], self._recipe.noise.floor * float(self._frames[used].max()))
        return Observation(
            self._model.grid,
            self._model.times[used],
            self._frames[used] / factor,
            self._counted[used],
            noise[:, None, None] / factor,
            gain_spread=self._recipe.calibration.gain,
            early_spread=self._early_spread() if self._recipe.calibration.gain else 0.0,
        )

    def _early_spread(self) -> float:
        """How far pixels deviate in the first frame beyond the camera's noise, as a share of the value; 0 if little."""
        at, decay = int(np.argmax(self.used)), self.decay
        level = decay.amplitude * float(self.fit.surface(decay)[at])
        excess = decay.noise[at] ** 2 - (NOTHING * self.fit.noise[at]) ** 2 - (NOTHING * LEAST * level) ** 2
        return SPREAD * float(np.sqrt(max(excess, 0.0))) / level

    @property
    def measured(self) -> np.ndarray:
        """The frames that are used, as recorded; NaN where a value does not count, or hardly does."""
        counts = self._counted[self.used]
        if self._entered:
            counts = counts & (self.share() >= COUNTS)
        return np.where(counts, self._frames[self.used], np.nan)

    def refine(self, volume: np.ndarray) -> None:
        """Fit the sound part again, under the defects found so far."""
        times = self._model.times
        frames = self._fitted(times)(volume).double().numpy()
        sound = self.decay.amplitude * self._column(times)
        self.decay = self.fit.fit(self.decay, frames / sound[:, None, None], sound=self._far_from_voids())

    def _far_from_voids(self) -> np.ndarray | None:
        """Pixels (y, x) that hardly feel the voids found; ``None`` if they are too few."""
        spacing, thickness = self._model.grid.spacing[1:], self._model.grid.size[0]
        if not self._over_void.any():
            return None
        distance = ndimage.distance_transform_edt(~self._over_void, sampling=spacing)
        far = np.asarray(distance) > FAR * thickness
        return far if far.mean() >= ENOUGH else None

    def find_voids(self, volume: np.ndarray) -> None:
        """Take note of where voids lie, and how deep."""
        grid = self._model.grid
        void = 1 - volume / self.background[:, None, None] > VOID
        depth = grid.centres()[0][:, 0, 0][void.argmax(axis=0)]
        found = np.where(void.any(axis=0), 1 / depth, 0.0)
        self._over_void = found > 0
        reach = [BESIDE * grid.size[0] / d for d in grid.spacing[1:]]
        found = ndimage.maximum_filter(found, [2 * round(r) + 1 for r in reach])
        self._void, self._entered = ndimage.gaussian_filter(found, reach), True

    def share(self) -> np.ndarray:
        """Of its weight that each value keeps, (t, y, x).

        A hole that is open to the back loses heat through its walls, which the model does not know: after the time t,
        a share of about ``VOID_LOSS`` h_back t/d if its bottom lies at the depth d. Values of pixels over voids count
        less, as if that were noise. Before any void is known, frames so late that a shallow one would matter do not
        count at all.
        """
        seen, decay = self.observation(), self.decay
        lost = VOID_LOSS * decay.h_back * seen.times[:, None, None]
        if not self._entered:
            early = lost <= LOST * SHALLOW * self._model.grid.size[0]
            early[:4] = True
            return np.broadcast_to(early.astype(np.float64), seen.frames.shape)
        return seen.variance / (seen.variance + (lost * self._void * seen.frames) ** 2)

    def state(self) -> dict[str, Any]:
        """All that a checkpoint has to hold."""
        return {"decay": dataclasses.asdict(self.decay), "void": self._void, "entered": self._entered}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.decay = SoundDecay(**state["decay"])
        self._void, self._entered = state["void"], bool(state["entered"])

    def summary(self) -> tuple[CalibratedValue, ...]:
        """What was calibrated, for the report."""
        decay, (alpha, h) = self.decay, self._start
        rows = [CalibratedValue("bulk alpha_z", decay.alpha, alpha, "m2/s")]
        boundary = self._model.boundary
        for face, value, start in (("front", decay.h_front, h[0]), ("back", decay.h_back, h[1])):
            if getattr(boundary, face) == "robin":
                rows.append(CalibratedValue(f"h_{face}/(rho c)", value, start, "m/s"))
        rows.append(CalibratedValue("heating", decay.amplitude, self._pulse.amplitude, "K"))
        if self._recipe.calibration.surroundings and np.isfinite(decay.margin):
            rows.append(CalibratedValue("heated margin", decay.margin, None, "m"))
        return tuple(rows)

    def notes(self) -> list[Note]:
        """What was left out, in words."""
        used, times = self.used, self._model.times
        said = []
        if not used[0]:
            depth = self.buried * self._model.grid.spacing[0]
            said.append(
                f"Frames before {times[used][0]:.3g} s do not tell about the volume (pulse, cell size or unevenness); "
                f"nothing is said about the first {1e3 * max(depth, self._model.grid.spacing[0]):.3g} mm of the depth."
            )
        left = float((self.share() < COUNTS).mean()) if self._entered else 0.0
        if left > 0:
            said.append(
                f"{100 * left:.2g} % of the values, late ones over voids, do not count: a void open to the back "
                "would lose heat there that the model does not know."
            )
        if not used[-1]:
            said.append(
                f"Frames after {times[used][-1]:.3g} s (a Fourier number of {self._recipe.calibration.until:g}) served "
                "the calibration only."
            )
        return [Note(NoteKind.CALIBRATION, text) for text in said]

    def _fitted(self, times: np.ndarray) -> HeatModel:
        initial = dataclasses.replace(self._pulse, amplitude=self.decay.amplitude)
        return self._model.replaced(times=times, initial=initial, boundary=self._boundary())

    def _boundary(self) -> Boundary:
        own, decay = self._model.boundary, self.decay
        return dataclasses.replace(
            own,
            h_front=decay.h_front if own.front == "robin" else 0.0,
            h_back=decay.h_back if own.back == "robin" else 0.0,
        )

    def _column(self, times: np.ndarray) -> np.ndarray:
        """Frames of the sound part of amplitude 1, on cells of the model's thickness, (t,)."""
        grid = self._model.grid
        column = HeatModel(
            Grid((grid.shape[0], 1, 1), (grid.size[0], 1.0, 1.0)),
            times,
            dataclasses.replace(self._pulse, amplitude=1.0),
            dataclasses.replace(self._boundary(), lateral="adiabatic"),
            face_mean=self._model.face_mean,
            dtype="float64",
        )
        return column(np.full((grid.shape[0], 1, 1), self.decay.alpha)).numpy()[:, 0, 0]
