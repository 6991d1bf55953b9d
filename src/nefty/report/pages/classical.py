"""The page of a classical method: its maps, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nefty.core.provenance import provenance
from nefty.core.words import quantity
from nefty.data.sequence import Sequence as Recording
from nefty.report.figures.front_maps import DepthMap, depth_maps
from nefty.report.figures.images import coarseness
from nefty.report.figures.style import DEPTH, DIFFERENCE, TEMPERATURE, AxisUnits, Scale, units_of
from nefty.report.pages.page import Fact, Page, Section

#: What is good, what is bad, what to do.
DEPTH_LOOKS = (
    "A flat depth over each defect, and elsewhere the thickness of the part, or nothing (grey).",
    "Depths that follow the heating or the edges of the image, or speckle: noise, gains, or lateral heat flow.",
    "Give a mask of a sound region, a window of time, more frames after the flash; or reconstruct the volume.",
)


def classical_page(
    chosen: Any, result: Any, sequence: Recording, source: str, lines: Sequence[str], given: Mapping[str, Any]
) -> Page:
    """Build the page.

    Args:
        chosen: the method.
        result: what it found.
        sequence: the recording.
        source: its file.
        lines: the summary, as printed.
        given: options by name.
    """
    described: Any = sequence  # the words for the units are in the meta data of either
    units = units_of(described)
    size = sequence.size[1:] if sequence.size is not None else (float(sequence.shape[1]), float(sequence.shape[2]))
    if sequence.size is None:
        units = AxisUnits("pixels", units.time, units.temperature, units.diffusivity)
    maps = result.maps()
    depth = maps.get("depth")
    found = depth[np.isfinite(depth)] if depth is not None else np.empty(0)
    facts = [Fact("Method", chosen.title, chosen.note)]
    if depth is not None:
        middle = quantity(float(np.median(found)), units.length) if found.size else "none"
        facts.append(Fact("Median depth", middle, f"in {100 * found.size / depth.size:.3g} % of the pixels"))
    return Page(
        title=f"{chosen.title}: {'depth' if depth is not None else 'contrast'}, pixel by pixel",
        lead=f"{source}: {sequence.shape[0]} frames of {sequence.shape[2]} × {sequence.shape[1]} pixels. "
        "Every pixel is treated separately; lateral heat flow is not accounted for.",
        sections=[_section(label, image, size, units) for label, image in maps.items()],
        facts=facts,
        provenance={**{k: str(v) for k, v in given.items()}, **{k: str(v) for k, v in provenance().items()}},
        details={"Summary": "\n".join(line.strip() for line in lines)},
    )


def _section(label: str, image: np.ndarray, size: tuple[float, float], units: AxisUnits) -> Section:
    scale, unit = scale_of(label, units)
    words = f"{label} ({unit})" if unit else label
    figure = depth_maps([DepthMap(label, _coarser(image), scale, words)], size, units)
    shows = f"The {label} of every pixel; grey where there is none."
    looks = DEPTH_LOOKS if label == "depth" else ("", "", "")
    return Section(label.capitalize(), shows, *looks, figure=figure)


def scale_of(label: str, units: AxisUnits) -> tuple[Scale, str]:
    """Colours and unit of a map, by its name."""
    if label == "depth":
        return DEPTH, units.length
    if label in ("peak time", "timegram"):
        return DEPTH, units.time
    if label.startswith(("component", "phase")):
        return DIFFERENCE, "rad" if label.startswith("phase") else ""
    return TEMPERATURE, units.temperature if label == "maxigram" else ""


def _coarser(image: np.ndarray) -> np.ndarray:
    """Every n-th pixel of a large image, to keep the page small; the maps themselves are in the .npz file."""
    step = coarseness((image.shape[0], image.shape[1]))
    return image[::step, ::step]
