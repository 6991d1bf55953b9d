"""What would have been seen in a part that was solved in tiles: by a tile, or by the overview, whichever sees less.

Each look has its own threshold (``join_evidence.shared``), for which its limits were worked out; what one of them finds
is found.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nefty.inversion.tiles.join_evidence import finer
from nefty.inversion.tiles.layout import Tile
from nefty.result.frame_evidence import FrameEvidence
from nefty.result.limits import Limits


def join_limits(
    tiles: Sequence[Tile], shown: Sequence[FrameEvidence], overview: FrameEvidence, joined: int, counted: np.ndarray
) -> Limits | None:
    """The limits of the whole picture; ``None`` where the overview has none.

    Args:
        tiles: pieces of it.
        shown: evidence of each.
        overview: of cells of joined pixels.
        joined: pixels along each side of such a cell.
        counted: pixels (y, x) that count.
    """
    whole = overview.limits
    if whole is None:
        return None
    rows, columns = counted.shape
    maps = np.array([[finer(one, joined, (rows, columns)) for one in kind] for kind in whole.maps])
    maps = np.where(maps > 0, maps, np.nan).reshape(*whole.diameters.shape, rows, columns)
    largest = whole.largest
    for tile, one in zip(tiles, shown, strict=True):
        if one.limits is None or not _alike(one.limits, whole):
            continue
        here = (slice(None), slice(None), *tile.core)
        maps[here] = np.fmin(maps[here], one.limits.maps[(slice(None), slice(None), *tile.core_inside)])
        largest = max(largest, one.limits.largest)
    maps[:, :, ~counted] = np.nan
    typical = np.where(np.isnan(maps), np.inf, maps)[:, :, counted]
    middle = np.median(typical, axis=-1) if counted.any() else np.full(whole.diameters.shape, np.inf)
    return Limits(whole.names, whole.depths, np.where(np.isfinite(middle), middle, np.nan), maps, largest)


def _alike(one: Limits, other: Limits) -> bool:
    """Whether both speak of the same defects at the same depths."""
    return one.names == other.names and one.depths.shape == other.depths.shape and np.allclose(one.depths, other.depths)
