"""What all pages share: the frame with its links, the look, cards, figures, and how trouble is said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import plotly.graph_objects as go
from nicegui import ui

from nefty.app.desk import Desk
from nefty.core.errors import NeftyError
from nefty.report.figures.front_maps import DepthMap, depth_maps
from nefty.report.figures.style import BLUE, CONFIG, FONT, INK, MUTED, RULE, AxisUnits

LINKS = {"Recordings": "/", "Runs": "/runs", "Compare": "/compare"}
STYLE = f"""
<style>
body {{ background: #f4f6f8; color: {INK}; font-family: {FONT}; }}
.nicegui-content {{ padding: 0; }}
.brand {{ font-weight: 700; letter-spacing: .02em; font-size: 1.25rem; color: white; text-decoration: none; }}
.link {{ color: #cbd2d9; text-decoration: none; padding: .3rem .7rem; border-radius: .4rem; }}
.link:hover, .link.here {{ color: white; background: #323f4b; }}
.body {{ max-width: 1240px; margin: 0 auto; padding: 1rem 1.1rem 3rem; width: 100%; }}
.panel {{ background: white; border: 1px solid {RULE}; border-radius: .6rem; padding: 1rem 1.1rem; width: 100%; }}
.title {{ font-size: 1.35rem; font-weight: 650; line-height: 1.3; overflow-wrap: anywhere; }}
.heading {{ font-size: 1.02rem; font-weight: 650; }}
.quiet {{ color: {MUTED}; font-size: .88rem; line-height: 1.4; overflow-wrap: anywhere; }}
.row-link {{ display: flex; gap: .7rem; align-items: center; padding: .42rem .5rem; border-radius: .4rem; width: 100%;
  color: {INK}; text-decoration: none; border-bottom: 1px solid #eef1f4; overflow-wrap: anywhere; }}
.row-link:hover {{ background: #eef4f9; }}
.code {{ font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: .82rem; line-height: 1.5;
  white-space: pre-wrap; overflow-wrap: anywhere; background: #1f2933; color: #e4e7eb; border-radius: .45rem;
  padding: .7rem .8rem; width: 100%; margin: 0; }}
.notice {{ border-left: 4px solid {BLUE}; background: #eef4f9; border-radius: .3rem; padding: .6rem .8rem;
  width: 100%; }}
.notice.caution {{ border-color: #E69F00; background: #fdf6e7; }}
.notice.bad {{ border-color: #D55E00; background: #fdefe8; }}
.notice.good {{ border-color: #009E73; background: #e9f7f2; }}
.fact {{ min-width: 7.5rem; flex: 1 1 7.5rem; }}
.fact .value {{ font-size: 1.15rem; font-weight: 650; }}
.frames img {{ image-rendering: pixelated; width: 100%; user-select: none; }}
.frames {{ width: 100%; max-width: 36rem;
  border: 1px solid {RULE}; border-radius: .3rem; overflow: hidden; touch-action: none; }}
.two {{ display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: 1rem; width: 100%;
  align-items: start; }}
.half {{ display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1rem; width: 100%;
  align-items: start; }}
.form {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: .8rem 1rem; width: 100%;
  align-items: start; }}
.drop {{ border: 2px dashed #9aa5b1; border-radius: .6rem; padding: 1.6rem 1rem; text-align: center; width: 100%;
  color: {MUTED}; cursor: pointer; background: #fafbfc; }}
.drop.over {{ border-color: {BLUE}; background: #eef4f9; }}
.chip {{ display: inline-block; border-radius: 1rem; padding: .08rem .6rem; font-size: .8rem; font-weight: 600;
  white-space: nowrap; }}
.chip.finished {{ background: #d7f0e7; color: #00604a; }} .chip.running {{ background: #d8eaf7; color: #004a75; }}
.chip.paused {{ background: #fbedcc; color: #7a5200; }} .chip.failed {{ background: #fbdccb; color: #8f3e00; }}
.chip.waiting {{ background: #e4e7eb; color: #3e4c59; }}
.list {{ border-collapse: collapse; width: 100%; font-size: .88rem; }}
.list td, .list th {{ text-align: left; padding: .32rem .5rem; border-bottom: 1px solid #eef1f4; vertical-align: top; }}
.list th {{ color: {MUTED}; font-weight: 600; }}
.scroll {{ overflow-x: auto; width: 100%; }}
.picked {{ background: #fdf6e7; }}
.clickable {{ cursor: pointer; }} .clickable:hover {{ background: #eef4f9; }}
.one-line td, .one-line th {{ white-space: nowrap; }}
.tools .q-btn {{ font-size: .85rem; padding: .2rem .7rem; min-height: 2rem; }}
.q-tab {{ text-transform: none; }} .q-btn {{ text-transform: none; }}
@media (max-width: 1000px) {{ .two, .half {{ grid-template-columns: minmax(0, 1fr); }} }}
</style>
<script>
/* A figure on a tab that is being closed asks to be resized once more; there is nothing to resize. */
window.addEventListener('unhandledrejection', e => {{
  if (String(e.reason).includes('Resize must be passed a displayed plot div')) e.preventDefault();
}});
</script>
"""


@contextmanager
def framed(desk: Desk, here: str) -> Iterator[ui.column]:
    """The page's frame; yields the body."""
    ui.add_head_html(STYLE)
    ui.colors(primary=BLUE, secondary=INK, accent="#E69F00")
    with ui.header(elevated=False).classes("items-center").style(f"background: {INK}; padding: .45rem 1.1rem"):
        ui.link("nefty", "/").classes("brand")
        for name, address in LINKS.items():
            ui.link(name, address).classes("link" + (" here" if name == here else ""))
        ui.space()
        ui.label(desk.root.path.name or str(desk.root.path)).classes("gt-xs").style(
            "color: #9aa5b1; font-size: .85rem; max-width: 18rem; overflow: hidden; text-overflow: ellipsis"
        ).tooltip(str(desk.root.path))
    with ui.column().classes("body gap-4") as body:
        yield body


@contextmanager
def panel(title: str = "") -> Iterator[ui.column]:
    """A white card."""
    with ui.column().classes("panel gap-2") as card:
        if title:
            ui.label(title).classes("heading")
        yield card


def notice(text: str, tone: str = "", title: str = "") -> None:
    """A box that is read first; tone is empty, ``good``, ``caution`` or ``bad``."""
    with ui.column().classes(f"notice gap-1 {tone}"):
        if title:
            ui.label(title).classes("heading")
        if text:
            ui.label(text).style("overflow-wrap: anywhere; line-height: 1.45")


def trouble(text: str) -> None:
    """Something that cannot be shown, and the way back."""
    notice(text, "bad", "This cannot be shown")
    ui.link("Back to the recordings", "/")


class Trouble:
    """Within the block, an error of nefty becomes a box on the page."""

    def __enter__(self) -> Trouble:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, NeftyError):
            trouble(str(error))
            return True
        return False


def plot(figure: go.Figure) -> ui.plotly:
    """A figure of the report, in the width that there is."""
    return ui.plotly(drawn(figure)).classes("w-full")


def plot_map(one: DepthMap, size: tuple[float, float], units: AxisUnits) -> ui.plotly:
    """One map that fills its column, whatever the width; its colour bar stands right beside it.

    Args:
        one: the map.
        size: edge lengths along (y, x).
        units: words for the axes.
    """
    figure = depth_maps([one], size, units)
    figure.update_xaxes(domain=[0, 0.86])
    figure.update_annotations(x=0.86, xanchor="right")
    figure.update_traces(colorbar_x=0.875, selector={"type": "heatmap"})
    figure.update_layout(height=440, margin={"t": 40})
    return plot(figure).style("max-width: 36rem")


def drawn(figure: go.Figure) -> dict[str, Any]:
    """A figure as the browser takes it; nothing is ever sent elsewhere."""
    content: dict[str, Any] = figure.to_plotly_json()
    content["layout"].pop("meta", None)
    return {**content, "config": dict(CONFIG)}


def fact(label: str, value: str, note: str = "") -> None:
    """A number that matters."""
    with ui.column().classes("fact gap-0"):
        ui.label(label).classes("quiet")
        ui.label(value).classes("value")
        if note:
            ui.label(note).classes("quiet")


def code(text: str) -> ui.element:
    """Text that can be typed, with a button that copies it."""
    with ui.element("div").style("position: relative; width: 100%") as box:
        shown = ui.element("pre").classes("code")
        with shown:
            ui.label(text).style("display: inline")
        ui.button(icon="content_copy", on_click=lambda: ui.clipboard.write(text)).props(
            "flat round dense size=sm color=white aria-label=copy"
        ).style("position: absolute; right: .3rem; top: .3rem; opacity: .8")
    return box


def table(columns: list[str], rows: list[list[str]], *, one_line: bool = False) -> ui.element:
    """Rows of text; a table that is too wide scrolls in its box."""
    with ui.element("div").classes("scroll") as box, ui.element("table").classes("list" + " one-line" * one_line):
        with ui.element("thead"), ui.element("tr"):
            for name in columns:
                cell("th", name)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for text in row:
                        cell("td", text)
    return box


def cell(tag: str, text: str) -> ui.element:
    """A cell of a table; its text is never markup."""
    with ui.element(tag) as made:
        ui.label(text).style("display: inline")
    return made


def size_words(size: int) -> str:
    """``"3.5 MB"``."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000  # pyright: ignore[reportAssignmentType]
    return f"{size:.3g} GB"
