"""Sections of the report on how the recording was made, prepared and calibrated, and what was taken for granted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nefty.core.words import quantity, span, times
from nefty.report.figures import DIFFERENCE, DepthMap, Units, depth_maps
from nefty.report.figures.images import coarseness
from nefty.report.pages.findings import Findings
from nefty.report.pages.page import Section, Table
from nefty.result.detection_image import front_frames
from nefty.result.frame_pixels import preparation_steps

NOT_SAID = "not recorded"
STANDARDS = (
    "Words follow ASTM E2582, EN 17119, EN 17501 and ISO 10878 (no conformity is claimed). These standards say how to "
    "test and what to write down; they set no acceptance limits. The assessment of the indications is the "
    "inspector's, by the specification of the part."
)
#: Units of SI with a length in them, and what they are shown in.
SHOWN = {
    "m": (1e3, "mm"),
    "m/s": (1e3, "mm/s"),
    "m2/s": (1e6, "mm²/s"),
    "m²/s": (1e6, "mm²/s"),
}
CALIBRATED = {
    "alpha_z": "diffusivity through the thickness",
    "alpha_y": "diffusivity along y",
    "alpha_x": "diffusivity along x",
    "h_front": "heat loss of the front face",
    "h_back": "heat loss of the back face",
    "amplitude": "heating",
}
FLASHES = {
    "TopHatPulse": "pulse on the front face",
    "UniformFlash": "flash over the whole front face",
    "GaussianFlash": "flash with a Gaussian profile",
}


def sections(findings: Findings, units: Units) -> list[Section]:
    """How it was measured; what was calibrated, where something was."""
    found = [_measured(findings, units)]
    if _mapping(findings.rec.meta, "calibration") or _gain(findings) is not None:
        found.append(_calibrated(findings, units))
    return found


def _measured(findings: Findings, units: Units) -> Section:
    rec = findings.rec
    rows = [
        ("part", _part(findings, units)),
        ("material", _material(rec.meta)),
        ("camera", _camera(rec.meta)),
        ("frame rate", _frame_rate(rec.meta, rec.times, units)),
        ("frames used", _frames(findings, units)),
        ("flash", _flash(rec.meta)),
        ("noise", findings.noise_words(units.temperature) or ("none" if rec.noise is not None else "not known")),
        *[(f"step {i}", step) for i, step in enumerate(_steps(findings), 1)],
        *[(f"assumption {i}", text) for i, text in enumerate(_assumptions(findings, units), 1)],
    ]
    return Section(
        title="How this was measured",
        shows=f"What is known about the recording, what was done to it, and what was taken for granted. {STANDARDS}",
        table=Table(("", ""), rows),
        good="Camera, frame rate, flash, material and the source of its diffusivity are all there, and no step "
        "surprises.",
        bad=f"“{NOT_SAID}” where the procedure asks for it, or an assumption that does not hold for this part.",
        do="Give what is missing with the recording, so that the result carries it; correct what is wrong and run "
        "again.",
    )


def _part(findings: Findings, units: Units) -> str:
    rec = findings.rec
    z, y, x = rec.grid.size
    dy, dx = findings.pixels.spacing
    source = rec.meta.get("source")
    size = times(f"{x:.4g}", f"{y:.4g}", quantity(z, units.length, digits=4))
    pixel = times(f"{dx:.3g}", quantity(dy, units.length))
    return (f"{source}: " if isinstance(source, str) else "") + f"{size} (x, y, thickness), pixels of {pixel}"


def _material(meta: Mapping[str, Any]) -> str:
    known = _mapping(meta, "material")
    if not known:
        return NOT_SAID
    values = [known.get(f"alpha_{axis}") for axis in "zyx"]
    words = ", ".join(f"{v * 1e6:.3g}" for v in values if isinstance(v, (int, float)))
    note = "; ".join(str(known[key]) for key in ("note", "source") if known.get(key))
    source = f"; source: {note}" if note else f"; source of the diffusivity: {NOT_SAID}"
    return f"{known.get('name') or 'without a name'}, diffusivity (z, y, x) {words} mm²/s{source}"


def _camera(meta: Mapping[str, Any]) -> str:
    words = [str(meta[key]) for key in ("camera", "lens") if isinstance(meta.get(key), str) and meta[key]]
    integration = meta.get("integration_time")
    if isinstance(integration, (int, float)):
        words.append(f"integration time {1e3 * integration:.3g} ms")
    return ", ".join(words) or NOT_SAID


def _frame_rate(meta: Mapping[str, Any], taken: np.ndarray, units: Units) -> str:
    rate = next((meta[key] for key in ("frame_rate", "fps") if isinstance(meta.get(key), (int, float))), None)
    if rate is not None:
        return f"{rate:g} Hz"
    steps = np.diff(taken)
    if units.time == "s" and len(steps) and np.ptp(steps) < 0.05 * steps.mean():
        return f"{1 / steps.mean():.3g} Hz, from the times of the frames"
    return NOT_SAID


def _frames(findings: Findings, units: Units) -> str:
    rec = findings.rec
    first, last = (float(rec.times[i]) for i in (0, -1))
    left_out = int((~np.isfinite(front_frames(rec.measured))).all(axis=0).sum())
    pixels = f"; {left_out} pixels left out" if left_out else ""
    faces = " of each face" if len(findings.faces) == 2 else ""
    return f"{len(rec.times)}{faces}, {span(first, last, units.time)} after the flash{pixels}"


def _flash(meta: Mapping[str, Any]) -> str:
    given = meta.get("excitation")
    if isinstance(given, str) and given:
        return given
    known = _mapping(meta, "excitation")
    if known:
        kind = str(known.get("kind") or "")
        duration = known.get("duration")
        lasts = f", duration {1e3 * duration:.3g} ms" if isinstance(duration, (int, float)) else ""
        return FLASHES.get(kind, kind or "pulse") + lasts
    return " ".join(step["text"] for step in preparation_steps(meta) if step["name"] in ("flash", "pulse")) or NOT_SAID


def _steps(findings: Findings) -> list[str]:
    """What was done to the recording, in words; what was assumed on the way has a row of its own."""
    meta = findings.rec.meta
    done = preparation_steps(meta)
    assumed = {_said(step) for step in done if step["assumed"]}
    notes = meta.get("notes")
    notes = [str(note) for note in notes] if isinstance(notes, Sequence) and not isinstance(notes, str) else []
    said = [_said(step) for step in done if not step["assumed"]]
    steps = [text for text in said if text not in notes] + [note for note in notes if note not in assumed]
    pixels = findings.pixels
    if pixels.top or pixels.left:
        steps.append(
            "x and y count from the corner of what was reconstructed, rows and columns from that of the frames."
        )
    return steps


def _said(step: Mapping[str, Any]) -> str:
    return f"{str(step['name']).capitalize()}: {step['text']}"


def _assumptions(findings: Findings, units: Units) -> list[str]:
    rec = findings.rec
    sides = {
        "periodic": "The part goes on periodically across its sides.",
        "adiabatic": "No heat flows through the sides of what was reconstructed.",
    }
    found = [
        f"The thickness is {quantity(rec.grid.size[0], units.length, digits=4)}; all depths scale with it.",
        "An indication conducts heat less well than the part. What conducts better, or as well, is not looked for.",
        sides[rec.lateral],
    ]
    material = _mapping(rec.meta, "material")
    if len({material.get(f"alpha_{axis}") for axis in "zyx"}) > 1:
        found.append("The ratios of the diffusivities along x, y and z are the material's, and the same everywhere.")
    return found + [_said(step) for step in preparation_steps(rec.meta) if step["assumed"]]


def _calibrated(findings: Findings, units: Units) -> Section:
    rows = []
    for name, entry in _mapping(findings.rec.meta, "calibration").items():
        known = entry if isinstance(entry, Mapping) else {"value": entry}
        unit = str(known.get("unit") or "")
        factor, word = SHOWN.get(unit, (1.0, unit))
        value, start = (_scaled(known.get(key), factor, word) for key in ("value", "start"))
        rows.append((CALIBRATED.get(str(name), str(name)), value, start))
    gain = _gain(findings)
    shows = "What was found from the recording itself, on the sound part, and where the search began."
    if gain is not None:
        shows += (
            " The map is the gain of each pixel, what flash and emissivity made of it, as its difference from the "
            "mean; every decay was divided by it, or compared with the model times it."
        )
    return Section(
        title="What was calibrated",
        shows=shows,
        figure=None if gain is None else _gain_figure(gain, findings, units),
        table=Table(("", "found", "start"), rows) if rows else None,
        good="Values that the material and the set-up can have, near their start where that was measured; a smooth "
        "gain.",
        bad="A diffusivity far from the material's: the thickness may be wrong. The shape of an indication in the "
        "gain: part of its contrast was taken for emissivity.",
        do="Compare with the data sheet of the material; give what is known better and run again.",
    )


def _gain(findings: Findings) -> np.ndarray | None:
    """The calibrated gain (y, x); a recording that was simulated may hold the true one, which is none."""
    meta, shape = findings.rec.meta, findings.rec.grid.shape[1:]
    gain = meta.get("gain")
    if not _mapping(meta, "calibration") or not isinstance(gain, np.ndarray) or gain.shape != shape:
        return None
    return gain


def _gain_figure(gain: np.ndarray, findings: Findings, units: Units) -> Any:
    step = coarseness((gain.shape[0], gain.shape[1]))
    percent = 100 * (gain / np.nanmean(gain) - 1)[::step, ::step]
    return depth_maps([DepthMap("Gain", percent, DIFFERENCE, "from the mean (%)")], findings.rec.grid.size[1:], units)


def _scaled(value: Any, factor: float, word: str) -> str:
    if isinstance(value, (int, float)):
        return quantity(factor * value, word)
    if isinstance(value, (list, tuple, np.ndarray)) and np.size(value):
        numbers = factor * np.asarray(value, dtype=np.float64)
        return span(float(numbers.min()), float(numbers.max()), word)
    return "–"


def _mapping(meta: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = meta.get(key)
    return value if isinstance(value, Mapping) else {}
