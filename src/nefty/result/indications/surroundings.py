"""The pixels over a defect and the sound ones beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.core.grid import Grid
from nefty.result.indications.components import seam
from nefty.result.indications.indication import core
from nefty.result.indications.segmentation import Segmentation
from nefty.result.indications.sizing import sound_ring


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Masks (y, x) of one defect.

    Args:
        footprint: pixels with its cells under them.
        core: the middle of them.
        sound: pixels without any defect, one to two diameters away; wherever there are some, if there are none.
    """

    footprint: np.ndarray
    core: np.ndarray
    sound: np.ndarray


def around(label: int, found: Segmentation, grid: Grid) -> Surroundings:
    """The pixels of the defect ``label`` of a segmentation."""
    return around_mask(np.asarray((found.labels == label).any(axis=0)), found.footprint, grid, periodic=found.periodic)


def around_mask(footprint: np.ndarray, others: np.ndarray, grid: Grid, *, periodic: bool = False) -> Surroundings:
    """The same of any patch of pixels.

    Args:
        footprint: the patch, (y, x).
        others: pixels that are not sound, (y, x).
        grid: the cells.
        periodic: the patch may go on across the sides.
    """
    shift = centring(footprint) if periodic else (0, 0)
    back = (-shift[0], -shift[1])
    moved, spacing = np.roll(footprint, shift, (0, 1)), (grid.spacing[1], grid.spacing[2])
    sound = np.roll(sound_ring(moved, spacing), back, (0, 1)) & ~others & ~footprint
    if not sound.any():
        sound = ~others & ~footprint
    return Surroundings(footprint, np.roll(core(moved, spacing), back, (0, 1)), sound)


def centring(footprint: np.ndarray) -> tuple[int, int]:
    """By how many pixels along y and x to roll a periodic image so that the patch lies in its middle, in one piece."""
    shifts = []
    for axis in (0, 1):
        occupied, pixels = np.asarray(footprint.any(axis=1 - axis)), footprint.shape[axis]
        start = seam(occupied)
        length = int(np.flatnonzero(np.roll(occupied, -start))[-1]) + 1
        shifts.append((pixels - length) // 2 - start)
    return shifts[0], shifts[1]
