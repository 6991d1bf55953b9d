"""A recording in words: what the file holds, what was done to it, and how well it is known."""

from __future__ import annotations

import dataclasses

import numpy as np

from nefty.data.facts import Step
from nefty.data.intake.intake import Recording
from nefty.data.preparation.choice import NOTHING, preparation
from nefty.data.preparation.prepare import prepare
from nefty.data.preparation.prepared import Prepared
from nefty.data.sequence import Sequence


def shown_preparation(recording: Recording) -> Prepared:
    """What pictures show of a recording; of one that needs no step, as it is."""
    return recording.prepared or prepare(front_of(recording.sequence), preparation(**NOTHING))


def front_of(sequence: Sequence) -> Sequence:
    """The face that is shown, of a recording of both."""
    if sequence.observe != "both":
        return sequence
    return dataclasses.replace(sequence, observe="front", frames=sequence.frames[0])


def summary(recording: Recording, prepared: Prepared) -> list[tuple[str, str]]:
    """Names and values, one line each."""
    loaded = recording.loaded
    t, y, x = loaded.shape
    unit = time_unit(recording)
    lines = [("File", str(recording.file)), *(("Files", text) for text in recording.said)]
    camera = loaded.facts.camera.words()
    lines += [("Camera", camera)] if camera else []
    seen = loaded.facts.scene.words()
    lines += [("Scene", seen)] if seen else []
    both = " on each of two faces" if loaded.observe == "both" else ""
    lines.append(("Frames", f"{t} of {y} x {x} pixels (rows x columns){both}"))
    steps = np.diff(loaded.times)
    if not recording.rate_known:
        lines.append(("Rate", "not known; times below are counted in frames"))
    elif steps.size:
        step = float(np.median(steps))
        even = np.ptp(steps) <= 0.01 * step
        rate = f"{1 / step:.4g} per {unit}" if even else f"{1 / step:.4g} per {unit} in the middle, uneven"
        lines.append(("Rate", f"{rate}, {loaded.times[-1] - loaded.times[0]:.4g} {unit} in all"))
    lines += [(step.name.capitalize(), step.text + (" [assumed]" if step.assumed else "")) for step in _all(recording)]
    lines += _physics(recording, prepared)
    return lines


def _all(recording: Recording) -> tuple[Step, ...]:
    if recording.steps:
        return recording.steps
    return (Step("preparation", "None: nefty made this recording, or prepared it before, and it says everything."),)


def _physics(recording: Recording, prepared: Prepared) -> list[tuple[str, str]]:
    """Noise, size and Fourier number."""
    sequence = recording.sequence
    lines = []
    sigma, facts = prepared.noise, sequence.facts
    used = prepared.pictures.levels[prepared.pictures.used]
    if sigma and np.isfinite(used).any():
        rise = float(np.nanmax(used))
        unit = facts.units.temperature
        ratio = "" if prepared.step("ambient").assumed else f" of a rise of {rise:.3g} {unit}, 1 in {rise / sigma:.3g}"
        lines.append(("Noise", f"{sigma:.3g} {unit}{ratio}".strip()))
    if sequence.size is not None:
        factor, unit = (1e3, "mm") if facts.units.in_metres else (1.0, "")
        z, y, x = (factor * side for side in sequence.size)
        pixel = factor * sequence.size[1] / sequence.shape[1]
        words = f"{y:.4g} x {x:.4g} {unit}, {z:.4g} {unit} thick; pixels of {pixel:.3g} {unit}"
        lines.append(("Size", " ".join(words.replace(" ,", ",").replace(" ;", ";").split())))
    else:
        sides = {"pixels of {} mm": facts.pixel, "{} mm thick": facts.thickness}
        known = [
            words.format(" x ".join(f"{1e3 * float(v):.4g}" for v in np.ravel(value)))
            for words, value in sides.items()
            if value is not None
        ]
        lines.append(("Size", ", ".join(known) or "not known"))
    if sequence.size is not None and facts.material is not None and recording.rate_known:
        reached = facts.material.alpha_z * sequence.times[-1] / sequence.size[0] ** 2
        enough = "enough for the whole thickness" if reached >= 0.3 else "too short to see the back wall"
        lines.append(("Fourier number", f"{reached:.3g} = alpha t/L^2 at the last frame, {enough}"))
    return lines


def time_unit(recording: Recording) -> str:
    """The word for the unit of its times."""
    if not recording.rate_known:
        return "frames"
    return recording.loaded.facts.units.time or "time unit"
