"""Connected regions of cells, also across periodic sides.

Cells that share a face, an edge or a corner belong together (26 neighbours; 8 in a plane): a thin delamination that
climbs through the layers stays one defect.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage, sparse


def label(mask: np.ndarray, *, periodic: bool) -> tuple[np.ndarray, int]:
    """Number the connected regions of ``mask``, (z, y, x) or (y, x), from 1; return the numbers and how many.

    Args:
        mask: of the cells.
        periodic: regions continue across the sides in y and x.
    """
    rim = int(periodic)
    labels, number = _label(pad_sides(mask, rim, periodic=periodic))
    if not periodic:
        return labels, number
    # A cell of the rim and the cell it repeats are one region: join their numbers. Sound cells, 0, stay alone.
    inner = trim_sides(labels, rim)
    repeated = pad_sides(inner, rim, periodic=True)
    differ = labels != repeated
    same = sparse.coo_matrix((np.ones(differ.sum()), (labels[differ], repeated[differ])), shape=(number + 1,) * 2)
    groups, names = sparse.csgraph.connected_components(same, directed=False)
    return names[inner], groups - 1


def by_size(labels: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Renumber the regions by falling number of cells, int32.

    Args:
        labels: from ``label``.
        keep: (regions,) whether to keep each; the others become 0.
    """
    cells = np.bincount(labels.ravel(), minlength=len(keep) + 1)[1:]
    order = np.argsort(np.where(keep, -cells, 1), kind="stable")[: int(keep.sum())]
    names = np.zeros(len(keep) + 1, dtype=np.int32)
    names[order + 1] = np.arange(1, len(order) + 1)
    return names[labels]


def pad_sides(array: np.ndarray, rim: int, *, periodic: bool) -> np.ndarray:
    """Add ``rim`` cells on each side in y and x: repeated from the other side, or copies of the outermost."""
    width = [(0, 0)] * (array.ndim - 2) + [(rim, rim)] * 2
    return np.pad(array, width, mode="wrap" if periodic else "edge")


def trim_sides(array: np.ndarray, rim: int) -> np.ndarray:
    """Undo ``pad_sides``."""
    ny, nx = array.shape[-2:]
    return array[..., rim : ny - rim, rim : nx - rim]


def seam(occupied: np.ndarray) -> int:
    """Where to cut a ring of cells so that what is ``occupied`` on it stays whole: after its longest gap.

    Returns:
        the index of the first cell behind the gap; ``np.roll(..., -seam)`` puts it first. 0 without a gap.
    """
    filled = np.flatnonzero(occupied)
    if filled.size in (0, occupied.size):
        return 0
    gaps = np.diff(filled, append=filled[0] + occupied.size)
    return int(filled[(np.argmax(gaps) + 1) % filled.size])


def _label(mask: np.ndarray) -> tuple[np.ndarray, int]:
    labels, number = ndimage.label(mask, np.ones((3,) * mask.ndim))  # pyright: ignore[reportGeneralTypeIssues]
    return labels, number
