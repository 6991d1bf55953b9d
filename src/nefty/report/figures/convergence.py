"""How the optimisation went: misfit and objective, stage by stage."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.core.errors import InputError
from nefty.report.figures.curves import log_ticks
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import BUTTONS, INK, LINES, MUTED, RULE, dress

#: Points of one line beyond which it is thinned.
MOST_POINTS = 2000
NAMES = {"misfit": "Misfit / noise²", "objective": "Objective"}


def convergence(history: Mapping[str, np.ndarray], *, noise_floor: float | None = 1.0) -> go.Figure:
    """Misfit and objective over evaluations or seconds; one colour per stage.

    Args:
        history: columns of one length: ``misfit``, ``objective``; ``evaluations``, ``seconds``, ``stage`` if known.
        noise_floor: a line in the panel of the misfit; ``None`` for none, and for a misfit that is not over noise^2.
    """
    shown = [name for name in NAMES if name in history and np.isfinite(_numbers(history[name])).any()]
    if not shown:
        raise InputError("the history has neither misfit nor objective; there is no convergence to draw.")
    count = len(history[shown[0]])
    names = NAMES | ({"misfit": "Mean squared residual"} if noise_floor is None else {})
    figure = make_subplots(1, len(shown), subplot_titles=[names[n] for n in shown], horizontal_spacing=0.1)
    across = {
        label: running(_numbers(history[key]))
        for label, key in (("evaluations", "evaluations"), ("seconds", "seconds"))
        if key in history
    } or {"iterations": np.arange(1.0, count + 1)}
    spans = _stages(history.get("stage"), count)
    choices: dict[str, list[np.ndarray]] = {label: [] for label in across}
    first = next(iter(across))
    for column, name in enumerate(shown, 1):
        values = _numbers(history[name])
        for number, (stage, start, stop) in enumerate(spans):
            some = _thinned(max(start - 1, 0), stop)
            for label, x in across.items():
                choices[label].append(x[some])
            figure.add_scatter(
                x=across[first][some],
                y=values[some],
                mode="lines" if len(some) > 1 else "markers",
                line={"color": LINES[number % len(LINES)], "width": 2},
                name=stage,
                legendgroup=f"{number}",
                showlegend=column == 1 and len(spans) > 1,
                hovertemplate=f"%{{x:.4~g}}<br>{names[name]} %{{y:.4~g}}<extra>{stage}</extra>",
                row=1,
                col=column,
            )
    dress(figure, height=300, below=60, legend=len(spans) > 1)
    for column, name in enumerate(shown, 1):
        _vertical(figure, column, _numbers(history[name]), noise_floor if name == "misfit" else None)
    figure.update_xaxes(title_text=first, gridcolor=RULE, rangemode="tozero")
    figure.update_layout(
        legend={"orientation": "h", "x": 0, "y": -0.24, "yanchor": "top", "font": {"size": 12}},
        updatemenus=[_switch(choices, len(shown))] if len(choices) > 1 else [],
        margin={"b": 100 if len(spans) > 1 else 60},
    )
    return stack_when_narrow(
        figure, [220] * len(shown), between=96, also={"legend.y": -0.13 if len(shown) > 1 else -0.3}
    )


def running(values: np.ndarray) -> np.ndarray:
    """A counter that never falls: where it starts again, it goes on from what it had reached."""
    reached = np.where(np.diff(values) < 0, values[:-1], 0.0)
    return values + np.concatenate([[0.0], np.cumsum(reached)])


def _vertical(figure: go.Figure, column: int, values: np.ndarray, floor: float | None) -> None:
    """A logarithmic axis where all values are positive, with the noise floor."""
    finite = values[np.isfinite(values)]
    kind: dict[str, Any] = {"gridcolor": RULE}
    if finite.min() > 0:
        ends = np.append(finite, floor) if floor else finite
        low, high = float(ends.min()) / 1.7, float(ends.max()) * 1.4
        ticks = log_ticks(low, high)
        ticks = [t for t in ticks if high / low < 200 or f"{t:e}".startswith("1.0")]
        kind |= {"type": "log", "range": [np.log10(low), np.log10(high)], "tickvals": ticks}
        kind["ticktext"] = [f"{t:g}" for t in ticks]
    figure.update_yaxes(row=1, col=column, **kind)
    if floor:
        figure.add_hline(y=floor, line={"color": INK, "width": 1.2, "dash": "dash"}, row=1, col=column)  # pyright: ignore[reportArgumentType]
        figure.add_annotation(
            x=0.01,
            xref="x domain" if column == 1 else f"x{column} domain",
            y=np.log10(floor) if "type" in kind else floor,
            text="noise floor",
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
            font={"size": 12, "color": MUTED},
            row=1,
            col=column,
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


def _switch(choices: Mapping[str, list[np.ndarray]], columns: int) -> dict[str, Any]:
    """Buttons that exchange the horizontal axis."""
    axes = ["xaxis", "xaxis2"][:columns]
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
