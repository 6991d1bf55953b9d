"""What a method sees from the front that knows no volume."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class OwnView:
    """A method's own map; the volume beside it is only lifted from it.

    Args:
        mask: pixels (y, x) with a defect under them.
        depth: of its top, (y, x), in the grid's unit; NaN where there is none.
        clear: how clearly a defect shows, (y, x), 1 at the method's own threshold: for masks at another one. Not saved.
        everywhere: the depth that each pixel has by itself, (y, x), for these masks. Not saved.
    """

    mask: np.ndarray
    depth: np.ndarray
    clear: np.ndarray | None = None
    everywhere: np.ndarray | None = None
