"""How the optimisation went: misfit, objective and penalties, stage by stage."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.core.errors import InputError
from nefty.inversion.penalties import PENALTIES
from nefty.report.figures.curves import log_ticks
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import BUTTONS, INK, LINES, MUTED, RULE, dress

#: Points of one line beyond which it is thinned.
MOST_POINTS = 2000
#: Height of the plots if there is one row of them, of a row if there are more, and room between two, in pixels.
ONE_ROW, ROW, BETWEEN = 300, 220, 90
LEGEND = 72  # pixels under the plots


@dataclass(frozen=True, eq=False)
class _Panel:
    """One quantity over the run: values that are not finite are gaps; ``floor`` is a line across, if any."""

    title: str
    values: np.ndarray
    floor: float | None = None


def convergence(history: Mapping[str, np.ndarray], *, noise_floor: float | None = 1.0) -> go.Figure:
    """Misfit, objective and every penalty over evaluations or seconds; one colour per stage.

    Args:
        history: columns of one length: ``misfit``, ``objective``; ``evaluations``, ``seconds``, ``stage`` and the
            penalties by name, without their weights and 0 where they do not count, if known.
        noise_floor: a line in the panel of the misfit; ``None`` for none, and for a misfit that is not over noise^2.
    """
    panels = _panels(history, noise_floor)
    count = len(panels[0].values)
    across = {label: running(_numbers(history[label])) for label in ("evaluations", "seconds") if label in history}
    across = across or {"iterations": np.arange(1.0, count + 1)}
    spans = _stages(history.get("stage"), count)
    rows, columns = -(-len(panels) // 2), min(len(panels), 2)
    height = ONE_ROW if rows == 1 else rows * ROW + (rows - 1) * BETWEEN
    figure = make_subplots(
        rows,
        columns,
        specs=[[{} if row * 2 + column < len(panels) else None for column in range(columns)] for row in range(rows)],
        subplot_titles=[panel.title for panel in panels],
        horizontal_spacing=0.1,
        vertical_spacing=BETWEEN / height if rows > 1 else None,
    )
    choices = _draw(figure, panels, spans, across)
    dress(figure, height=height, below=60, legend=len(spans) > 1)
    for index, panel in enumerate(panels):
        _vertical(figure, index, panel)
    figure.update_xaxes(title_text=next(iter(across)), gridcolor=RULE, rangemode="tozero")
    figure.update_layout(
        legend={"orientation": "h", "x": 0, "y": -LEGEND / height, "yanchor": "top", "font": {"size": 12}},
        updatemenus=[_switch(choices, len(panels))] if len(choices) > 1 else [],
        margin={"b": 100 if len(spans) > 1 else 60},
    )
    narrow = len(panels) * 220 + (len(panels) - 1) * 96
    return stack_when_narrow(figure, [220] * len(panels), between=96, also={"legend.y": -LEGEND / narrow})


def _panels(history: Mapping[str, np.ndarray], noise_floor: float | None) -> list[_Panel]:
    """What of a history is drawn; misfit and objective first."""
    misfit = "Misfit / noise²" if noise_floor is not None else "Mean squared residual"
    panels = []
    for name, title, floor in (("misfit", misfit, noise_floor), ("objective", "Objective", None)):
        if name in history and np.isfinite(_numbers(history[name])).any():
            panels.append(_Panel(title, _numbers(history[name]), floor))
    if not panels:
        raise InputError("the history has neither misfit nor objective; there is no convergence to draw.")
    for name, kind in PENALTIES.items():
        values = _numbers(history.get(name, ()))
        if len(values) == len(panels[0].values) and (values > 0).any():
            panels.append(_Panel(kind.title, np.where(values > 0, values, np.nan)))
    return panels


def _draw(
    figure: go.Figure, panels: list[_Panel], spans: list[tuple[str, int, int]], across: Mapping[str, np.ndarray]
) -> dict[str, list[np.ndarray]]:
    """Add a line for each panel and stage; returns the places of each along every horizontal axis there is."""
    choices: dict[str, list[np.ndarray]] = {label: [] for label in across}
    first = next(iter(across))
    for index, panel in enumerate(panels):
        for number, (stage, start, stop) in enumerate(spans):
            some = _thinned(max(start - 1, 0), stop)
            for label, x in across.items():
                choices[label].append(x[some])
            figure.add_scatter(
                x=across[first][some],
                y=panel.values[some],
                mode="lines" if len(some) > 1 else "markers",
                line={"color": LINES[number % len(LINES)], "width": 2},
                name=stage,
                legendgroup=f"{number}",
                showlegend=index == 0 and len(spans) > 1,
                hovertemplate=f"%{{x:.4~g}}<br>{panel.title} %{{y:.4~g}}<extra>{stage}</extra>",
                **_place(index),
            )
    return choices


def _place(index: int) -> dict[str, int]:
    """Row and column of a panel."""
    return {"row": index // 2 + 1, "col": index % 2 + 1}


def running(values: np.ndarray) -> np.ndarray:
    """A counter that never falls: where it starts again, it goes on from what it had reached."""
    reached = np.where(np.diff(values) < 0, values[:-1], 0.0)
    return values + np.concatenate([[0.0], np.cumsum(reached)])


def _vertical(figure: go.Figure, index: int, panel: _Panel) -> None:
    """A logarithmic axis where all values are positive, with the noise floor."""
    finite, floor = panel.values[np.isfinite(panel.values)], panel.floor
    kind: dict[str, Any] = {"gridcolor": RULE}
    if finite.min() > 0:
        ends = np.append(finite, floor) if floor else finite
        low, high = float(ends.min()) / 1.7, float(ends.max()) * 1.4
        ticks = log_ticks(low, high)
        ticks = [t for t in ticks if high / low < 200 or f"{t:e}".startswith("1.0")]
        kind |= {"type": "log", "range": [np.log10(low), np.log10(high)], "tickvals": ticks}
        kind["ticktext"] = [f"{t:g}" for t in ticks]
    figure.update_yaxes(**_place(index), **kind)
    if floor:
        figure.add_hline(y=floor, line={"color": INK, "width": 1.2, "dash": "dash"}, **_place(index))  # pyright: ignore[reportArgumentType]
        figure.add_annotation(
            x=0.01,
            y=np.log10(floor) if "type" in kind else floor,
            text="noise floor",
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
            font={"size": 12, "color": MUTED},
            **_place(index),
            xref="x domain" if index == 0 else f"x{index + 1} domain",
        )


def _stages(stage: np.ndarray | None, count: int) -> list[tuple[str, int, int]]:
    """Name, start and stop of each run of equal stages."""
    if stage is None or len(stage) != count:
        return [("", 0, count)]
    # Plotly reads markup in names.
    names = [html.escape(s.decode() if isinstance(s, bytes) else str(s)) for s in np.asarray(stage).tolist()]
    starts = [0, *(i for i in range(1, count) if names[i] != names[i - 1])]
    return [(names[a], a, b) for a, b in zip(starts, [*starts[1:], count], strict=True)]


def _thinned(start: int, stop: int) -> np.ndarray:
    step = max(1, -(-(stop - start) // MOST_POINTS))
    return np.unique(np.append(np.arange(start, stop, step), stop - 1))


def _numbers(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=np.float64)


def _switch(choices: Mapping[str, list[np.ndarray]], panels: int) -> dict[str, Any]:
    """Buttons that exchange the horizontal axis."""
    axes = ["xaxis", *(f"xaxis{number}" for number in range(2, panels + 1))]
    return {
        **BUTTONS,
        "pad": {"b": 26, "l": 0},
        "buttons": [
            {
                "label": f"by {label}",
                "method": "update",
                "args": [{"x": xs}, {f"{axis}.title.text": label for axis in axes}],
            }
            for label, xs in choices.items()
        ],
    }
