"""Rectangles and polygons that are drawn over a picture, as facts of the recording: in pixels of its file."""

from __future__ import annotations

from collections.abc import Callable

from nefty.app.pages.viewing import Viewing
from nefty.core.errors import InputError
from nefty.data.intake.values import corners, region

SMALLEST = 3  # pixels of the file along a side of what is drawn
NEAR = 0.03  # of the picture's longer side: as near counts as the first corner


class Shapes:
    """What is being drawn, and what was.

    Args:
        viewing: of the page, whose draft holds what was drawn.
        redraw: called when what is being drawn changes.
    """

    def __init__(self, viewing: Viewing, redraw: Callable[[], object]) -> None:
        self.viewing, self.redraw = viewing, redraw
        self.start: tuple[float, float] | None = None
        self.end: tuple[float, float] | None = None
        self.polygon: list[tuple[float, float]] = []

    def begin_anew(self) -> None:
        """Forget what is being drawn."""
        self.start = self.end = None
        self.polygon = []

    def mouse(self, tool: str, kind: str, y: float, x: float) -> None:
        """Follow the mouse.

        Args:
            tool: rectangle, polygon or leave out.
            kind: mousedown, mousemove with a button held, mouseup, or mouseleave, which ends a drag as well.
            y: row in pixels of the file.
            x: column.
        """
        _, rows, columns = self._shape
        place = (min(max(y, 0.0), float(rows)), min(max(x, 0.0), float(columns)))
        if tool == "polygon":
            if kind == "mousedown":
                self._corner(place)
            return
        if kind == "mousedown":
            self.start = self.end = place
        elif self.start is not None:
            self.end = place
            if kind in ("mouseup", "mouseleave"):
                self._rectangle(tool)
        self.redraw()

    def close(self) -> None:
        """Take the polygon as it is."""
        corners_drawn = self.polygon
        self.polygon = []
        if len(corners_drawn) >= 3:
            text = " ".join(f"{y:.1f},{x:.1f}" for y, x in corners_drawn)
            self.viewing.say(polygon=text, roi=None)
        else:
            self.redraw()

    def _corner(self, place: tuple[float, float]) -> None:
        near = NEAR * max(self._shape[1:])
        if len(self.polygon) >= 3 and max(abs(a - b) for a, b in zip(place, self.polygon[0], strict=True)) < near:
            self.close()
            return
        self.polygon.append(place)
        self.redraw()

    def _rectangle(self, tool: str) -> None:
        assert self.start is not None
        assert self.end is not None
        (y0, y1), (x0, x1) = (sorted(map(round, pair)) for pair in zip(self.start, self.end, strict=True))
        self.begin_anew()
        if min(y1 - y0, x1 - x0) < SMALLEST:
            return
        text = f"{y0}:{y1},{x0}:{x1}"
        if tool == "rectangle":
            self.viewing.say(roi=text, polygon=None)
        else:
            before = self.viewing.draft.known.leave_out
            self.viewing.say(leave_out=f"{before} {text}" if before else text)

    @property
    def _shape(self) -> tuple[int, int, int]:
        assert self.viewing.look is not None
        return self.viewing.look.account.shape

    def svg(self, coarse: int, thin: float) -> str:
        """All of it over a picture whose pixels are ``coarse`` of the file's along a side; lines ``thin`` wide."""
        _, rows, columns = self._shape
        known, parts = self.viewing.draft.known, []
        line = f'fill="none" stroke="#56B4E9" stroke-width="{1.4 * thin:.3f}"'
        if isinstance(known.polygon, str):
            parts.append(f'<polygon points="{_points(_known_corners(known.polygon), coarse)}" {line}/>')
        elif isinstance(known.roi, str) and (box := known_box(known.roi, rows, columns)):
            parts.append(f"<rect {_place(box, coarse)} {line}/>")
        hatch = f'fill="rgba(213,94,0,.38)" stroke="#D55E00" stroke-width="{thin:.3f}"'
        for text in str(known.leave_out or "").split():
            if box := known_box(text, rows, columns):
                parts.append(f"<rect {_place(box, coarse)} {hatch}/>")
        if self.start is not None and self.end is not None:
            (y0, y1), (x0, x1) = (sorted(pair) for pair in zip(self.start, self.end, strict=True))
            dashed = f'fill="rgba(255,255,255,.15)" stroke="white" stroke-width="{thin:.3f}"'
            parts.append(f"<rect {_place((y0, y1, x0, x1), coarse)} {dashed}/>")
        if self.polygon:
            dashed = f'fill="none" stroke="white" stroke-width="{thin:.3f}"'
            parts.append(f'<polyline points="{_points(self.polygon, coarse)}" {dashed}/>')
            for y, x in self.polygon:
                spot = f'cx="{x / coarse:.2f}" cy="{y / coarse:.2f}" r="{2 * thin:.3f}"'
                parts.append(f'<circle {spot} fill="white"/>')
        return "".join(parts)


def known_box(text: str, rows: int, columns: int) -> tuple[int, int, int, int] | None:
    """A rectangle as text in numbers from 0; None if it is none."""
    try:
        top, bottom, left, right = region(text, "roi")
    except InputError:
        return None
    ends = (slice(top, bottom).indices(rows)[:2], slice(left, right).indices(columns)[:2])
    return (*ends[0], *ends[1])


def _known_corners(text: str) -> list[tuple[float, float]]:
    try:
        return list(corners(text, "polygon"))
    except InputError:
        return []


def _points(places: list[tuple[float, float]], coarse: int) -> str:
    return " ".join(f"{x / coarse:.2f},{y / coarse:.2f}" for y, x in places)


def _place(box: tuple[float, float, float, float], coarse: int) -> str:
    top, bottom, left, right = (end / coarse for end in box)
    return f'x="{left:.2f}" y="{top:.2f}" width="{right - left:.2f}" height="{bottom - top:.2f}"'
