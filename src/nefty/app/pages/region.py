"""Which pixels count: what was drawn over the picture, and the same as numbers."""

from __future__ import annotations

from nicegui import ui

from nefty.app.pages.viewer import Viewer
from nefty.app.pages.viewing import Viewing
from nefty.core.errors import InputError
from nefty.data.intake.values import region


def region_panel(viewing: Viewing, viewer: Viewer) -> None:
    """Words, numbers and buttons."""
    ui.label(
        "Draw over the picture: a rectangle or a polygon for the area to use, rectangles for areas to ignore. Pixels "
        "are numbered from 0 at the top left, as in the file."
    ).classes("quiet")
    said = ui.column().classes("w-full gap-1")

    def show() -> None:
        known = viewing.draft.known
        said.clear()
        with said:
            what = "the whole picture"
            if known.polygon is not None:
                what = f"a polygon of {len(str(known.polygon).split())} corners"
            elif known.roi == "auto":
                what = "inside the outline of what was heated"
            elif known.roi is not None:
                what = f"rows and columns {known.roi}"
            ui.label(f"What counts: {what}.").props("data-region=counts")
            left_out = str(known.leave_out or "").split()
            if left_out:
                ui.label(f"Left out: {', '.join(left_out)}.").props("data-region=left-out")

    viewing.on_change(show)
    show()
    with ui.row().classes("items-end gap-2"):
        typed = (
            ui.input("Rows and columns, y0:y1,x0:x1", placeholder="10:90,20:80").props("dense").style("width: 17rem")
        )

        def take() -> None:
            try:
                region(typed.value or "", "roi")
            except InputError as error:
                ui.notify(str(error), type="warning")
                return
            viewing.say(roi=(typed.value or "").strip(), polygon=None)

        ui.button("Set", on_click=take).props("outline size=sm")
    with ui.row().classes("gap-2"):
        ui.button("Whole picture", on_click=lambda: viewing.say(roi=None, polygon=None)).props("outline size=sm")
        assert viewing.look is not None
        if (box := viewing.look.account.suggested) is not None:
            text = f"{box[0]}:{box[1]},{box[2]}:{box[3]}"
            ui.button("Outline of the part", on_click=lambda: viewing.say(roi=text, polygon=None)).props(
                "outline size=sm"
            )
        ui.button("Close the polygon", on_click=lambda: viewer.shapes.close()).props("outline size=sm")
        ui.button("Leave nothing out", on_click=lambda: viewing.say(leave_out=None)).props("outline size=sm")
