"""The page of ``nefty demo``: one flash over one buried defect."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nefty.report.figures import (
    DIFFERENCE,
    DIFFUSIVITY,
    TEMPERATURE,
    Curve,
    Stack,
    Units,
    View,
    contrast_curve,
    decay_curves,
    frames_slider,
    map_row,
    plan_and_section,
)
from nefty.report.flash_study import FlashStudy, rmse
from nefty.report.page import Fact, Page, Section, Table

UNITS = Units(temperature="flash peak = 100")
DOTS, LINE = "simulator", "solver"


def demo_page(study: FlashStudy, provenance: Mapping[str, str]) -> Page:
    """Build the page; ``provenance`` goes to its end."""
    facts = study.summary()
    cells = study.grid.cells
    share = 100 * facts["rmse_part"] / float(study.recording.max())
    return Page(
        title="One flash over one buried defect",
        lead=(
            "A flash heats the front of a slab and a camera watches it cool. A disc of poor conductor hides "
            f"between depth {study.depths[0]:.3g} and {study.depths[1]:.3g} of 1. Below: what the camera sees, how "
            "well nefty's solver predicts it, and what one gradient of that solver already says about where the "
            "defect is."
        ),
        facts=[
            Fact(
                "Solver against simulator",
                f"{facts['rmse_part']:.2g}",
                f"RMSE over all frames and pixels; {share:.2g} % of the hottest pixel",
            ),
            Fact(
                "Strongest contrast over the defect",
                f"{facts['contrast_peak']:.3g}",
                f"at t = {facts['contrast_peak_time']:.3g}; the flash is 100",
            ),
            Fact(
                "One simulation", milliseconds(study.seconds["forward"]), f"{cells:,} cells, {len(study.times)} frames"
            ),
            Fact(
                "One gradient",
                milliseconds(study.seconds["gradient"]),
                f"for {cells:,} unknowns; simulation included",
            ),
        ],
        sections=[
            _recording(study),
            _decay(study),
            _contrast(study),
            _contrast_maps(study),
            _agreement(study),
            _gradient(study),
        ],
        provenance=provenance,
    )


def _recording(study: FlashStudy) -> Section:
    temperature = Stack("Temperature", study.recording, TEMPERATURE, f"temperature rise ({UNITS.temperature})")
    contrast = Stack(
        "Contrast: temperature minus that of a sound part", study.contrast, DIFFERENCE, "contrast", study.outline
    )
    start = int(np.abs(study.contrast[:, study.centre[1], study.centre[2]]).argmax())
    return Section(
        title="What the camera sees",
        shows=(
            "Left, the front face after the flash; right, the same frame minus the one of a part without defect. "
            "Move the slider or press play. The thin line is the true outline of the defect. Colours keep their "
            "meaning over time."
        ),
        figure=frames_slider([temperature, contrast], study.times, study.grid.size[1:], UNITS, start=start),
        good="The surface cools smoothly, and a warm patch grows over the defect, then blurs and fades.",
        bad="A patch that is there in the first frame is paint, dirt or uneven flash, not a defect below.",
        do="In a real recording, drop the frames before and during the flash and look at the first ones left.",
    )


def _decay(study: FlashStudy) -> Section:
    (_, y, x), (v, u) = study.centre, study.opposite
    curves = [
        Curve("over the defect", study.recording[:, y, x], study.modelled[:, y, x]),
        Curve("over sound material", study.recording[:, v, u], study.modelled[:, v, u]),
    ]
    return Section(
        title="How two pixels cool",
        shows=(
            "Surface temperature over time on logarithmic axes: above the middle of the defect, and at the pixel "
            "opposite, which got as much heat. Dots come from the explicit simulator, lines from the solver. In a "
            "body without a back the temperature falls with slope −1/2, the dashed line."
        ),
        figure=decay_curves(study.times, curves, UNITS, dots=DOTS, line=LINE),
        good="Lines run through the dots. The curves start together and part when the heat reaches the defect.",
        bad="Lines beside dots: the model has a wrong diffusivity, thickness, heat loss or pulse.",
        do="Fit the bulk diffusivity on the sound curve first; only then ask what is below the other one.",
    )


def _contrast(study: FlashStudy) -> Section:
    _, y, x = study.centre
    curve = Curve("contrast", study.contrast[:, y, x], (study.modelled - study.modelled_sound)[:, y, x])
    return Section(
        title="Contrast over time",
        shows=(
            "The temperature above the middle of the defect minus that of a sound part at the same pixel. "
            "A deeper defect peaks lower, and later: roughly with the square of its depth."
        ),
        figure=contrast_curve(study.times, [curve], UNITS, dots=DOTS, line=LINE),
        good="Almost nothing at first, one rise, one peak, one slow fall.",
        bad="A peak at the end of the recording has been cut off; a peak at its start is not from inside.",
        do="Record until well past the peak of the deepest defect that matters.",
    )


def _contrast_maps(study: FlashStudy) -> Section:
    wanted = np.geomspace(max(study.times[0], study.times[-1] / 40), study.times[-1], 5)
    frames = np.unique(np.abs(study.times[:, None] - wanted).argmin(axis=0))
    return Section(
        title="Contrast maps",
        shows=(
            "The contrast at a few times, all with the same colours; red is warmer than a sound part. The thin "
            "line is the true outline."
        ),
        figure=map_row(
            [study.contrast[i] for i in frames],
            [f"t = {study.times[i]:.3g}" for i in frames],
            study.grid.size[1:],
            DIFFERENCE,
            "contrast",
            UNITS,
            outline=study.outline,
        ),
        good="Faint and sharp first, strongest in the middle, then blurred beyond the outline and fading.",
        bad="Only noise: the defect is too deep or too small for this flash and camera.",
        do="Do not read a size off the late maps. Undoing the blur is what the reconstruction is for.",
    )


def _agreement(study: FlashStudy) -> Section:
    rows = []
    for name, ours, theirs in (
        ("part with the defect", study.modelled, study.recording),
        ("sound part", study.modelled_sound, study.reference),
    ):
        error = ours - theirs
        frame = int(np.abs(error).max(axis=(1, 2)).argmax())
        rows.append(
            (
                name,
                f"{rmse(ours, theirs):.2g}",
                f"{np.abs(error).max():.2g}",
                f"{study.times[frame]:.3g}",
                f"{theirs.max():.4g}",
            )
        )
    return Section(
        title="Does the solver predict the recording?",
        shows=(
            "The solver against the independent simulator, which takes many small explicit steps in double "
            "precision and shares no stepping code with it. Both start from the same flash and the true part. "
            "What is left between them is mostly the simulator's own error in time, which halves with its step."
        ),
        table=Table(("", "RMSE", "largest error", "at t", "hottest pixel"), rows),
        good=(
            "RMSE far below the contrast of the defect, and below the noise of a camera (20 mK in a rise of 10 K "
            "would be 0.2 here)."
        ),
        bad="An error comparable with the contrast would be taken for a defect.",
        do="Run “nefty doctor”: it checks the solver against closed-form solutions on this machine.",
    )


def _gradient(study: FlashStudy) -> Section:
    z, y, _ = study.centre
    scaled = study.gradient / np.abs(study.gradient).max()
    largest = np.abs(scaled).argmax(axis=0)
    top, bottom = study.depths
    edge = (study.defect[z], study.defect[:, y])
    views = [
        View(
            "The part: diffusivity at the defect's depth",
            study.part[z],
            study.part[:, y],
            DIFFUSIVITY,
            "diffusivity",
        ),
        View(
            "The gradient: strongest value over depth",
            np.take_along_axis(scaled, largest[None], axis=0)[0],
            scaled[:, y],
            DIFFERENCE,
            "∂J/∂α, peak = 1",
            edge,
        ),
    ]
    reached = study.summary()["gradient_peak_zyx"]
    return Section(
        title="Where the data asks for less diffusivity",
        shows=(
            "Left, the true part, from the front and cut open along the grey line (depth stretched). Right, the "
            "derivative of the misfit J for the diffusivity α of every cell, at a guess that knows nothing: the sound "
            "part. Red cells would explain the recording better with less diffusivity, blue ones with more. It is "
            f"strongest at depth {reached[0]:.2g}; the defect reaches from {top:.3g} to {bottom:.3g}."
        ),
        figure=plan_and_section(views, study.grid.size, UNITS, cut_y=(y + 0.5) * study.grid.spacing[1]),
        good="One red spot over the defect: the physics alone, without training, points at it.",
        bad="Red or blue at the whole front or rim: the model of flash, bulk or sides is off, not the part.",
        do="Do not read size or depth off one gradient: it is blurred and drawn to where the flash was "
        "brightest. Following many of them sharpens it.",
    )


def milliseconds(seconds: float) -> str:
    """Three digits, in ms below a second."""
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
