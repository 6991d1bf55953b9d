"""Sections of the report on how the recording was made, prepared and calibrated, and what was taken for granted."""

from __future__ import annotations

from typing import Any

import numpy as np

from nefty.core.words import quantity, span, times
from nefty.data.facts import CameraFacts, Facts
from nefty.report.figures import DIFFERENCE, AxisUnits, DepthMap, depth_maps
from nefty.report.figures.images import coarseness
from nefty.report.pages.findings import Findings
from nefty.report.pages.page import Section, Table
from nefty.result.indications.detection_image import front_frames

NOT_SAID = "not recorded"
STANDARDS = (
    "The vocabulary follows ASTM E2582, EN 17119, EN 17501 and ISO 10878 (no conformity is claimed). These standards "
    "say how to test and what to write down; they set no acceptance limits. The assessment of the indications is the "
    "inspector's, by the specification of the part."
)
#: AxisUnits of SI with a length in them, and what they are shown in.
SHOWN = {
    "m": (1e3, "mm"),
    "m/s": (1e3, "mm/s"),
    "m2/s": (1e6, "mm²/s"),
    "m²/s": (1e6, "mm²/s"),
}
FLASHES = {
    "TopHatPulse": "pulse on the front face",
    "HeatingCurve": "heating of the front face by a given curve",
    "UniformFlash": "flash over the whole front face",
    "GaussianFlash": "flash with a Gaussian profile",
}


def sections(findings: Findings, units: AxisUnits) -> list[Section]:
    """How it was measured; what was calibrated, where something was."""
    found = [_measured(findings, units)]
    if findings.rec.facts.calibration or _gain(findings) is not None:
        found.append(_calibrated(findings, units))
    return found


def _measured(findings: Findings, units: AxisUnits) -> Section:
    rec = findings.rec
    rows = [
        ("part", _part(findings, units)),
        ("material", _material(rec.facts)),
        ("camera", _camera(rec.facts.camera)),
        ("frame rate", _frame_rate(rec.facts.camera, rec.times, units)),
        ("frames used", _frames(findings, units)),
        ("flash", _flash(rec.facts)),
        ("noise", findings.noise_words(units.temperature) or ("none" if rec.noise is not None else "not known")),
        *[(f"step {i}", step) for i, step in enumerate(_steps(findings), 1)],
        *[(f"assumption {i}", text) for i, text in enumerate(_assumptions(findings, units), 1)],
    ]
    return Section(
        title="How this was measured",
        shows=f"What is known about the recording, what was done to it, and what was assumed. {STANDARDS}",
        table=Table(("", ""), rows),
        good="Camera, frame rate, flash, material and the source of its diffusivity are all stated, and no step is "
        "unexpected.",
        bad=f"“{NOT_SAID}” where the procedure asks for it, or an assumption that does not hold for this part.",
        do="Add what is missing to the recording, so that the result includes it; correct what is wrong and run again.",
    )


def _part(findings: Findings, units: AxisUnits) -> str:
    rec = findings.rec
    z, y, x = rec.grid.size
    dy, dx = findings.pixels.spacing
    source = rec.facts.origin.name
    size = times(f"{x:.4g}", f"{y:.4g}", quantity(z, units.length, digits=4))
    pixel = times(f"{dx:.3g}", quantity(dy, units.length))
    return (f"{source}: " if source else "") + f"{size} (x, y, thickness), pixels of {pixel}"


def _material(facts: Facts) -> str:
    known = facts.material
    if known is None:
        return NOT_SAID
    words = ", ".join(f"{v * 1e6:.3g}" for v in (known.alpha_z, known.alpha_y, known.alpha_x))
    note = "; ".join(word for word in (known.note, facts.material_source) if word)
    source = f"; source: {note}" if note else f"; source of the diffusivity: {NOT_SAID}"
    return f"{known.name}, diffusivity (z, y, x) {words} mm²/s{source}"


def _camera(camera: CameraFacts) -> str:
    integration = camera.integration_time
    exposure = "" if integration is None else f"integration time {1e3 * integration:.3g} ms"
    return ", ".join(word for word in (camera.words(), exposure) if word) or NOT_SAID


def _frame_rate(camera: CameraFacts, taken: np.ndarray, units: AxisUnits) -> str:
    if camera.frame_rate is not None:
        return f"{camera.frame_rate:g} Hz"
    steps = np.diff(taken)
    if units.time == "s" and len(steps) and np.ptp(steps) < 0.05 * steps.mean():
        return f"{1 / steps.mean():.3g} Hz, from the times of the frames"
    return NOT_SAID


