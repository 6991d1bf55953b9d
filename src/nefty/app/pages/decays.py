"""How clicked points cool, in log-log axes, with the slab's law beside them."""

from __future__ import annotations

import numpy as np
from nicegui import ui

from nefty.app.looks import Look
from nefty.app.pages.layout import drawn
from nefty.app.pages.viewing import Viewing
from nefty.core.errors import InputError
from nefty.physics.slab.reference_decay import reference_decay
from nefty.report.figures.curves import Curve
from nefty.report.figures.decay import decay_figure
from nefty.report.figures.style import AxisUnits


def decay_panel(viewing: Viewing) -> None:
    """The figure, and what it says."""
    ui.label(
        "The median of all pixels, and the pixels that you click. A thick part cools along the dashed line; a sound "
        "part of this thickness follows the dotted one. A defect lifts its curve above the others."
    ).classes("quiet")
    holder = ui.column().classes("w-full gap-1")
    shown: list[object] = []

    def draw() -> None:
        assert viewing.look is not None
        state = (viewing.look.key, tuple(viewing.points))
        if state in shown:
            return
        shown[:] = [state]
        holder.clear()
        with holder:
            _figure(viewing, viewing.look)

    viewing.on_change(draw)
    draw()


def _figure(viewing: Viewing, look: Look) -> None:
    account = look.account
    times = np.array(account.prepared_times)
    curves = [Curve("median of all pixels", look.typical_decay())]
    outside = 0
    for row, column in viewing.points:
        values = look.decay(row, column)
        if values is None or not np.isfinite(values).any():
            outside += 1
        else:
            curves.append(Curve(f"row {row}, column {column}", values))
    try:
        figure = decay_figure(
            times, curves, AxisUnits("", account.time_unit, account.temperature_unit), law=_law(look, times)
        )
    except InputError as error:
        ui.label(str(error)).classes("quiet")
        return
    ui.plotly(drawn(figure)).classes("w-full").props("data-figure=decay")
    if outside:
        ui.label("A point outside the region, or on a pixel that is not used, has no curve.").classes("quiet")
    if account.alpha is None or account.thickness is None:
        ui.label("The slab's law needs thickness and material; see Facts.").classes("quiet")
    if viewing.points:

        def clear() -> None:
            viewing.points = []
            viewing.changed()

        ui.button("clear points", icon="clear", on_click=clear).props("flat dense size=sm")


def _law(look: Look, times: np.ndarray) -> np.ndarray | None:
    """How a sound slab of this thickness and diffusivity cools after a flash, NaN before it; None if not known."""
    account = look.account
    late = times > 0
    if account.alpha is None or account.thickness is None or not late.any():
        return None
    law = np.full(times.shape, np.nan)
    law[late] = reference_decay(times[late], account.alpha, account.thickness)
    return law
