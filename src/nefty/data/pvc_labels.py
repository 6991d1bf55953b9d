"""Labels of the PVC recordings: grey pictures that say the depth of the hole under each pixel."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.data.readers.png_frame import START

GREY_STEP, DEPTH_STEP, MOST_STEPS = 51, 0.5e-3, 5  # grey values and metres of a step; 255 is 2.5 mm
LARGEST = 1 << 14  # pixels along a side


def read_label(path: Path) -> np.ndarray:
    """Depth (y, x) in m of a label; NaN where the plate is sound."""
    grey = _read_grey(path)
    steps, rest = np.divmod(grey, GREY_STEP)
    wrong = (rest != 0) | (steps > MOST_STEPS)
    if wrong.any():
        values = ", ".join(str(v) for v in np.unique(grey[wrong])[:5])
        raise InputError(
            f"{path} holds the grey values {values} in {np.count_nonzero(wrong)} of {grey.size} pixels; a label has "
            f"only {', '.join(str(GREY_STEP * k) for k in range(MOST_STEPS + 1))}. It was scaled or packed with loss; "
            "copy the original."
        )
    return np.where(steps > 0, steps * DEPTH_STEP, np.nan)


def grey_of(depth: np.ndarray) -> np.ndarray:
    """The label (y, x), uint8, of depths in m; NaN is sound."""
    return np.rint(np.nan_to_num(depth / DEPTH_STEP) * GREY_STEP).astype(np.uint8)


def _read_grey(path: Path) -> np.ndarray:
    """Grey values (y, x) of a PNG of any kind whose colours are grey."""
    from PIL import Image

    with open(path, "rb") as file:
        if file.read(len(START)) != START:
            raise InputError(f"{path} is no PNG; copy it again from where it was made.")
    try:
        with Image.open(path, formats=("PNG",)) as image:
            if max(image.size) > LARGEST:
                raise ValueError(f"it says it has {image.size[1]} x {image.size[0]} pixels")
            if image.mode == "L":
                return np.asarray(image).astype(np.int64)
            colours = np.asarray(image.convert("RGB")).astype(np.int64)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{path} is damaged ({error}); copy it again from where it was made.") from None
    if (colours != colours[..., :1]).any():
        raise InputError(f"{path} shows colours, and a label is grey; copy the original.")
    return colours[..., 0]
