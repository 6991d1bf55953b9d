"""What every figure has in common: colours, units on axes, fonts, the look of Plotly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

if TYPE_CHECKING:
    from nefty.data.sequence import Sequence
    from nefty.result.reconstruction import Reconstruction

#: Colours of Okabe and Ito (2008), which people with any colour vision tell apart.
VERMILION, BLUE, GREEN, ORANGE, PURPLE, SKY = "#D55E00", "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9"
LINES = (VERMILION, BLUE, GREEN, ORANGE, PURPLE, SKY)
INK, MUTED, RULE = "#1f2933", "#616e7c", "#d9dee4"

#: Margin above the plots: titles, and above them the tool bar.
TOP = 60
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

#: Options given to Plotly.js with every figure.
CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "png", "scale": 2},
}

#: A row of buttons above a figure; add ``pad`` and ``buttons``.
BUTTONS = {
    "type": "buttons",
    "direction": "right",
    "x": 0,
    "y": 1,
    "xanchor": "left",
    "yanchor": "bottom",
    "bordercolor": RULE,
    "font": {"size": 12},
}


@dataclass(frozen=True)
class AxisUnits:
    """The words put in brackets behind the quantities on axes; the numbers themselves are never converted."""

    length: str = "length unit"
    time: str = "time unit"
    temperature: str = "temperature unit"
    diffusivity: str = "length²/time"


@dataclass(frozen=True)
class Scale:
    """How numbers become colours.

    Args:
        name: a Plotly colour scale that is perceptually uniform; or colours, spread evenly.
        centred: the range is symmetric about zero, whose colour is neutral.
        from_zero: the range starts at zero, unless the values go below.
        tick_format: d3 format of the numbers beside the colour bar.
    """

    name: str | tuple[str, ...]
    centred: bool = False
    from_zero: bool = False
    tick_format: str = "~g"

    def limits(self, values: np.ndarray) -> tuple[float, float]:
        """The colour range that holds all finite ``values``; never empty."""
        finite = np.asarray(values)[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        if self.centred:
            high = max(abs(low), abs(high))
            low = -high
        elif self.from_zero:
            low = min(low, 0.0)
        if high <= low:
            high = low + (abs(low) or 1.0)
        return low, high


TEMPERATURE = Scale("Inferno", from_zero=True)
DIFFERENCE = Scale("RdBu_r", centred=True)
DIFFUSIVITY = Scale("ice", from_zero=True)
#: Plasma without its yellow end, which is lost on white: shallow is light, deep is dark.
DEPTH = Scale(("#fca636", "#f1834c", "#dd5e66", "#c33d80", "#a31e9a", "#7201a8", "#41049d", "#0d0887"), from_zero=True)


def units_of(described: Sequence | Reconstruction) -> AxisUnits:
    """The words for the axes of a recording or a reconstruction; empty where unknown."""
    given = described.facts.units
    length, time, temperature, diffusivity = (
        _unmarked(word) for word in (given.length, given.time, given.temperature, given.diffusivity)
    )
    derived = f"{length}²/{time}" if length and time else ""
    return AxisUnits(length, time, temperature, diffusivity or derived)


def _unmarked(word: str) -> str:
    """Without what Plotly would take for markup."""
    return re.sub(r"[<>&{}%]", "", word)


def axis_title(quantity: str, unit: str) -> str:
    """``"x (mm)"``; the quantity alone if there is no unit."""
    return f"{quantity} ({unit})" if unit else quantity


def dress(figure: go.Figure, *, height: int, below: int = 52, legend: bool = False) -> go.Figure:
    """Give ``figure`` the common look, in place, and return it.

    Args:
        figure: what to dress.
        height: of the plots in pixels; the margins come on top.
        below: margin under the plots, for axis titles and sliders.
        legend: whether to show one.
    """
    figure.update_layout(
        template="none",
        height=TOP + height + below,
        autosize=True,
        font={"family": FONT, "size": 13, "color": INK},
        paper_bgcolor="white",
        plot_bgcolor="white",
        margin={"l": 64, "r": 24, "t": TOP, "b": below},
        showlegend=legend,
        hoverlabel={"font": {"family": FONT, "size": 12}},
    )
    figure.update_annotations(font={"size": 13, "color": INK})
    axis = {
        "linecolor": MUTED,
        "showline": True,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": MUTED,
        "tickfont": {"size": 12, "color": MUTED},
        "title": {"font": {"size": 13, "color": INK}, "standoff": 8},
        "zeroline": False,
        "automargin": True,
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    return figure
