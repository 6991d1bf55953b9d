"""How PINNs train: their losses, and the data loss of a method with the equation as a constraint (paper, figure 5)."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.bench.suites.presentation.columns import title_of
from nefty.bench.suites.presentation.images import Example, example
from nefty.data.preparation.sampling import evenly_in_log
from nefty.report.figures.curves import log_axis
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import BLUE, GREEN, RULE, VERMILION, dress
from nefty.report.pages.page import Section

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Suite
    from nefty.bench.tasks.task import Outcome

LOSSES = {"data": ("data", BLUE), "pde": ("equation", VERMILION), "ic": ("initial temperature", GREEN)}
MOST_POINTS = 300
ACROSS = 3  # panels in a row
HEIGHT, ABOVE, BETWEEN = 210, 40, 70


def training(suite: Suite, done: Done) -> list[Section]:
    """Losses of every PINN on one specimen per data set and kind, all on one scale."""
    sections = []
    for data, source in suite.data.items():
        for kind in source.kinds:
            shown = example(suite, done, [data], kind)
            soft = {} if shown is None else {n: o for n, o in shown.outcomes.items() if "pde" in o.history}
            if shown is None or not soft:
                continue
            sections.append(
                Section(
                    title_of(suite, "Training of the PINNs", [data], kind),
                    f"Losses without dimension over the iterations, of {shown}: squared errors of the surface and of "
                    "the initial temperature over the flash's amplitude squared, squared residuals of the heat "
                    "equation over their scale. All panels have one scale.",
                    good="All three fall together, the data loss as low as the broken line.",
                    bad="The data loss falls while the residual stays: the temperature network explains the surface "
                    "without the equation, and the diffusivity hears nothing of the data.",
                    do="Look at the IoU beside these curves before you believe a small data loss.",
                    figure=_panels(soft, _hard(suite, shown)),
                )
            )
    return sections


def _hard(suite: Suite, shown: Example) -> tuple[str, np.ndarray] | None:
    """Name and data loss per iteration of the first method that solves the equation, in the units of the PINNs'."""
    for row in suite.methods:
        outcome = shown.outcomes.get(row.name)
        if outcome is None or "pde" in outcome.history or "misfit" not in outcome.history:
            continue
        unit = outcome.facts.get("relative_noise")
        if unit:
            return row.name, np.asarray(outcome.history["misfit"], dtype=np.float64) * unit**2
    return None


def _panels(soft: dict[str, Outcome], hard: tuple[str, np.ndarray] | None) -> go.Figure:
    """A panel per method, all with the same axes."""
    names = list(soft)
    rows = -(-len(names) // ACROSS)
    height = ABOVE + rows * HEIGHT + (rows - 1) * BETWEEN + 90
    inside = height - ABOVE - 90
    figure = make_subplots(
        rows,
        min(ACROSS, len(names)),
        subplot_titles=[html.escape(name) for name in names],
        horizontal_spacing=0.07,
        vertical_spacing=BETWEEN / inside if rows > 1 else 0.0,
    )
    values, longest = [], 1
    for index, name in enumerate(names):
        place: dict[str, Any] = {"row": index // ACROSS + 1, "col": index % ACROSS + 1}
        curves = [(words, colour, "solid", soft[name].history[key]) for key, (words, colour) in LOSSES.items()]
        if hard is not None:
            curves.append((f"data, {hard[0]}", BLUE, "dash", hard[1]))
        for words, colour, dash, losses in curves:
            iterations, losses = _thinned(np.asarray(losses, dtype=np.float64))
            values.append(losses)
            longest = max(longest, int(iterations[-1]) if len(iterations) else 1)
            figure.add_scatter(
                x=iterations.astype(np.float32),
                y=losses.astype(np.float32),
                mode="lines",
                name=html.escape(words),
                legendgroup=words,
                showlegend=index == 0,
                line={"color": colour, "width": 1.8, "dash": dash},
                hovertemplate="iteration %{x:.4~g}<br>%{y:.3~g}<extra>%{fullData.name}</extra>",
                **place,
            )
    dress(figure, height=height, below=90, legend=True)
    everything = np.concatenate(values)
    low, high = float(everything.min()) / 1.5, float(everything.max()) * 1.5
    figure.update_yaxes(gridcolor=RULE, **log_axis(low, high, (1,)))
    figure.update_xaxes(gridcolor=RULE, **log_axis(1.0, float(longest) * 1.05, (1,)))
    figure.update_xaxes(title_text="iterations", row=rows)
    figure.update_yaxes(title_text="loss", col=1)
    below = -56 / inside
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": below, "yanchor": "top", "font": {"size": 12}})
    return stack_when_narrow(figure, [220] * len(names), between=90)


def _thinned(losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Iterations from 1 and losses, at points that are even in log; only what can be drawn there."""
    iterations = np.arange(1.0, len(losses) + 1)
    some = evenly_in_log(iterations, MOST_POINTS)
    some = some[np.isfinite(losses[some]) & (losses[some] > 0)]
    return iterations[some], losses[some]
