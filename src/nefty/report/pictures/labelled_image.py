"""A map as a PNG picture that stands alone: title, axes in lengths, colour bar. Row 0 on top, as the camera sees it."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from nefty.core.errors import InputError
from nefty.report.figures.front_maps import SOUND
from nefty.report.figures.style import INK, MUTED, Scale

#: Pixels of the picture: longest side of the map, margins around it, text, colour bar.
LONGEST = 800
LEFT, TOP, RIGHT, BELOW = 120, 130, 240, 120
TITLE, TEXT = 34, 26
BAR, TICK = 34, 9


@dataclass(frozen=True, eq=False)
class LabelledMap:
    """What to draw.

    Args:
        title: above the map.
        values: (y, x); NaN is grey.
        size: edge lengths along (y, x).
        scale: how values become colours.
        label: quantity and unit of the colours.
        unit: of the lengths.
        limits: of the colours; those of ``scale`` if not given.
        note: a line below the title.
        marks: words and their places (y, x).
    """

    title: str
    values: np.ndarray
    size: tuple[float, float]
    scale: Scale
    label: str
    unit: str = ""
    limits: tuple[float, float] | None = None
    note: str = ""
    marks: Sequence[tuple[str, tuple[float, float]]] = ()


def labelled_image(given: LabelledMap) -> bytes:
    """The picture as a PNG file."""
    if given.values.ndim != 2 or not given.values.size:
        raise InputError(f"the map has shape {given.values.shape}; give values (y, x).")
    scale = LONGEST / max(given.size)
    height, width = (max(round(s * scale), 40) for s in given.size)
    picture = Image.new("RGB", (LEFT + width + RIGHT, TOP + height + BELOW), "white")
    draw = ImageDraw.Draw(picture)
    low, high = given.limits or given.scale.limits(given.values)
    map_image = Image.fromarray(coloured(given.values, given.scale, low, high)).resize(
        (width, height), Image.Resampling.NEAREST
    )
    picture.paste(map_image, (LEFT, TOP))
    draw.rectangle((LEFT - 1, TOP - 1, LEFT + width, TOP + height), outline=MUTED)
    draw.text((LEFT, 22), _drawable(given.title), font=_font(TITLE), fill=INK)
    draw.text((LEFT, 70), _drawable(given.note), font=_font(TEXT), fill=MUTED)
    _axes(draw, given, (height, width))
    _bar(picture, draw, given, (low, high), (height, width))
    for word, (y, x) in given.marks:
        at = (LEFT + x / given.size[1] * width, TOP + y / given.size[0] * height)
        radius = 20
        disc = (at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius)
        draw.ellipse(disc, fill="white", outline=MUTED)
        draw.text(at, _drawable(word), font=_font(TEXT), fill=INK, anchor="mm")
    content = io.BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from ``low`` to ``high``, at most ``most`` of them."""
    if not low < high:
        raise InputError(f"an axis needs low < high, got {low:g} and {high:g}.")
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(m * power for m in (1, 2, 5, 10, 20) if (high - low) / (m * power) <= most - 1 + 1e-9)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _axes(draw: ImageDraw.ImageDraw, given: LabelledMap, shape: tuple[int, int]) -> None:
    height, width = shape
    unit = f" ({given.unit})" if given.unit else ""
    for tick in nice_ticks(0.0, given.size[1], max(2, width // 110)):
        x = LEFT + tick / given.size[1] * width
        draw.line((x, TOP + height, x, TOP + height + TICK), fill=MUTED, width=2)
        draw.text((x, TOP + height + TICK + 6), f"{tick:g}", font=_font(TEXT), fill=INK, anchor="ma")
    for tick in nice_ticks(0.0, given.size[0], max(2, height // 80)):
        y = TOP + tick / given.size[0] * height
        draw.line((LEFT - TICK, y, LEFT, y), fill=MUTED, width=2)
        draw.text((LEFT - TICK - 6, y), f"{tick:g}", font=_font(TEXT), fill=INK, anchor="rm")
    draw.text((LEFT + width / 2, TOP + height + 66), _drawable(f"x{unit}"), font=_font(TEXT), fill=INK, anchor="ma")
    _upright(draw, f"y{unit}", (20, TOP + height // 2))


def _bar(
    picture: Image.Image,
    draw: ImageDraw.ImageDraw,
    given: LabelledMap,
    limits: tuple[float, float],
    shape: tuple[int, int],
) -> None:
    (low, high), (height, width) = limits, shape
    left = LEFT + width + 34
    ramp = np.linspace(high, low, max(height, 2))[:, None]
    picture.paste(Image.fromarray(coloured(ramp, given.scale, low, high)).resize((BAR, height)), (left, TOP))
    for tick in nice_ticks(low, high, max(2, height // 80)):
        y = TOP + (high - tick) / (high - low) * height
        draw.line((left + BAR, y, left + BAR + TICK, y), fill=MUTED, width=2)
        draw.text((left + BAR + TICK + 6, y), f"{tick:g}", font=_font(TEXT), fill=INK, anchor="lm")
    _upright(draw, given.label, (left + BAR + 112, TOP + height // 2))


def _upright(draw: ImageDraw.ImageDraw, text: str, at: tuple[int, int]) -> None:
    """Text from bottom to top, its left edge and its middle at ``at``."""
    text, font = _drawable(text), _font(TEXT)
    width = math.ceil(draw.textlength(text, font=font))
    line = Image.new("L", (max(width, 1), TEXT + 10), 0)
    ImageDraw.Draw(line).text((0, 0), text, font=font, fill=255)
    turned = line.rotate(90, expand=True)
    draw.bitmap((at[0], at[1] - turned.height // 2), turned, fill=INK)


def coloured(values: np.ndarray, scale: Scale, low: float, high: float) -> np.ndarray:
    """Red, green and blue, uint8 (y, x, 3); NaN becomes the grey of sound pixels."""
    table = _colours(scale.name)
    share = np.clip((np.nan_to_num(values, nan=low) - low) / (high - low), 0, 1)
    image = np.rint(255 * table[np.rint(255 * share).astype(int)]).astype(np.uint8)
    image[np.isnan(values)] = [int(SOUND[i : i + 2], 16) for i in (1, 3, 5)]
    return image


def plain_image(values: np.ndarray, scale: Scale, limits: tuple[float, float]) -> bytes:
    """The map alone as a PNG file, a pixel for each value."""
    content = io.BytesIO()
    Image.fromarray(coloured(values, scale, *limits)).save(content, "PNG", compress_level=1)
    return content.getvalue()


@cache
def _colours(name: str | tuple[str, ...]) -> np.ndarray:
    """Red, green and blue, 0 to 1, (256, 3)."""
    from plotly.colors import sample_colorscale

    given: Any = list(name) if isinstance(name, tuple) else name
    return np.array(sample_colorscale(given, np.linspace(0, 1, 256).tolist(), colortype="tuple"))


def _drawable(text: str) -> str:
    """Text in the letters that the font has."""
    return text.replace("²", "2").replace("³", "3").replace("−", "-").replace("\u00a0", " ").replace("⌀", "diameter")


def _font(size: int) -> Any:
    return ImageFont.load_default(size)
