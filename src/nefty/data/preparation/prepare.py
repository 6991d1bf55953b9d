"""From a recording as the camera made it to one that can be reconstructed; every step is said and can be changed.

All is found out on the frames as they are, from a few of their pixels or frame by frame; then one pass over them makes
the prepared frames. So memory holds the recording, the result, and little more.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.errors import InputError
from nefty.core.progress import Progress, tell, watched
from nefty.data.assemble import WORDS
from nefty.data.facts import CameraFacts, Facts, NoteKind, Step
from nefty.data.noise import noise_of_means
from nefty.data.preparation.ambient import ambient_of
from nefty.data.preparation.binning import binned, pixels_step
from nefty.data.preparation.choice import Preparation, preparation
from nefty.data.preparation.corrupt_frames import cooling_begins, corrupt_step
from nefty.data.preparation.dead_step import dead_step
from nefty.data.preparation.drift import drift_step
from nefty.data.preparation.flash import Flash, flash_of
from nefty.data.preparation.gain import gain_step
from nefty.data.preparation.outline import Box, region_step, resolved
from nefty.data.preparation.pixel_choice import chosen_pixels, chosen_step, counted_step, heats_a_spot
from nefty.data.preparation.prepared import Pictures, Prepared
from nefty.data.preparation.sampling import frame_levels, frames_without_numbers, sampled
from nefty.data.preparation.saturation import saturation_level, saturation_step
from nefty.data.preparation.time_selection import Selection, times_step, within
from nefty.data.sequence import Sequence
from nefty.physics.pulses import LASTING

FIND, CLEAN = "Find flash, ambient and saturation", "Clean and bin the frames"
FEW = 0.01  # the share of saturated pixels that does not change a frame's level
EARLY = 5  # frames after the flash that show the outline of what was heated


def prepare(
    sequence: Sequence, choice: Preparation | None = None, *, progress: Progress | None = None, **changes: Any
) -> Prepared:
    """Find flash, ambient, corrupt frames, dead and saturated pixels and drift; cut, bin and average.

    Args:
        sequence: a recording of one face, such as ``nefty.load`` returns; it is not changed.
        choice: how; all is found from the recording if not given.
        progress: called with the name of a stage and the fraction of it that is done, 0 to 1.
        **changes: of the choice, such as ``bin=2`` or ``roi="auto"``; see ``Preparation``.

    Returns:
        The frames after the flash with their noise, and what was done.
    """
    choice = preparation(**{**(choice.model_dump() if choice is not None else {}), **changes})
    if sequence.observe == "both":
        raise InputError("a recording of both faces cannot be prepared at once; prepare each face by itself.")
    with watched(progress):
        return _prepare(sequence, choice)


def _prepare(sequence: Sequence, choice: Preparation) -> Prepared:
    """Look along time, then over the pixels, then make the frames."""
    tell(FIND, 0.0)
    course = _along_time(sequence, choice)
    pixels = _over_pixels(sequence, choice, course)
    result, used, selection, gain, said = _frames_of(sequence, choice, course, pixels)
    values, flash, ambient, corrupt = (values_step(sequence), *course.steps)
    saturation, dead, drift, region, size = pixels.steps
    steps = (values, flash, ambient, corrupt, dead, saturation, drift, region, size, *said)
    facts = _facts(sequence, result, steps).replaced(gain=gain)
    origin = dataclasses.replace(
        facts.origin,
        flash_known=course.flash.known,
        flash_frame=course.flash.frame,
        ambient=(facts.origin.ambient or 0.0) + float(np.nanmedian(course.ambient)),
    )
    facts = facts.replaced(origin=origin, camera=_camera(facts, course.times))
    pictures = Pictures(
        course.times,
        course.levels,
        course.corrupt,
        pixels.dead,
        pixels.saturated,
        pixels.region,
        pixels.suggested,
        gain,
        selection,
        used,
    )
    noise = selection.measured.single
    return Prepared(dataclasses.replace(result, facts=facts), steps, pictures, noise, course.flash.frame)


@dataclass(frozen=True, eq=False)
class _Course:
    """What was found along time, from a sample of the pixels.

    Args:
        flash: when it was.
        times: of all frames, from the flash.
        level: from which on values are saturated.
        ambient: to subtract, one number or (y, x).
        left: noise of what is subtracted, which all frames share.
        levels: mean rise of each frame, (t,).
        corrupt: numbers of frames that are impossible.
        usable: which frames can be used, (t,).
        steps: flash, ambient, corrupt frames.
    """

    flash: Flash
    times: np.ndarray
    level: float
    ambient: np.ndarray | float
    left: float
    levels: np.ndarray
    corrupt: np.ndarray
    usable: np.ndarray
    steps: tuple[Step, Step, Step]


def _along_time(sequence: Sequence, choice: Preparation) -> _Course:
    """Flash, ambient and corrupt frames."""
    frames, unit = sequence.frames, unit_of(sequence)
    sample = sampled(frames)
    empty = frames_without_numbers(frames, sample)
    measured = noise_of_means(np.delete(sample, empty, axis=0)[:, :, None])
    sigma, step = measured.single, measured.step
    level = saturation_level(sequence, sigma, step, choice.saturation)
    unsaturated = np.mean(sample >= level, axis=1) < FEW
    flash, flash_said = flash_of(sequence, frame_levels(sample), unsaturated, choice.flash, choice.onset)
    times = sequence.times - flash.onset
    first = 0 if flash.frame is None else flash.frame + 1  # frame after the flash
    if not (times[first:] > 0).any():
        raise InputError(f"no frame lies after the flash, in frame {flash.frame} of {times.size}; check its number.")
    early = _alike(frame_levels(sample[: flash.before]), sigma)
    ambient, left, ambient_said = ambient_of(
        frames[: flash.before][early], choice.ambient, sigma, unit, sequence.facts.origin.ambient
    )
    own = sampled(ambient[None])[0] if isinstance(ambient, np.ndarray) else ambient
    rise = np.where(sample < level, sample - own, np.nan)
    levels = frame_levels(rise)
    begin = cooling_begins(levels, times, first, _heated_until(sequence))
    corrupt, corrupt_said = corrupt_step(rise, begin, sigma, step, choice.corrupt, empty)
    usable = within(times, choice.start, choice.until) & (np.arange(times.size) >= first)
    usable[corrupt] = False
    if not usable.any():
        raise InputError("no frame is left after the flash; check its number, and the frames that are left out.")
    said = (flash_said, ambient_said, corrupt_said)
    return _Course(flash, times, level, ambient, left, levels, corrupt, usable, said)


@dataclass(frozen=True, eq=False)
class _Pixels:
    """What was found over the pixels, numbered as in the file.

    Args:
        kept: numbers of the frames that are used.
        saturated: number of saturated frames of each pixel (y, x).
        dead: pixels (y, x) that say nothing.
        drift: of the camera, to subtract from each frame, (t,).
        region: rows and columns (y0, y1, x0, x1) that are used.
        suggested: the same for the part's outline, where a background that was not heated tells it.
        chosen: pixels (y, x) inside the polygon and outside of what was left out; None if all are.
        n: pixels along each side that become one.
        rest: the recording but for its frames, cut and binned.
        steps: saturation, dead pixels, drift, region, pixels.
    """

    kept: np.ndarray
    saturated: np.ndarray
    dead: np.ndarray
    drift: np.ndarray
    region: Box
    suggested: Box | None
    chosen: np.ndarray | None
    n: int
    rest: Sequence
    steps: tuple[Step, Step, Step, Step, Step]


def _over_pixels(sequence: Sequence, choice: Preparation, course: _Course) -> _Pixels:
    """Saturated and dead pixels, drift, region and bins."""
    frames, unit = sequence.frames, unit_of(sequence)
    saturated, usable, saturation_said = saturation_step(sequence, course.usable, course.level, unit, choice.saturation)
    kept = np.flatnonzero(usable)
    dead, dead_said = dead_step(frames, kept, course.ambient, course.level, choice.dead)
    face = (frames.shape[1], frames.shape[2])
    place = choice.drift if isinstance(choice.drift, str) else resolved(choice.drift, face)
    drift, drift_said = drift_step(frames, course.times, course.levels, course.flash.before, kept, place, unit)
    early = _early(frames[kept[:EARLY]], course.ambient, course.level, dead)
    chosen = chosen_pixels(choice.polygon, choice.leave_out, face)
    region, suggested, region_said = region_step(choice.roi, early)
    region, region_said = chosen_step(choice.polygon, choice.leave_out, chosen, region, region_said)
    if heats_a_spot(sequence):
        region, chosen, region_said = counted_step(region, chosen, face, region_said)
    rest, n, region, pixels_said = pixels_step(sequence, region, choice.bin, choice.pixel)
    said = (saturation_said, dead_said, drift_said, region_said, pixels_said)
    return _Pixels(kept, saturated, dead, drift, region, suggested, chosen, n, rest, said)


def _frames_of(
    sequence: Sequence, choice: Preparation, course: _Course, pixels: _Pixels
) -> tuple[Sequence, np.ndarray, Selection, np.ndarray, tuple[Step, Step]]:
    """The frames, clean, cut, binned and averaged; the numbers of those used; which made which; the gain (y, x); the
    steps times and gain.
    """
    bad = pixels.dead if sequence.mask is None else pixels.dead | ~sequence.mask
    bad = bad if pixels.chosen is None else bad | ~pixels.chosen
    cleaning = _Cleaning(pixels.region, pixels.n, bad, course.level, course.ambient, pixels.drift)
    kept, reduced = pixels.kept, cleaning.applied(sequence.frames, pixels.kept)
    here = np.array([np.isfinite(frame).any() for frame in reduced])
    if not here.any():
        raise InputError("no value is left: mask, polygon, dead pixels and saturation leave nothing of the region.")
    kept, reduced = (kept, reduced) if here.all() else (kept[here], reduced[here])
    whole = dataclasses.replace(pixels.rest, frames=reduced, times=course.times[kept], noise=None)
    known = choice.noise or (sequence.noise if pixels.n == 1 and isinstance(sequence.noise, float) else None)
    result, selection, times_said = times_step(whole, choice.frames, known, course.left / pixels.n, unit_of(sequence))
    result, gain, gain_said = gain_step(result, choice.gain, choice.early)
    return result, kept, selection, gain, (times_said, gain_said)


@dataclass(frozen=True, eq=False)
class _Cleaning:
    """What is done to each frame.

    Args:
        region: rows and columns (y0, y1, x0, x1) that are kept.
        n: pixels along each side that become one.
        bad: pixels (y, x) that do not count.
        level: from which on values are saturated.
        ambient: to subtract, one number or (y, x).
        drift: to subtract from each frame (t,).
    """

    region: Box
    n: int
    bad: np.ndarray
    level: float
    ambient: np.ndarray | float
    drift: np.ndarray

    def applied(self, frames: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """The frames of these numbers, clean, cut and binned, (t, y, x)."""
        top, bottom, left, right = self.region
        box = (slice(top, bottom), slice(left, right))
        bad = self.bad[box]
        ambient = self.ambient[box] if isinstance(self.ambient, np.ndarray) else self.ambient
        result = np.empty((kept.size, (bottom - top) // self.n, (right - left) // self.n), frames.dtype)
        for done, (place, k) in enumerate(zip(result, kept, strict=True)):
            tell(CLEAN, done / kept.size)
            raw = frames[k][box]
            clean = raw - (np.asarray(ambient, dtype=np.float64) + self.drift[k])
            clean[bad | (raw >= self.level)] = np.nan
            place[:] = binned(clean, self.n)
        return result


def _heated_until(sequence: Sequence) -> float:
    pulse = sequence.excitation
    return pulse.start + pulse.duration if isinstance(pulse, LASTING) else 0.0


def unit_of(sequence: Sequence) -> str:
    """The word for the unit of a recording's values."""
    unit = sequence.facts.units.temperature
    return WORDS.get(unit, unit) if unit else "units"