def _frames(findings: Findings, units: AxisUnits) -> str:
    rec = findings.rec
    first, last = (float(rec.times[i]) for i in (0, -1))
    left_out = int((~np.isfinite(front_frames(rec.measured))).all(axis=0).sum())
    pixels = f"; {left_out} pixels left out" if left_out else ""
    faces = " of each face" if len(findings.faces) == 2 else ""
    return f"{len(rec.times)}{faces}, {span(first, last, units.time)} after the flash{pixels}"


def _flash(facts: Facts) -> str:
    known = facts.heating
    if known is not None:
        lasts = "" if known.duration is None else f", duration {1e3 * known.duration:.3g} ms"
        return FLASHES.get(known.kind, known.kind) + lasts
    return " ".join(step.text for step in facts.steps if step.name in ("flash", "pulse")) or NOT_SAID


def _steps(findings: Findings) -> list[str]:
    """What was done to the recording, in words; what was assumed on the way has a row of its own."""
    facts = findings.rec.facts
    noted = {note.text for note in facts.notes}
    steps = [s.sentence for s in facts.steps if not s.assumed and s.sentence not in noted]
    assumed = {s.sentence for s in facts.steps if s.assumed}
    steps += [note.text for note in facts.notes if note.text not in assumed]
    pixels = findings.pixels
    if pixels.top or pixels.left:
        steps.append(
            "x and y count from the corner of what was reconstructed, rows and columns from that of the frames."
        )
    return steps


def _assumptions(findings: Findings, units: AxisUnits) -> list[str]:
    rec = findings.rec
    sides = {
        "periodic": "The part continues periodically across its sides.",
        "adiabatic": "No heat flows through the sides of what was reconstructed.",
    }
    found = [
        f"The thickness is {quantity(rec.grid.size[0], units.length, digits=4)}; all depths scale with it.",
        "An indication conducts heat less well than the part. Regions that conduct better, or equally well, are not "
        "searched for.",
        sides[rec.lateral],
    ]
    material = rec.facts.material
    if material is not None and len({material.alpha_z, material.alpha_y, material.alpha_x}) > 1:
        found.append("The ratios of the diffusivities along x, y and z are the material's, and the same everywhere.")
    return found + [step.sentence for step in rec.facts.steps if step.assumed]


def _calibrated(findings: Findings, units: AxisUnits) -> Section:
    rows = []
    for found in findings.rec.facts.calibration:
        factor, word = SHOWN.get(found.unit, (1.0, found.unit))
        rows.append((found.name, *(_scaled(v, factor, word) for v in (found.value, found.spread, found.start))))
    gain = _gain(findings)
    shows = "Values determined from the recording itself, on its sound pixels, and their starting values."
    if gain is not None:
        shows += (
            " The map is the gain of each pixel, due to flash and emissivity, as its difference from the mean; every "
            "decay was divided by it, or compared with the model times it."
        )
    return Section(
        title="What was calibrated",
        shows=shows,
        figure=None if gain is None else _gain_figure(gain, findings, units),
        table=Table(("", "found", "spread of the fit", "start"), rows) if rows else None,
        good="Values that the material and the set-up can have, near their start where that was measured; a smooth "
        "gain.",
        bad="A diffusivity far from the material's: the thickness may be wrong. The shape of an indication in the "
        "gain: part of its contrast was taken for emissivity.",
        do="Compare with the data sheet of the material; give better values if you have them, and run again.",
    )


def _gain(findings: Findings) -> np.ndarray | None:
    """The calibrated gain (y, x); without a calibration there is only a first estimate."""
    facts, shape = findings.rec.facts, findings.rec.grid.shape[1:]
    return facts.gain if facts.calibration and facts.gain is not None and facts.gain.shape == shape else None


def _gain_figure(gain: np.ndarray, findings: Findings, units: AxisUnits) -> Any:
    step = coarseness((gain.shape[0], gain.shape[1]))
    percent = 100 * (gain / np.nanmean(gain) - 1)[::step, ::step]
    return depth_maps([DepthMap("Gain", percent, DIFFERENCE, "from the mean (%)")], findings.rec.grid.size[1:], units)


def _scaled(value: float | None, factor: float, word: str) -> str:
    return "–" if value is None else quantity(factor * value, word)
