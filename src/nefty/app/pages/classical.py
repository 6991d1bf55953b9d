"""The maps of a classical method beside the depth map of a run."""

from __future__ import annotations

import shlex
from functools import partial

import numpy as np
from nicegui import ui

from nefty.app.desk import Desk
from nefty.app.jobs import Run
from nefty.app.maps import METHODS, classical_maps, classical_words
from nefty.app.pages.layout import code, notice, plot_map
from nefty.app.results import Shown
from nefty.core.errors import NeftyError
from nefty.report.figures import DEPTH, DepthMap
from nefty.report.figures.images import coarseness
from nefty.report.figures.style import axis_title
from nefty.report.pages.classical import scale_of
from nefty.result.display_units import display_units


def classical_panel(desk: Desk, run: Run, shown: Shown) -> None:
    """A choice of methods; the maps appear when they are there."""
    ui.label(
        "Every pixel is treated separately, as in classical thermography; lateral heat flow is not accounted for. "
        "The same recording, facts and region."
    ).classes("quiet")
    buttons = ui.row().classes("gap-2")
    where = ui.column().classes("w-full gap-2")
    known = shown.given.facts.material is not None
    alpha = None if known else shown.given.bulk

    async def show(method: str) -> None:
        where.clear()
        with where, ui.row().classes("items-center gap-2"):
            ui.spinner(size="1.3rem")
            ui.label(f"nefty classical {method}").classes("quiet")
        try:
            maps = await classical_maps(desk.root, run, method, alpha)
        except NeftyError as error:
            where.clear()
            with where:
                notice(str(error), "caution")
            return
        where.clear()
        words = classical_words(run.draft, method, f"{desk.jobs.out(run.name)}/classical-{method}", alpha)
        with where:
            _maps(shown, maps)
            code(shlex.join(words))

    with buttons:
        for method, what in METHODS.items():
            button = ui.button(method.upper(), on_click=partial(show, method)).props(
                f"outline dense data-method={method}"
            )
            button.tooltip(what)


def _maps(shown: Shown, maps: dict[str, np.ndarray]) -> None:
    """The first map of the method, and the run's depth map, in the same places."""
    rec, units = shown.findings.rec, shown.units
    length = display_units(shown.given.facts.units).length
    label = axis_title("depth to the top", units.length)
    own = DepthMap("nefty: depth to the top", rec.depth_map(), DEPTH, label, (0.0, rec.grid.size[0]))
    name, image = next(((n, m) for n, m in maps.items() if n == "depth"), next(iter(maps.items())))
    scale, unit = scale_of(name, units)
    step = coarseness((image.shape[0], image.shape[1]))
    values = np.asarray(image[::step, ::step], dtype=np.float64)
    limits = None
    if name == "depth":
        values, limits = length(values), (0.0, rec.grid.size[0])
    other = DepthMap(name.capitalize(), values, scale, axis_title(name, unit), limits)
    with ui.element("div").classes("half"):
        plot_map(own, rec.grid.size[1:], units)
        plot_map(other, rec.grid.size[1:], units).props("data-figure=classical")