def values_step(sequence: Sequence) -> Step:
    """What the values are."""
    unit = sequence.facts.units.temperature
    if unit == "counts":
        text = (
            "Counts of the camera, taken as proportional to temperature; a lookup table or a calibration makes kelvin."
        )
        return Step("values", text, {"unit": "counts"}, assumed=True)
    if not unit:
        return Step("values", "Of a unit that is not said, taken as proportional to temperature.", {}, assumed=True)
    how = next((note.text for note in sequence.facts.notes if note.kind is NoteKind.CONVERSION), "")
    return Step("values", how or f"Temperatures in {WORDS.get(unit, unit)}.", {"unit": str(unit)})


def _alike(levels: np.ndarray, sigma: float) -> np.ndarray:
    """Which frames (t,) before the flash have the level of the others, within the noise of a single value."""
    if not np.isfinite(levels).any():
        return np.zeros(levels.size, bool)
    return np.abs(levels - np.nanmedian(levels)) <= max(
        sigma, 6 * float(np.nanmedian(np.abs(np.diff(levels, prepend=levels[0]))))
    )


def _early(frames: np.ndarray, ambient: np.ndarray | float, level: float, dead: np.ndarray) -> np.ndarray:
    """Rise of the pixels (y, x) soon after the flash; a saturated one has the level it exceeds."""
    rise = np.minimum(frames, level).mean(axis=0, dtype=np.float64) - ambient
    rise[dead] = np.nan
    return rise


def _facts(given: Sequence, result: Sequence, steps: tuple[Step, ...]) -> Facts:
    """Of the result, with the steps; what the reader did not know of flash, ambient and values a step says now."""
    about = (NoteKind.FLASH, NoteKind.AMBIENT, NoteKind.VALUES)
    known = given.facts.without_notes(about, assumed=True).without_notes((NoteKind.CONVERSION,))
    return result.facts.replaced(notes=known.notes).done(*steps)


def _camera(facts: Facts, times: np.ndarray) -> CameraFacts:
    """With the rate of the frames in the file, where their times are seconds."""
    camera = facts.camera
    if camera.frame_rate is not None or times.size < 2 or facts.units.time != "s":
        return camera
    return dataclasses.replace(camera, frame_rate=float(1 / np.median(np.diff(times))))
