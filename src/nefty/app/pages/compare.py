"""Two runs of one part beside each other: new, grown, gone."""

from __future__ import annotations

import asyncio
import html
from urllib.parse import quote

import numpy as np
from nicegui import ui

from nefty.app.desk import Desk
from nefty.app.pages.layout import fact, notice, panel, plot_map, table
from nefty.app.results import Shown
from nefty.core.words import counted, quantity
from nefty.metrics.run_comparison import Change, Compared, RunComparison, compare_runs
from nefty.report.figures import DEPTH, DepthMap
from nefty.report.figures.style import axis_title
from nefty.result.frame_pixels import frame_pixels
from nefty.result.indications.indication import Indication

ORDER = (Change.NEW, Change.GROWN, Change.GONE, Change.SMALLER, Change.SAME, Change.NOT_BEFORE, Change.NOT_AFTER)


async def compare_page(desk: Desk, a: str, b: str) -> None:
    """Fill the page.

    Args:
        desk: of the server.
        a: name of the first run; empty to choose.
        b: name of the second.
    """
    ui.label("Compare two runs of one part").classes("title")
    names = [run.name for run in desk.jobs.runs() if run.has_result]
    if len(names) < 2:
        notice("Two runs with a result are needed; there " + ("is one." if names else "is none."))
        return
    _choice(names, a if a in names else names[1], b if b in names else names[0])
    if not (a and b):
        return
    first, second = (desk.jobs.run(name).folder for name in (a, b))
    await ui.context.client.connected(timeout=60)
    before = await asyncio.to_thread(desk.results.of, first)
    after = await asyncio.to_thread(desk.results.of, second)
    found = await asyncio.to_thread(compare_runs, before.findings.rec, after.findings.rec)
    _summary(found, before)
    _maps(found, (a, before), (b, after))
    _table(found, before)


def _choice(names: list[str], a: str, b: str) -> None:
    with panel(), ui.row().classes("items-end gap-4"):
        first = ui.select(names, value=a, label="Before").props("outlined dense options-dense data-compare=a")
        second = ui.select(names, value=b, label="After").props("outlined dense options-dense data-compare=b")
        for one in (first, second):
            one.style("min-width: 14rem")

        def go() -> None:
            ui.navigate.to(f"/compare?a={quote(str(first.value))}&b={quote(str(second.value))}")

        ui.button("Compare", icon="compare", on_click=go).props("unelevated data-compare=go")


def _summary(found: RunComparison, before: Shown) -> None:
    length = before.units.length
    with panel():
        with ui.row().classes("w-full gap-4").props("data-compare=summary"):
            for change in ORDER:
                if found.counted(change) or change in (Change.NEW, Change.GROWN, Change.GONE):
                    fact(change.value.capitalize(), str(found.counted(change) or "none"))
        y, x = found.shift
        if found.agreeing:
            how = f"{counted(found.agreeing, 'indication')} agree that the second must be moved by "
            how += f"{quantity(y, length)} along y and {quantity(x, length)} along x."
        else:
            how = "The runs are aligned by the camera's pixels; there are too few indications to find another shift."
        ui.label(f"Alignment: {how.capitalize() if found.agreeing else how}").classes("quiet")
        ui.label(
            "Grown and smaller: the diameter of the disc with the same area, within the area that both runs "
            "inspected, changed by more than {quantity(found.margin, length)}, a cell at each edge. If both diameters "
            "have 90 % intervals, the table says whether these are disjoint; if they are, the intervals alone show "
            "the change. Overlapping intervals do not rule out a change, because much of their width is an error that "
            "both runs share."
        ).classes("quiet")
        for text in found.cautions:
            notice(text, "caution")


def _maps(found: RunComparison, first: tuple[str, Shown], second: tuple[str, Shown]) -> None:
    """Both depth maps; the numbers are those of the rows."""
    with panel("Depth to the top"), ui.element("div").classes("half"):
        for side, (name, shown) in enumerate((first, second)):
            rec = shown.findings.rec
            label = axis_title("depth", shown.units.length)
            own = [(number, row.after if side else row.before) for number, row in enumerate(found.rows, 1)]
            marks = [(str(number), _own_place(found, shown, one, side)) for number, one in own if one is not None]
            title = f"{'After' if side else 'Before'}: {html.escape(name)}"
            limits = (0.0, first[1].findings.rec.grid.size[0])
            one_map = DepthMap(title, rec.depth_map(), DEPTH, label, limits, marks=marks)
            plot_map(one_map, rec.grid.size[1:], shown.units).props(f"data-figure=compare-{side}")


def _own_place(found: RunComparison, shown: Shown, one: Indication, side: int) -> tuple[float, float]:
    """Where an indication lies on its own run's grid, (y, x)."""
    rec = shown.findings.rec
    pixels = frame_pixels(rec.grid, rec.facts.window)
    back = found.shift if side else (0.0, 0.0)
    return pixels.place(one.centre[1] - back[0], one.centre[2] - back[1])


def _table(found: RunComparison, before: Shown) -> None:
    unit = f" ({before.units.length})" if before.units.length else ""
    columns = ["", "what became of it", f"x, y on the frames{unit}", f"diameter before, after{unit}", f"change{unit}"]
    columns += ["its intervals"]
    columns += [f"depth to top before, after{unit}", f"change{unit}"]
    with panel("Indication by indication"):
        if not found.rows:
            ui.label("Neither run has an indication.").classes("quiet")
            return
        rows = [_row(number, row) for number, row in enumerate(found.rows, 1)]
        table(columns, rows, one_line=True).props("data-compare=table")


def _row(number: int, row: Compared) -> list[str]:
    y, x = row.place
    sizes = [_length(one and one.diameter) for one in (row.before, row.after)]
    depths = [_length(one and one.depth_to_top) for one in (row.before, row.after)]
    wider, deeper = (f"{value:+.3g}" if np.isfinite(value) else "–" for value in (row.wider, row.deeper))
    said = {None: "–", True: "lie apart", False: "overlap"}[row.apart]
    return [
        str(number),
        row.change.value,
        f"{x:.3g}, {y:.3g}",
        ", ".join(sizes),
        wider,
        said,
        ", ".join(depths),
        deeper,
    ]


def _length(value: float | None) -> str:
    return "–" if value is None or not np.isfinite(value) else f"{value:.3g}"
