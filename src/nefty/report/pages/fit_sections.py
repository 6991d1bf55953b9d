"""Sections of the report that show how well the volume explains the recording."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nefty.data.preparation.sampling import evenly_in_log
from nefty.report.figures import DIFFERENCE, AxisUnits, Curve, Scale, Stack, convergence, fit_curves, frames_slider
from nefty.report.figures.images import coarseness, most_images
from nefty.report.figures.style import axis_title
from nefty.report.pages.findings import Findings
from nefty.report.pages.page import Section

#: Residual maps on the slider.
MOST_FRAMES = 24
#: Residuals saturate at so many standard deviations.
BEYOND = 4.0
SPREAD = Scale("dense", from_zero=True)


def sections(findings: Findings, units: AxisUnits) -> list[Section]:
    """Decays, residuals, convergence; each where there is something to show."""
    found = []
    if (findings.rec.times > 0).any():
        if findings.points:
            found.append(_decays(findings, units))
        found.append(_residuals(findings, units))
    history = findings.rec.history
    if any(len(history.get(name, ())) > 1 for name in ("misfit", "objective")):
        found.append(_convergence(findings))
    return found


def _decays(findings: Findings, units: AxisUnits) -> Section:
    rec, pixel = findings.rec, _pixel_words(findings)
    panels = [
        (
            f"{name.capitalize()} face",
            [Curve(f"{word} ({pixel(y, x)})", measured[:, y, x], fitted[:, y, x]) for word, (y, x) in findings.points],
        )
        for name, measured, fitted in findings.faces
    ]
    band = (
        f" The band around each line is ±2 times the noise of {findings.noise_words(units.temperature)}: about 95 of "
        "100 dots should lie in it."
        if findings.noise is not None
        else ""
    )
    many = " (the five largest)" if len(findings.defects) > 5 else ""
    return Section(
        title="Measured and fitted decay",
        shows=(
            f"Temperature over time at single pixels: over the centre of each indication{many} and over sound "
            "material. Dots are measured, lines are the model's with the reconstructed volume; both axes are "
            f"logarithmic.{band} Below them, measured minus fitted."
        ),
        figure=fit_curves(rec.times, panels, units, noise=findings.noise),
        good="The lines run through the dots from first to last. Over a defect the decay leaves the sound one's slope "
        "when the heat reaches it: the earlier, the shallower.",
        bad="Lines beside dots early: flash or pulse are modelled wrongly. Late: heat loss, thickness or bulk. Only "
        "over an indication: its depth or size is not yet right.",
        do="Correct the set-up named above and run again; leave out frames that are saturated or disturbed.",
    )


def _residuals(findings: Findings, units: AxisUnits) -> Section:
    rec, noise = findings.rec, findings.noise
    some = evenly_in_log(rec.times, min(MOST_FRAMES, most_images(rec.grid.shape[1:])))
    whole = [
        (name, (measured - fitted) / (1.0 if noise is None else noise[:, None, None]))
        for name, measured, fitted in findings.faces
    ]
    two = len(whole) == 2
    beside = "" if two else " The second panel is its root mean square over all frames"
    beside += "" if two else ", which is 1 for noise alone." if noise is not None else "."
    scaled = (
        f"in units of the noise; colours saturate at ±{BEYOND:g}"
        if noise is not None
        else "in the unit of the recording, because "
        + ("it has no noise" if rec.noise is not None else "its noise is not known")
    )
    start = int(np.argmax(np.nan_to_num(np.abs(whole[0][1][some])).mean(axis=(1, 2))))
    figure = frames_slider(
        _residual_stacks(findings, units, whole, some), rec.times[some], rec.grid.size[1:], units, start=start
    )
    return Section(
        title="What the volume leaves unexplained",
        shows=(
            f"Measured minus fitted temperature, {scaled}. "
            f"{'Each panel is one face' if two else 'The first panel is one frame'}: "
            f"move the slider or press play.{beside} The thin line is the outline of the indications."
        ),
        figure=figure,
        good="Structureless grain at every time"
        + (
            ", with about 5 of 100 pixels beyond ±2."
            if noise is not None
            else ", small against the contrast of the indications."
        ),
        bad="A patch that keeps its place and sign over many frames: a defect that is missing, too small or at a wrong "
        "depth. Stripes and stains that never move: emissivity, dirt or reflections. One bad frame: the camera.",
        do="A patch inside an outline: run it longer, or with less regularisation. A patch outside: look for a defect "
        "there. A stain: mask it. A bad frame: leave it out.",
    )


def _residual_stacks(
    findings: Findings, units: AxisUnits, whole: list[tuple[str, np.ndarray]], some: np.ndarray
) -> list[Stack]:
    """Panels of some frames of each face's residuals (t, y, x); of a single face also their root mean square."""
    noise = findings.noise
    label = "residual / noise" if noise is not None else axis_title("residual", units.temperature)
    stride = coarseness(findings.rec.grid.shape[1:])  # not averaged: that would make the noise smaller
    outline = findings.footprint[::stride, ::stride]
    outline = outline if outline.any() else None
    limits = (-BEYOND, BEYOND) if noise is not None else DIFFERENCE.limits(np.stack([r[some] for _, r in whole]))
    two = len(whole) == 2
    stacks = [
        Stack(
            f"{name.capitalize()} face" if two else "Measured minus fitted",
            residual[some][:, ::stride, ::stride],
            DIFFERENCE,
            label,
            outline,
            limits,
        )
        for name, residual in whole
    ]
    if not two:
        spread = _root_mean_square(whole[0][1])[::stride, ::stride]
        stacks.append(
            Stack(
                "Root mean square over all frames",
                spread,
                SPREAD,
                "RMS / noise" if noise is not None else axis_title("RMS", units.temperature),
                outline,
                (0.0, max(2.0, float(np.nanmax(spread)))) if noise is not None and np.isfinite(spread).any() else None,
            )
        )
    return stacks


