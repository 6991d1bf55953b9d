"""A result: what was found, map and table, slices, surfaces, classical maps, and the files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import quote

import numpy as np
from nicegui import events, ui

from nefty.app.desk import Desk
from nefty.app.jobs import Run, State
from nefty.app.pages.classical import classical_panel
from nefty.app.pages.layout import cell, drawn, fact, notice, panel, plot, plot_map
from nefty.app.pages.sureness import seen_panel, sure_panel
from nefty.app.results import Shown
from nefty.core.storage.run_folder import RESULT
from nefty.core.words import quantity, span
from nefty.report.figures import DEPTH, DIFFUSIVITY, DepthMap, Scale, defect_surfaces, depth_stretch
from nefty.report.figures.linked_slices import PANELS, SlicedVolume, linked_slices
from nefty.report.figures.style import axis_title
from nefty.report.pages.findings import defect_table, depth_interval, headline
from nefty.report.pages.reconstruction import TITLES
from nefty.report.pages.volume_sections import VEILED, bodies
from nefty.report.run_files import DERIVED
from nefty.result.indications.indication import Indication

RATIO = Scale("ice", from_zero=True)
CALM = ("explained", "unknown")


def result_panels(desk: Desk, run: Run, shown: Shown) -> None:
    """All panels of a result."""
    findings, units = shown.findings, shown.units
    verdict = findings.rec.verdict()
    with panel():
        ui.label(headline(findings, units)).classes("title").props("data-result=headline")
        notice(verdict.text, "" if verdict.level.value in CALM else "caution", TITLES.get(verdict.level, "The fit"))
        _facts(shown)
        _files(run)
    place = _Place(shown)
    with panel("Where the indications are"):
        ui.label(
            "The part seen from the front. Coloured pixels have an indication below them, and the colour is its depth. "
            "Click the map, or a row of the table: slices and surfaces below show that place."
        ).classes("quiet")
        _map(shown, place)
        _table(shown, place)
        _closer(desk, run, shown, place)
    sure_panel(shown)
    with panel("Slices through one point"):
        _slices(shown, place)
    with panel("The indications in 3D"):
        _surfaces(shown)
    seen_panel(shown)
    with panel("Classical methods beside it"):
        classical_panel(desk, run, shown)


class _Place:
    """The point (z, y, x) that slices go through, in lengths, and who follows it."""

    def __init__(self, shown: Shown) -> None:
        grid, found = shown.findings.rec.grid, shown.findings.defects
        middle = (grid.size[0] / 2, grid.size[1] / 2, grid.size[2] / 2)
        self.at: tuple[float, float, float] = _inside(found[0]) if found else middle
        self.label = found[0].label if found else 0
        self.told: list[Callable[[], object]] = []

    def go(self, at: tuple[float, float, float], label: int = 0) -> None:
        self.at, self.label = at, label
        for tell in self.told:
            tell()


def _inside(found: Indication) -> tuple[float, float, float]:
    """A point of an indication: its centre, or just below its top where its thickness is not known."""
    z, y, x = found.centre
    return (z if np.isfinite(z) else found.depth_to_top, y, x)


def _facts(shown: Shown) -> None:
    findings, units = shown.findings, shown.units
    rec, found = findings.rec, findings.defects
    with ui.row().classes("w-full gap-4"):
        judged = rec.verdict().level.judges
        fact("Indications", str(len(found)) if found else "none" if judged else "–")
        if found:
            tops = [one.depth_to_top for one in found]
            fact(
                "Depth to the top",
                span(min(tops), max(tops), units.length),
                f"{depth_interval(findings, units)}, of {quantity(rec.grid.size[0], units.length)}".lstrip(", "),
            )
        if rec.misfit is not None:
            fact("Misfit", f"{rec.misfit:.3g}", "the noise floor is 1")
        background = np.asarray(rec.background)
        fact("Diffusivity", span(float(background.min()), float(background.max()), units.diffusivity), "calibrated")
        fact("Inspected", f"{100 * rec.inspected_share:.0f} %", "of the part's volume")


def _files(run: Run) -> None:
    """Links to the files of the run."""
    with ui.row().classes("items-center gap-3"):
        for name in (*DERIVED, RESULT):
            if (run.folder / name).is_file():
                link = ui.link(name, f"/file/{run.name}/{name}", new_tab=name.endswith(".html")).classes("quiet")
                link.props("" if name.endswith((".html", ".png")) else f"download={name}")


def _map(shown: Shown, place: _Place) -> None:
    """Depth map and lowest diffusivity, with the numbers of the table."""
    findings, units = shown.findings, shown.units
    rec = findings.rec
    marks = [(str(d.label), (d.centre[1], d.centre[2])) for d in findings.defects]
    label = axis_title("depth to the top", units.length)
    depth = DepthMap("Depth to the top", rec.depth_map(), DEPTH, label, (0.0, rec.grid.size[0]), marks=marks)
    lowest = findings.ratio.min(axis=0)
    share = DepthMap(
        "Lowest diffusivity below", lowest, RATIO, "share of the background's", (0.0, 1.0), findings.footprint
    )

    def clicked(event: events.GenericEventArguments) -> None:
        point = _clicked_point(event)
        if point is not None:
            x, y = point
            label = _under(shown, y, x)
            z = next((_inside(d)[0] for d in findings.defects if d.label == label), place.at[0])
            place.go((z, y, x), label)

    with ui.element("div").classes("half"):
        for which, one in (("map", depth), ("lowest", share)):
            plot_map(one, rec.grid.size[1:], units).props(f"data-figure={which}").on("plotly_click", clicked)


def _clicked_point(event: events.GenericEventArguments) -> tuple[float, float] | None:
    points = event.args.get("points") if isinstance(event.args, dict) else None
    if not points or "x" not in points[0] or "y" not in points[0]:
        return None
    return float(points[0]["x"]), float(points[0]["y"])


def _under(shown: Shown, y: float, x: float) -> int:
    """The label of the indication whose outline holds a place, or whose centre is nearest within its diameter; 0."""
    near = [(float(np.hypot(d.centre[1] - y, d.centre[2] - x)), d) for d in shown.findings.defects]
    near = [(distance, d) for distance, d in near if distance <= d.diameter]
    return min(near, key=lambda pair: pair[0])[1].label if near else 0


def _table(shown: Shown, place: _Place) -> None:
    """The table of indications; its rows lead to their places."""
    findings = shown.findings
    found = defect_table(findings, shown.units)
    if not found.rows:
        ui.label("Nothing is listed; the verdict says what that means.").classes("quiet")
        return
    by_label = {str(d.label): d for d in findings.defects}
    rows: dict[int, ui.element] = {}
    with ui.element("div").classes("scroll"), ui.element("table").classes("list one-line").props("data-result=table"):
        with ui.element("thead"), ui.element("tr"):
            for name in found.columns:
                cell("th", name)
        with ui.element("tbody"):
            for texts in found.rows:
                defect = by_label.get(texts[0].split(",")[0])
                with ui.element("tr") as row:
                    for text in texts:
                        cell("td", text)
                if defect is not None:
                    row.classes("clickable").props(f"data-indication={defect.label}")
                    row.on("click", partial(place.go, _inside(defect), defect.label), args=[])
                    rows[defect.label] = row
                else:
                    row.style("font-style: italic; color: #616e7c")

    def mark() -> None:
        for label, row in rows.items():
            row.classes(add="picked" if label == place.label else "", remove="" if label == place.label else "picked")

    place.told.append(mark)
    mark()


def _closer(desk: Desk, run: Run, shown: Shown, place: _Place) -> None:
    """A button that solves the chosen indication again in the camera's own pixels, where pixels were joined."""
    rec = shown.findings.rec
    if run.state is not State.FINISHED or rec.calibrated is None or rec.facts.window.bin == 1 or not rec.indications():
        return

    def start() -> None:
        name = desk.jobs.add(run.draft.closer(desk.jobs.out(run.name), place.label))
        ui.navigate.to(f"/run?name={quote(name)}")

    n = rec.facts.window.bin
    with ui.row().classes("items-center gap-3"):
        button = ui.button(icon="zoom_in", on_click=start).props("outline size=sm data-result=closer")
        ui.label(
            f"{n} × {n} camera pixels are averaged to one cell here. A closer look solves the surroundings of one "
            "indication again at full camera resolution, with the calibration of this run."
        ).classes("quiet").style("flex: 1; min-width: 16rem")

    def name_it() -> None:
        button.set_text(f"Look closer at indication {place.label}")
        button.set_visibility(place.label > 0)

    place.told.append(name_it)
    name_it()


