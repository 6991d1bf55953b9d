"""The frames: one at a time, with a slider for time and one for colours; a place to click points and draw regions."""

from __future__ import annotations

from nicegui import events, ui

from nefty.app.looks import COLOURS
from nefty.app.pages.shapes import Shapes
from nefty.app.pages.viewing import Viewing
from nefty.report.figures.style import LINES

STEPS = 400  # of the slider for colours
OWN = (100, 300)  # of these, what a frame's own values fill at first
TOOLS = {"point": "Points", "rectangle": "Rectangle", "polygon": "Polygon", "leave out": "Leave out"}
SAYS = {
    "point": "Click the picture: the decay of that pixel is drawn beside it.",
    "rectangle": "Drag a rectangle over the area to use.",
    "polygon": "Click corner after corner; click the first one again to close the polygon.",
    "leave out": "Drag rectangles over pixels to ignore: clamps, labels, reflections.",
}


class Viewer:
    """The picture and its controls.

    Args:
        viewing: of the page.
    """

    def __init__(self, viewing: Viewing) -> None:
        assert viewing.look is not None
        self.viewing, self.tool, self.colours = viewing, "point", "warm"
        account = viewing.look.account
        self._drawn = viewing.look
        after = [k for k, time in enumerate(account.times) if time > 0]
        self.index = after[min(len(after) // 6, len(after) - 1)] if after else len(account.times) // 2
        self.limits = viewing.look.limits_of(self.index)
        self.shapes = Shapes(viewing, self._draw_over)
        self.tools = ui.toggle(TOOLS, value="point", on_change=lambda e: self.use(e.value)).props(
            "no-caps unelevated toggle-color=primary"
        )
        self.tools.classes("tools")
        self.says = ui.label(SAYS["point"]).classes("quiet")
        self.image = (
            ui.interactive_image(
                self._source(),
                events=["mousedown", "mousemove", "mouseup", "mouseleave"],
                on_mouse=self._mouse,
                cross=False,
            )
            .classes("frames")
            .props("draggable=false data-view=frames")
        )
        self.where = ui.label().classes("quiet")
        self._time_slider()
        self._colour_slider()
        viewing.on_change(self._draw_over)
        viewing.on_change(self._new_look)
        self._draw_over()

    def use(self, tool: str) -> None:
        """Take another tool."""
        if self.tool != tool:
            self.tool = tool
            self.shapes.begin_anew()
        self.tools.set_value(tool)
        self.says.set_text(SAYS[tool])
        self._draw_over()

    def _time_slider(self) -> None:
        account = self._account
        with ui.row().classes("w-full items-center no-wrap gap-3"):
            ui.label("Time").classes("quiet").style("width: 4.2rem")
            self.slider = ui.slider(
                min=0, max=len(account.times) - 1, value=self.index, on_change=lambda e: self._show(int(e.value or 0))
            ).props('data-slider=time aria-label="time"')
        self.when = ui.label(self._moment()).classes("quiet")

    def _colour_slider(self) -> None:
        with ui.row().classes("w-full items-center no-wrap gap-3"):
            ui.label("Colours").classes("quiet").style("width: 4.2rem")
            self.range = ui.range(
                min=0, max=STEPS, value={"min": OWN[0], "max": OWN[1]}, on_change=lambda: self._recolour()
            ).props('data-slider=colours aria-label="colour range"')
        with ui.row().classes("w-full items-center gap-3"):
            self.bar = ui.label(self._bar()).classes("quiet")
            ui.space()
            self.alike = ui.checkbox("same for all frames", on_change=lambda: self._recolour()).props("dense size=sm")
            self.alike.classes("quiet")
            choice = ui.select(list(COLOURS), value=self.colours, on_change=self._rescale)
            choice.props('dense options-dense borderless aria-label="colour map"')

    @property
    def _account(self):
        assert self.viewing.look is not None
        return self.viewing.look.account

    def _source(self) -> str:
        look = self.viewing.look
        assert look is not None
        low, high = self.limits
        colours = self.colours.replace(" ", "+")
        return f"/picture/{look.key}/{self.index}.png?low={low:.9g}&high={high:.9g}&colours={colours}"

    def _moment(self) -> str:
        account = self._account
        time, unit = account.times[self.index], account.time_unit
        return (
            f"frame {account.numbers[self.index]}, {time:.4g} {unit} after the flash"
            if time > 0
            else (f"frame {account.numbers[self.index]}, before the flash")
        )

    def _bar(self) -> str:
        low, high = self.limits
        unit = self._account.temperature_unit
        return f"from {low:.4g} (dark) to {high:.4g} {unit} (bright)".replace("  ", " ")

    def _show(self, index: int) -> None:
        self.index = index
        self.when.set_text(self._moment())
        self._recolour()

    def _span(self) -> tuple[float, float]:
        """What the slider for colours spans: all frames, or this one and as much again on both sides."""
        look = self.viewing.look
        assert look is not None
        if self.alike.value:
            return look.account.limits
        low, high = look.limits_of(self.index)
        return low - (high - low) / 2, high + (high - low) / 2

    def _recolour(self) -> None:
        (low, high), chosen = self._span(), self.range.value or {"min": OWN[0], "max": OWN[1]}
        step = (high - low) / STEPS
        self.limits = (low + step * chosen["min"], low + step * max(chosen["max"], chosen["min"] + 1))
        self.bar.set_text(self._bar())
        self.image.set_source(self._source())

    def _rescale(self, event: events.ValueChangeEventArguments) -> None:
        self.colours = str(event.value)
        self.image.set_source(self._source())

    def _new_look(self) -> None:
        """Another look may have other frames and other values."""
        account = self._account
        last = len(account.times) - 1
        if self.slider.props.get("max") != last:
            self.slider.props(f"max={last}")
            self.index = min(self.index, last)
        self.when.set_text(self._moment())
        if self._drawn != self.viewing.look:
            self._drawn = self.viewing.look
            self._recolour()

    def _mouse(self, event: events.MouseEventArguments) -> None:
        coarse = self._account.coarse
        y, x = event.image_y * coarse, event.image_x * coarse
        _, rows, columns = self._account.shape
        row, column = min(max(int(y), 0), rows - 1), min(max(int(x), 0), columns - 1)
        if event.type == "mousemove" and not event.buttons & 1:
            look = self.viewing.look
            assert look is not None
            value = look.value(self.index, row, column)
            self.where.set_text(f"row {row}, column {column}: {value:.5g} {self._account.temperature_unit}")
            return
        if self.tool == "point":
            if event.type == "mousedown":
                self.viewing.point(row, column)
        else:
            self.shapes.mouse(self.tool, event.type, y, x)

    def _draw_over(self) -> None:
        """Region, what is left out, and points, in the picture's own pixels."""
        coarse = self._account.coarse
        _, rows, columns = self._account.shape
        thin = max(rows, columns) / coarse / 260
        parts = [self.shapes.svg(coarse, thin)]
        for number, (row, column) in enumerate(self.viewing.points):
            place = f'cx="{(column + 0.5) / coarse:.2f}" cy="{(row + 0.5) / coarse:.2f}" r="{3.2 * thin:.3f}"'
            colour = LINES[(number + 1) % len(LINES)]
            parts.append(f'<circle {place} fill="{colour}" stroke="white" stroke-width="{thin:.3f}"/>')
        self.image.set_content("".join(parts))