def _convergence(findings: Findings) -> Section:
    rec = findings.rec
    noise = findings.noise is not None
    return Section(
        title="How it converged",
        shows=(
            "The misfit, the objective, which is the misfit with the weighted penalties added, and each penalty before "
            "its weight, where it counts. Each stage of the recipe has its own colour; the buttons switch between "
            "evaluations of the model and seconds."
            + (" The dashed line is the noise floor: below it, noise would be fitted." if noise else "")
            + (f" It ended: {rec.stopped.text.rstrip('. ')}." if rec.stopped.text else "")
        ),
        figure=convergence(rec.history, noise_floor=1.0 if noise else None),
        good="A steep fall, then a plateau"
        + (" close to the noise floor." if noise else "; the last tenth of the evaluations changes little."),
        bad="Still falling at the end: stopped too early. A plateau far above the floor: the model cannot explain the "
        "recording."
        if noise
        else "Still falling at the end: stopped too early.",
        do="In the first case allow more evaluations or time. In the second check thickness, pulse, heat loss and "
        "masked pixels."
        if noise
        else "Allow more evaluations or time.",
    )


def _pixel_words(findings: Findings) -> Callable[[int, int], str]:
    """A function that names a pixel (y, x) that was compared as one of the camera's frames."""
    _, dy, dx = findings.rec.grid.spacing

    def words(y: int, x: int) -> str:
        row, column = findings.pixels.pixel((y + 0.5) * dy, (x + 0.5) * dx)
        return f"row {row}, column {column}"

    return words


def _root_mean_square(residual: np.ndarray) -> np.ndarray:
    """Over the frames, (t, y, x) to (y, x); NaN for pixels that never count."""
    count = np.isfinite(residual).sum(axis=0)
    total = np.square(np.nan_to_num(residual), dtype=np.float64).sum(axis=0)
    return np.sqrt(np.where(count > 0, total, np.nan) / np.maximum(count, 1))