def _slices(shown: Shown, place: _Place) -> None:
    """Three slices that follow the point; a click on any of them moves it."""
    findings, units = shown.findings, shown.units
    rec = findings.rec
    label = axis_title("diffusivity", units.diffusivity)
    top = 1.15 * float(np.max(rec.background))
    volume = SlicedVolume(rec.alpha, findings.mask, rec.grid.size, DIFFUSIVITY, label, (0.0, top))
    said = ui.label().classes("quiet").props("data-result=place")
    figure = plot(linked_slices(volume, place.at, units)).props("data-figure=slices")

    def show() -> None:
        z, y, x = place.at
        which = f"indication {place.label}: " if place.label else ""
        unit = f" {units.length}" if units.length else ""
        said.set_text(f"{which}x = {x:.3g}, y = {y:.3g}, depth {z:.3g}{unit}. Click into a slice to move the point.")
        figure.update_figure(drawn(linked_slices(volume, place.at, units)))

    def clicked(event: events.GenericEventArguments) -> None:
        point = _clicked_point(event)
        number = event.args["points"][0].get("curveNumber", -1) if point is not None else -1
        if point is None or not 0 <= number < len(PANELS):
            return
        (a, b), (z, y, x) = point, place.at
        moved = {"front": (z, b, a), "along x": (b, y, a), "along y": (b, a, x)}[PANELS[number]]
        place.go(moved, _under(shown, moved[1], moved[2]))

    figure.on("plotly_click", clicked)
    place.told.append(show)
    z, y, x = place.at
    said.set_text(
        f"x = {x:.3g}, y = {y:.3g}, depth {z:.3g} {units.length}".rstrip() + ". Click into a slice to move it."
    )


def _surfaces(shown: Shown) -> None:
    findings, units = shown.findings, shown.units
    if not findings.mask.any():
        ui.label("No indication, so there is no surface to draw.").classes("quiet")
        return
    size = findings.rec.grid.size
    stretch = depth_stretch(size)
    ui.label(
        "Drag to turn it, scroll to zoom."
        + ("" if findings.rec.probability is None else f" {VEILED}")
        + (
            f" Depth is drawn {stretch:g} times too large, so that the inside of a thin part can be seen."
            if stretch > 1
            else ""
        )
    ).classes("quiet")
    labels = [(str(d.label), d.centre) for d in findings.defects]
    solid, veil = bodies(findings)
    figure = defect_surfaces(solid, size, units, veil=veil, labels=labels)
    plot(figure).props("data-figure=surfaces")
