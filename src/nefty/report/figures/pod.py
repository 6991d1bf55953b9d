"""Figures of a probability of detection: the curve with its confidence, and signals against sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from nefty.metrics.detection import Pod
from nefty.report.figures.curves import log_axis
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import BLUE, INK, MUTED, ORANGE, RULE, VERMILION, axis_title, dress

#: Points along a curve, and the probabilities at its ends.
POINTS = 160
ENDS = (0.005, 0.995)


def pod_curve(pod: Pod, sizes: np.ndarray, hits: np.ndarray, unit: str = "") -> go.Figure:
    """POD against size with its lower confidence curve; hits as ticks on top, misses at the bottom.

    Args:
        pod: the fit.
        sizes: of the targets.
        hits: whether each was found.
        unit: of the sizes.
    """
    figure = go.Figure()
    lines = _lines(pod, sizes)
    sides = f"lower {100 * pod.confidence:.3g} % confidence"
    for name, (x, y), line in (
        ("POD", lines[0], {"color": BLUE, "width": 2.6}),
        (f"{sides}, likelihood ratio", lines[2], {"color": BLUE, "width": 1.4, "dash": "dash"}),
        (f"{sides}, Wald", lines[1], {"color": BLUE, "width": 1.2, "dash": "dot"}),
    ):
        if len(x):
            figure.add_scatter(
                x=x, y=y, mode="lines", line=line, name=name,
                hovertemplate="size %{x:.3~g}<br>%{y:.3f}<extra>%{fullData.name}</extra>",
            )  # fmt: skip
    for name, here, level, colour in (("found", hits, 1.0, INK), ("missed", ~hits, 0.0, VERMILION)):
        figure.add_scatter(
            x=sizes[here],
            y=np.full(int(here.sum()), level),
            mode="markers",
            marker={"symbol": "line-ns", "size": 13, "line": {"color": colour, "width": 1.4}},
            name=f"{name}, {int(here.sum())}",
            hovertemplate=f"{name}: size %{{x:.3~g}}<extra></extra>",
        )
    _mark_a90(figure, pod, unit)
    dress(figure, height=380, below=60, legend=True)
    figure.update_yaxes(title_text="probability of detection", range=[-0.04, 1.06], gridcolor=RULE)
    _size_axis(figure, pod, np.concatenate([sizes, lines[0][0]]), unit)
    figure.update_layout(legend=_LEGEND, margin={"t": 100})
    return stack_when_narrow(figure, [300])


def signal_plot(pod: Pod, sizes: np.ndarray, signals: np.ndarray, threshold: float, unit: str = "") -> go.Figure:
    """Signals against sizes with the fitted line, the band of 90 % of the signals, and the threshold.

    Args:
        pod: the fit, on logarithmic signals.
        sizes: of the targets.
        signals: of each.
        threshold: above it is a detection.
        unit: of the sizes.
    """
    figure = go.Figure()
    logarithmic = pod.transform == "log"
    ends = (float(sizes.min()), float(sizes.max()))
    x = np.geomspace(*ends, POINTS) if logarithmic else np.linspace(*ends, POINTS)
    beta0, beta1, precision = pod.parameters
    middle = (beta0 + beta1 * (np.log(x) if logarithmic else x)) / precision
    half = 1.645 / precision
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.exp(np.concatenate([middle + half, (middle - half)[::-1]])),
        fill="toself",
        fillcolor="rgba(0, 114, 178, 0.12)",
        line={"width": 0},
        hoverinfo="skip",
        name="90 % of the signals",
    )
    figure.add_scatter(x=x, y=np.exp(middle), mode="lines", line={"color": BLUE, "width": 2.2}, name="fit")
    figure.add_scatter(
        x=sizes,
        y=signals,
        mode="markers",
        marker={"size": 7, "color": "white", "line": {"color": INK, "width": 1.4}},
        name="targets",
        hovertemplate="size %{x:.3~g}<br>signal %{y:.3~g}<extra></extra>",
    )
    dress(figure, height=360, below=60, legend=True)
    lines = {"color": VERMILION, "width": 1.6, "dash": "dash"}
    figure.add_hline(y=threshold, line=lines, annotation_text="threshold")  # pyright: ignore[reportArgumentType]
    values = np.concatenate([signals[signals > 0], np.exp(middle), [threshold]])
    low, high = float(values.min()) / 1.4, float(values.max()) * 1.4
    figure.update_yaxes(title_text="signal", gridcolor=RULE, **log_axis(low, high))
    _size_axis(figure, pod, sizes, unit)
    figure.update_layout(legend=_LEGEND)
    return stack_when_narrow(figure, [300])


_LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}


def _lines(pod: Pod, sizes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The curve, and the lower confidence curves by Wald and by the likelihood ratio: points (size_bound(p), p)."""
    ends = (float(sizes.min()), float(sizes.max()))
    far = (ends[0] / 3, 3 * ends[1]) if pod.transform == "log" else (ends[0] - np.ptp(ends), ends[1] + np.ptp(ends))
    least, most = (pod.size(p * pod.ceiling) for p in ENDS)
    low, high = max(least, far[0]), min(max(most, ends[1]), far[1])
    x = np.geomspace(low, high, POINTS) if pod.transform == "log" else np.linspace(low, high, POINTS)
    curves = [(x, pod(x))]
    for method, steps in (("wald", 60 if pod.limited is None else 0), ("likelihood", 30)):
        p = np.linspace(0.02, 0.98, steps) * (1.0 if pod.asymptote is None else pod.ceiling)
        bounds = np.array([pod.size_bound(float(q), method) for q in p])
        kept = np.isfinite(bounds) & (bounds <= far[1])
        curves.append((bounds[kept], p[kept]))
    return curves


