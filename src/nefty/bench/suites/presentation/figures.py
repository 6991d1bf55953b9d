"""The figures of a suite, each with how to read it: spectra, loss curves, seconds; volumes are in ``images``."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.bench.suites.presentation.columns import by_method, title_of
from nefty.bench.suites.presentation.images import example, slices, surface_errors
from nefty.bench.suites.presentation.plate_figures import depth_maps
from nefty.bench.suites.presentation.trade_off import trade_off_figures
from nefty.bench.suites.presentation.training_figures import training
from nefty.bench.tasks.simulated import SLAB
from nefty.data.preparation.sampling import evenly_in_log
from nefty.report.figures.convergence import running
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import BUTTONS, INK, LINES, MUTED, RULE, dress
from nefty.report.pages.page import Section

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Suite
    from nefty.bench.tasks.task import Outcome

HEIGHT = 380
MOST_POINTS = 200
DASHES = ("solid", "dash", "dot")


def suite_figures(suite: Suite, done: Done, name: str) -> list[Section]:
    """The figures called ``name``; none where there is nothing to draw."""
    return FIGURES[name](suite, done) if suite.methods else []


def spectra(suite: Suite, done: Done) -> list[Section]:
    """Mean radial power spectrum per method, the truth in black; a figure per data set, a panel per kind."""
    sections = []
    for data in suite.data:
        figure, kinds = _panels(suite, done, data)
        for column, kind in enumerate(kinds, 1):
            methods = _on_common_specimens(suite, done, data, kind)
            seen = {o.task.seed: o for _, own in methods for o in own}
            frequency = next(iter(seen.values())).spectrum["frequency"]
            lines = [("truth", {"color": INK, "width": 3}, _mean([o.spectrum["true"] for o in seen.values()]))]
            for index, own in methods:
                name, power = suite.methods[index].name, _mean([o.spectrum["found"] for o in own])
                lines.append((name, _line(index), power))
            for name, line, power in lines:
                _add_line(figure, column, name, frequency, power, line, "|k| %{x:.3~g}<br>power %{y:.3~g}")
            nyquist = 0.5 * suite.data[data].shape[0] / SLAB[0]
            axis: Any = {"row": 1, "col": column}
            figure.add_vline(x=nyquist, line={"color": MUTED, "width": 1, "dash": "dash"}, **axis)
        if not kinds:
            continue
        figure.update_xaxes(title_text="spatial frequency |k| (cycles per length unit)")
        sections.append(
            Section(
                title_of(suite, "Power spectra", [data]),
                "Power of the diffusivity around the true defects by spatial frequency, averaged over directions and "
                "over the specimens that all methods have. The dashed line is the highest frequency that the cells "
                "resolve along z.",
                good="A curve on that of the truth: structure of all sizes is recovered.",
                bad="A curve that falls off early: blurred. One above the truth: noise or rings.",
                do="Lower the smoothing of a method that falls off, raise that of one that lies above.",
                figure=_dressed(figure, len(kinds), "mean power"),
            )
        )
    return sections


def convergence(suite: Suite, done: Done) -> list[Section]:
    """Misfit of every method on one specimen per kind, by iterations and by seconds; a figure per data set."""
    sections = []
    for data in suite.sources:
        figure, kinds = _panels(suite, done, data)
        across: dict[str, list[np.ndarray]] = {"iterations": [], "seconds": []}
        specimens = []
        for column, kind in enumerate(kinds, 1):
            shown = example(suite, done, [data], kind)
            assert shown is not None
            specimens.append(str(shown))
            for index, row in enumerate(suite.methods):
                curve = _curve(shown.outcomes[row.name]) if row.name in shown.outcomes else None
                if curve is None:
                    continue
                iterations, seconds, misfit = curve
                across["iterations"].append(iterations)
                across["seconds"].append(seconds)
                _add_line(figure, column, row.name, iterations, misfit, _line(index), "%{x:.4~g}<br>misfit %{y:.4~g}")
        if not across["iterations"]:
            continue
        figure.update_xaxes(title_text="iterations", type="log")
        figure.update_layout(updatemenus=[_switch(across, len(kinds))])
        sections.append(
            Section(
                title_of(suite, "Loss curves", [data]),
                f"Mean squared residual over noise², of one specimen per kind: {'; '.join(specimens)}. The buttons "
                "exchange iterations and seconds.",
                good="A steep fall to a plateau.",
                bad="A curve that ends while it still falls: the budget ended it. A plateau far above the others.",
                do="Give a method that is still falling a larger budget before you judge it.",
                figure=_dressed(figure, len(kinds), "misfit / noise²", buttons=True),
            )
        )
    return sections


def seconds(suite: Suite, done: Done) -> list[Section]:
    """Seconds of every reconstruction; a figure per data set, a panel per kind."""
    sections = []
    for data in suite.sources:
        figure, kinds = _panels(suite, done, data)
        for column, kind in enumerate(kinds, 1):
            for index, (row, own) in enumerate(by_method(suite, done, [data], kind)):
                times = [o.facts["seconds"] for o in own if o.facts.get("seconds")]
                if not times:
                    continue
                box = go.Box(
                    y=np.asarray(times, dtype=np.float32),
                    name=html.escape(row.name),
                    boxpoints="all",
                    jitter=0.4,
                    pointpos=0,
                    marker={"color": _line(index)["color"], "size": 4, "opacity": 0.7},
                    line={"width": 1.5},
                    fillcolor="rgba(0, 0, 0, 0)",
                    hovertemplate="%{y:.3~g} s<extra>%{x}</extra>",
                )
                figure.add_trace(box, 1, column)
        if not figure.data:
            continue
        sections.append(
            Section(
                title_of(suite, "Seconds", [data]),
                "Wall clock of every reconstruction, from the recording in memory to the volume; boxes hold the middle "
                "half.",
                good="A low, narrow box.",
                bad="A tail of slow specimens, or all at the budget: the method was cut off.",
                do="Look up the slow specimens in the JSON file; compare times only of one machine.",
                figure=_dressed(figure, len(kinds), "seconds", legend=False),
            )
        )
    return sections


FIGURES: dict[str, Callable[[Suite, Done], list[Section]]] = {
    "slices": slices,
    "spectra": spectra,
    "convergence": convergence,
    "training": training,
    "surface-errors": surface_errors,
    "seconds": seconds,
    "depth-maps": depth_maps,
    "trade-off": trade_off_figures,
}


def _panels(suite: Suite, done: Done, data: str) -> tuple[go.Figure, list[str]]:
    """An empty figure with a panel for each kind that has outcomes."""
    there = {entry.task.kind for entry, _ in done if entry.data == data}
    kinds = [kind for kind in suite.sources[data].kinds if kind in there]
    titles = [html.escape(kind) for kind in kinds]
    return make_subplots(1, max(len(kinds), 1), subplot_titles=titles, horizontal_spacing=0.08), kinds


def _on_common_specimens(suite: Suite, done: Done, data: str, kind: str) -> list[tuple[int, list[Outcome]]]:
    """Index of each method with outcomes, and those of the specimens that all have; all of them if none is common."""
    methods = [(i, own) for i, (_, own) in enumerate(by_method(suite, done, [data], kind)) if own]
    common = set.intersection(*({o.task.seed for o in own} for _, own in methods))
    return [(i, [o for o in own if o.task.seed in common]) for i, own in methods] if common else methods


def _mean(powers: Sequence[np.ndarray]) -> np.ndarray:
    """Mean of spectra bin by bin; NaN where a bin has no modes."""
    return np.mean(np.stack([np.asarray(power, dtype=np.float64) for power in powers]), axis=0)


def _curve(outcome: Outcome) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Iterations, seconds and misfit, thinned evenly in log; ``None`` if the method has left no such history."""
    misfit = np.asarray(outcome.history.get("misfit", ()), dtype=np.float64)
    clock = running(np.asarray(outcome.history.get("seconds", np.full(len(misfit), np.nan)), dtype=np.float64))
    iterations = np.arange(1.0, len(misfit) + 1)
    some = evenly_in_log(iterations, MOST_POINTS)
    some = some[np.isfinite(misfit[some]) & (misfit[some] > 0)]
    return (iterations[some], clock[some], misfit[some]) if some.size else None


