"""A reconstruction at a glance in a notebook: key facts and the depth map, without any plotting library."""

from __future__ import annotations

import base64
import html
import io
import math
from typing import TYPE_CHECKING

import numpy as np

from nefty.result.display_units import display_units, in_display_units

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

#: Six colours of viridis, from shallow to deep, and the grey of sound pixels.
COLOURS = np.array([(253, 231, 37), (122, 209, 81), (34, 168, 132), (42, 120, 142), (65, 68, 135), (68, 1, 84)])
SOUND = (235, 238, 241)
WIDTH = 240


def notebook_html(rec: Reconstruction) -> str:
    """A table and an image as one piece of HTML; nothing is fetched."""
    rec = in_display_units(rec)
    defects, unit, diffusivity = rec.defects(), rec.unit("length"), display_units(rec.facts.units).diffusivity.word
    facts = {
        "cells (z, y, x)": " × ".join(map(str, rec.grid.shape)),
        "size (z, y, x)": " × ".join(f"{s:g}" for s in rec.grid.size) + f" {unit}",
        "background": f"{rec.background.min():.3g} to {rec.background.max():.3g} {diffusivity}",
        "indications": str(len(defects)),
        "fit": rec.verdict().text,
    }
    if defects:
        first = defects[0]
        weighed = math.isfinite(first.evidence)
        score = f", {first.evidence:.3g} standard deviations" if weighed else ""
        name = "clearest indication" if weighed else "largest indication"
        facts[name] = f"depth {first.depth_to_top:.3g}, diameter {first.diameter:.3g} {unit}{score}"
    if rec.stopped.text:
        facts["stopped"] = rec.stopped.text
    rows = "".join(
        f"<tr><th style='text-align:left;vertical-align:top'>{html.escape(name)}</th>"
        f"<td style='text-align:left;max-width:28em'>{html.escape(value.strip())}</td></tr>"
        for name, value in facts.items()
    )
    return (
        "<div style='display:flex;gap:2em;align-items:flex-start;flex-wrap:wrap'>"
        f"<table>{rows}</table>{_figure(rec.depth_map(), rec.grid.size[1:], unit)}</div>"
    )


def _figure(depths: np.ndarray, size: tuple[float, float], unit: str) -> str:
    known = depths[np.isfinite(depths)]
    if known.size:
        low, high = float(known.min()), float(known.max())
        legend = f"depth to the top, {low:.3g} (yellow) to {high:.3g} {unit} (violet); grey: no indication"
    else:
        low, high, legend = 0.0, 1.0, "depth to the top: no indication found"
    data = base64.b64encode(png(colours(depths, low, high))).decode()
    height = max(round(WIDTH * size[0] / size[1]), 1)
    return (
        f"<figure style='margin:0;width:{WIDTH}px'><img alt='depth map' width='{WIDTH}' height='{height}' "
        f"style='image-rendering:pixelated' src='data:image/png;base64,{data}'>"
        f"<figcaption>{html.escape(legend.strip())}</figcaption></figure>"
    )


def colours(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Red, green and blue of each value, uint8 (y, x, 3); NaN becomes grey."""
    share = (np.nan_to_num(values, nan=low) - low) / ((high - low) or 1.0)
    stops = np.linspace(0, 1, len(COLOURS))
    image = np.stack([np.interp(share, stops, channel) for channel in COLOURS.T], axis=-1)
    image[np.isnan(values)] = SOUND
    return np.rint(image).astype(np.uint8)


def png(image: np.ndarray) -> bytes:
    """An RGB image, uint8 (y, x, 3), as a PNG file."""
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(image).save(content, "PNG", optimize=True)
    return content.getvalue()