def _mark_a90(figure: go.Figure, pod: Pod, unit: str) -> None:
    """Lines at POD 0.9, at a90 and at its bound, or that there is none; the asymptote; false calls beside them."""
    line = {"color": MUTED, "width": 1, "dash": "dot"}
    figure.add_hline(y=0.9, line=line)  # pyright: ignore[reportArgumentType]
    name = f"a90/{100 * pod.confidence:.3g}"
    marks = [("a90", pod.a90), (name, pod.a90_bound)] if pod.reaches(0.9) else []
    texts = [] if marks else ["no a90"]
    for level, (word, size) in zip((0.16, 0.26), marks, strict=False):
        if not math.isfinite(size):
            texts.append(f"no {word}")
        elif size > 0 or pod.transform == "linear":
            figure.add_vline(x=size, line=line)  # pyright: ignore[reportArgumentType]
            at = math.log10(size) if pod.transform == "log" else size
            _write(figure, f"{word} = {size:.3g} {unit}".rstrip(), x=at, y=level, xanchor="right", xshift=-6)
    texts.append(f"false calls {'not measured' if pod.false_calls is None else pod.false_calls.short}")
    _write(figure, ", ".join(texts), xref="paper", x=0.995, y=0.06, xanchor="right")
    if pod.limited is not None:
        ceiling = {"color": ORANGE, "width": 1.6, "dash": "dash"}
        figure.add_hline(y=pod.ceiling, line=ceiling)  # pyright: ignore[reportArgumentType]
        _write(figure, f"asymptote {pod.ceiling:.3g}", xref="paper", x=0.005, y=pod.ceiling, xanchor="left")


def _write(figure: go.Figure, text: str, **where: Any) -> None:
    figure.add_annotation(text=text, showarrow=False, bgcolor="rgba(255, 255, 255, 0.85)", **where)


def _size_axis(figure: go.Figure, pod: Pod, values: np.ndarray, unit: str) -> None:
    title = axis_title("size", unit)
    if pod.transform == "linear":
        figure.update_xaxes(title_text=title, gridcolor=RULE)
        return
    low, high = float(values.min()) / 1.08, float(values.max()) * 1.08
    steps = (1, 2, 3, 5, 7) if high / low < 30 else (1, 2, 5)
    figure.update_xaxes(title_text=title, gridcolor=RULE, **log_axis(low, high, steps))
