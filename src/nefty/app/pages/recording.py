"""The page of a recording: its frames on the left; decays, facts, region and run on the right."""

from __future__ import annotations

from pathlib import PurePosixPath

from nicegui import ui

from nefty.app.desk import Desk
from nefty.app.pages.decays import decay_panel
from nefty.app.pages.facts import facts_panel
from nefty.app.pages.layout import notice, panel
from nefty.app.pages.region import region_panel
from nefty.app.pages.start import start_panel
from nefty.app.pages.viewer import Viewer
from nefty.app.pages.viewing import Viewing


async def recording_page(desk: Desk, file: str) -> None:
    """Fill the page.

    Args:
        desk: of the server.
        file: the recording, relative to the root.
    """
    desk.root.inside(file)
    viewing = Viewing(desk, file)
    ui.label(PurePosixPath(file).name).classes("title")
    with ui.column().classes("w-full gap-4") as body, panel():
        word = ui.label("Opening the recording").classes("quiet")
        bar = ui.linear_progress(0, show_value=False).props("instant-feedback")

    def progress(stage: str, fraction: float) -> None:
        word.set_text(f"{stage}, {100 * fraction:.0f} %")
        bar.set_value(fraction)

    await ui.context.client.connected(timeout=60)
    await viewing.look_again(progress)
    body.clear()
    with body:
        if viewing.look is None:
            notice(viewing.problem, "bad", "The recording cannot be read yet")
            with panel("What is known"):
                facts_panel(viewing, reload=True)
            return
        _filled(viewing)


def _filled(viewing: Viewing) -> None:
    """Frames and panels."""
    assert viewing.look is not None
    account = viewing.look.account
    frames, rows, columns = account.shape
    ui.label(f"{frames} frames of {rows} × {columns} pixels (rows × columns)").classes("quiet")
    with ui.element("div").classes("two"):
        with panel():
            viewer = Viewer(viewing)
        with panel():
            with ui.tabs().props("dense align=left active-color=primary no-caps").classes("w-full") as tabs:
                names = ("Decay", "Facts", "Region", "Run")
                decay, facts, region, run = (ui.tab(name).props(f"data-tab={name}") for name in names)
            first = facts if account.missing else decay
            with ui.tab_panels(tabs, value=first, animated=False).classes("w-full"):
                with ui.tab_panel(decay).classes("p-0 pt-2"):
                    decay_panel(viewing)
                with ui.tab_panel(facts).classes("p-0 pt-2"):
                    facts_panel(viewing)
                with ui.tab_panel(region).classes("p-0 pt-2"):
                    region_panel(viewing, viewer)
                with ui.tab_panel(run).classes("p-0 pt-2"):
                    start_panel(viewing)

            def chosen() -> None:
                if tabs.value == "Decay":
                    viewer.use("point")
                elif tabs.value == "Region" and viewer.tool == "point":
                    viewer.use("rectangle")

            tabs.on_value_change(chosen)
