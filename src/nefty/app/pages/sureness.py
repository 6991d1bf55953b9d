"""How sure a result is: the intervals of its depths, and what would have been seen, had it been there."""

from __future__ import annotations

from nicegui import ui

from nefty.app.pages.layout import panel, plot, plot_map, table
from nefty.app.results import Shown
from nefty.report.pages import ensemble_section
from nefty.report.pages.indication_sections import how_sure
from nefty.report.pages.limits_section import curves, limit_maps, limits_of
from nefty.report.pages.page import Section


def sure_panel(shown: Shown) -> None:
    """Each depth in its interval, or in its band; what that means is said beside it. Then what refits say."""
    if shown.findings.defects:
        _section(how_sure(shown.findings, shown.units), "sure")
    if (refits := ensemble_section.section(shown.findings, shown.units)) is not None:
        _section(refits, "refits")


def seen_panel(shown: Shown) -> None:
    """The smallest defect at each depth that would have been found, and where in the frame."""
    findings, units = shown.findings, shown.units
    limits = limits_of(findings)
    if limits is None:
        with panel("What would have been seen"):
            ui.label(
                "This was not computed: only the recipe real, which evaluates the evidence in the frames, provides "
                "it. Without it, “none found” says little."
            ).classes("quiet")
        return
    _section(curves(findings, limits, units), "seen")
    with panel("Where it would have been seen"):
        ui.label(
            f"The smallest diameter of {limits.names[0]} at every place. Grey: not found, or not inspected."
        ).classes("quiet")
        with ui.element("div").classes("half"):
            for number, one in enumerate(limit_maps(limits, units)):
                plot_map(one, findings.rec.grid.size[1:], units).props(f"data-figure=seen-{number}")


def _section(section: Section, name: str) -> None:
    """A section of the report as a panel."""
    with panel(section.title):
        ui.label(section.shows).classes("quiet")
        if section.figure is not None:
            plot(section.figure).props(f"data-figure={name}")
        if section.table is not None:
            table(list(section.table.columns), [list(row) for row in section.table.rows]).props(f"data-result={name}")
        for word, text in (("Good", section.good), ("Bad", section.bad), ("To do", section.do)):
            if text:
                ui.label(f"{word}: {text}").classes("quiet")
