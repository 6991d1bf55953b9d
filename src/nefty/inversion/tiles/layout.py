"""How a picture is cut into tiles, and how much each counts where they overlap."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

MOST = 112 * 112  # pixels of a tile with its rims: about 1.4 GB of memory at 24 layers and 60 frames
NARROWEST = 8  # pixels of a core, where heat spreads over more than a tile


@dataclass(frozen=True)
class Span:
    """One side of a tile, in pixels: first and one past the last.

    Args:
        core: of what the tile answers for.
        whole: of that with its rims, as far as the picture goes.
        rim: pixels of a rim.
        blend: pixels on each side of a core's edge over which two tiles are blended: the rim, or half a core.
    """

    core: tuple[int, int]
    whole: tuple[int, int]
    rim: int
    blend: float

    def weights(self) -> np.ndarray:
        """How much its pixels count, (n,): 1 inside, and around the edge of the core a sin^2 that vanishes towards the
        tile's edge. Those of tiles side by side add up to 1. At the edge of the picture there is no rim.
        """
        at = np.arange(*self.whole) + 0.5
        share = np.ones(at.size)
        for core, edge, inwards in ((self.core[0], self.whole[0], 1), (self.core[1], self.whole[1], -1)):
            if edge != core:
                across = np.clip((inwards * (at - core) + self.blend) / (2 * self.blend), 0, 1)
                share *= np.sin(np.pi / 2 * across) ** 2
        return share


@dataclass(frozen=True)
class Tile:
    """A piece of the picture: rows and columns."""

    name: str
    rows: Span
    columns: Span

    @property
    def whole(self) -> tuple[slice, slice]:
        """Its pixels, rims included."""
        return slice(*self.rows.whole), slice(*self.columns.whole)

    @property
    def core(self) -> tuple[slice, slice]:
        """Pixels of which it answers."""
        return slice(*self.rows.core), slice(*self.columns.core)

    @property
    def core_inside(self) -> tuple[slice, slice]:
        """The same, counted from its own first pixel."""
        (r, c), (rows, columns) = (self.rows.whole[0], self.columns.whole[0]), (self.rows.core, self.columns.core)
        return slice(rows[0] - r, rows[1] - r), slice(columns[0] - c, columns[1] - c)

    def weights(self) -> np.ndarray:
        """How much each of its pixels counts, (y, x)."""
        return self.rows.weights()[:, None] * self.columns.weights()[None, :]


def layout(shape: tuple[int, int], rims: tuple[int, int], most: int = MOST) -> list[Tile]:
    """Tiles of equal cores that cover a picture, row by row.

    Args:
        shape: rows and columns of the picture.
        rims: pixels of a rim along y and x.
        most: pixels of a tile with its rims.
    """
    y, x = rims
    side = max(NARROWEST, int(sqrt((y - x) ** 2 + most) - (y + x)))  # (side + 2 y)(side + 2 x) = most
    rows, columns = (_spans(n, side, rim) for n, rim in zip(shape, rims, strict=True))
    return [Tile(f"r{i:02d}c{j:02d}", r, c) for i, r in enumerate(rows) for j, c in enumerate(columns)]


def _spans(n: int, side: int, rim: int) -> list[Span]:
    """One axis in cores of equal length, as far as pixels allow, none longer than ``side``."""
    edges = np.linspace(0, n, ceil(n / side) + 1).round().astype(int).tolist()
    cores = list(itertools.pairwise(edges))
    blend = min(rim, min(b - a for a, b in cores) / 2)
    return [Span((a, b), (max(a - rim, 0), min(b + rim, n)), rim, blend) for a, b in cores]