def _line(index: int) -> dict[str, Any]:
    return {"color": LINES[index % len(LINES)], "width": 2, "dash": DASHES[index // len(LINES) % len(DASHES)]}


def _add_line(
    figure: go.Figure, column: int, name: str, x: np.ndarray, y: np.ndarray, line: dict[str, Any], hover: str
) -> None:
    known, name = np.isfinite(y) & (y > 0), html.escape(name)
    figure.add_scatter(
        x=x[known].astype(np.float32),
        y=y[known].astype(np.float32),
        mode="lines" if known.sum() > 1 else "markers",
        line=line,
        name=name,
        legendgroup=name,
        showlegend=not any(trace.legendgroup == name for trace in figure.data),  # pyright: ignore[reportAttributeAccessIssue]
        hovertemplate=f"{hover}<extra>%{{fullData.name}}</extra>",
        row=1,
        col=column,
    )


def _dressed(figure: go.Figure, panels: int, y: str, *, legend: bool = True, buttons: bool = False) -> go.Figure:
    """The common look, with logarithmic vertical axes and the legend below."""
    dress(figure, height=HEIGHT, below=112 if legend else 64, legend=legend)
    figure.update_yaxes(type="log", exponentformat="power", gridcolor=RULE)
    figure.update_yaxes(title_text=y, row=1, col=1)
    figure.update_xaxes(gridcolor=RULE)
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": -0.17, "yanchor": "top", "font": {"size": 12}})
    if buttons:
        figure.update_layout(margin={"t": 96}, height=HEIGHT + 96 + 112)
    return stack_when_narrow(figure, [260] * panels, between=96, also={"legend.y": -0.12 if panels > 1 else -0.25})


def _switch(across: dict[str, list[np.ndarray]], panels: int) -> dict[str, Any]:
    """Buttons that exchange the horizontal axis."""
    axes = [f"xaxis{'' if i == 0 else i + 1}" for i in range(panels)]
    return {
        **BUTTONS,
        "pad": {"b": 34},
        "buttons": [
            {
                "label": f"by {label}",
                "method": "update",
                "args": [{"x": [x.astype(np.float32) for x in xs]}, {f"{axis}.title.text": label for axis in axes}],
            }
            for label, xs in across.items()
        ],
    }
