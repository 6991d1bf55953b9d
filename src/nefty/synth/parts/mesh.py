"""Meshes of parts: graded in depth, so that films have cells of their own; even over the frame, growing beyond it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nefty.core.errors import InputError

ACROSS_FILM = 3  # cells through a film or gap
GROWTH = 1.15  # of a cell over its neighbour in depth, away from a face where the temperature bends
BEYOND = 1.4  # of a cell over its neighbour along the face, beyond the frame
SHORTEST = 1e-9  # m; faces nearer than this are one
SAMPLES = 4000  # points at which the size of cells is integrated


@dataclass(frozen=True, eq=False)
class Mesh:
    """Faces of the cells along each axis, increasing, in m; y and x count from the corner of the frame."""

    z: np.ndarray
    y: np.ndarray
    x: np.ndarray

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of cells (z, y, x)."""
        return self.z.size - 1, self.y.size - 1, self.x.size - 1

    @property
    def widths(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the cells along z, y, x, in m."""
        return np.diff(self.z), np.diff(self.y), np.diff(self.x)

    @property
    def volume(self) -> np.ndarray:
        """Of every cell, (z, y, x), in m3."""
        dz, dy, dx = self.widths
        return dz[:, None, None] * dy[:, None] * dx


def depth_faces(
    thickness: float,
    films: Sequence[tuple[float, float]] = (),
    floors: Sequence[float] = (),
    *,
    first: float,
    near: float,
    largest: float,
    refine: int = 1,
) -> np.ndarray:
    """Faces along z from 0 to the thickness, in m.

    Every film has ``ACROSS_FILM`` cells or more. Elsewhere the size of a cell is the least of ``largest``, and of
    ``first`` at the front or ``near`` at a film plus (GROWTH - 1)/GROWTH times the distance. Cells beside a film may be
    larger than those in it: the flux through the face between them is that of two resistances in series, which needs no
    smooth mesh.

    Args:
        thickness: of the part.
        films: top and bottom of each, between which there is one material.
        floors: depths at which something else begins, such as the bottom of a hole.
        first: size of the cell at the front.
        near: of cells beside films, floors and the back face.
        largest: of any cell.
        refine: so many times smaller cells everywhere.
    """
    if any(not 0 < top < bottom < thickness for top, bottom in films) or any(not 0 < z < thickness for z in floors):
        raise InputError(f"films and holes must lie within the thickness of {thickness:g} m, apart from both faces.")
    fixed = _merged([0.0, thickness, *itertools.chain(*films), *floors])
    anchors = [(0.0, first), *((z, near) for z in fixed[1:])]
    faces = [0.0]
    for low, high in itertools.pairwise(fixed):
        middle = (low + high) / 2
        thinnest = min((bottom - top for top, bottom in films if top < middle < bottom), default=None)
        if thinnest is None:
            faces.extend(_graded(low, high, anchors, largest, refine))
        else:
            cells = math.ceil((high - low) / thinnest * ACROSS_FILM * refine - 1e-9)
            faces.extend(np.linspace(low, high, cells + 1)[1:])
    return np.asarray(faces)


def face_axis(
    pixels: int,
    pixel: float,
    edges: tuple[int | None, int | None],
    margin: float,
    per_pixel: int = 1,
) -> np.ndarray:
    """Faces along y or x, in m from the corner of the frame: even within it, growing over the margin beyond it.

    Args:
        pixels: of the frame along the axis.
        pixel: its edge length in m.
        edges: pixel before which the part begins and after which it ends, ``None`` where it goes on beyond the frame.
        margin: how far it is followed there, in m.
        per_pixel: cells along a pixel.
    """
    begin = 0 if edges[0] is None else edges[0]
    end = pixels if edges[1] is None else edges[1]
    inner = np.arange(begin * per_pixel, end * per_pixel + 1) * (pixel / per_pixel)
    beyond = _growing(pixel / per_pixel, margin)
    before = inner[0] - beyond[::-1] if edges[0] is None else np.empty(0)
    after = inner[-1] + beyond if edges[1] is None else np.empty(0)
    return np.concatenate([before, inner, after])


def _merged(faces: Sequence[float]) -> list[float]:
    """Sorted, without those that are one."""
    found: list[float] = []
    for face in sorted(faces):
        if not found or face - found[-1] > SHORTEST:
            found.append(face)
    return found


def _graded(low: float, high: float, anchors: Sequence[tuple[float, float]], largest: float, refine: int) -> np.ndarray:
    """Faces after ``low`` up to ``high``: equal shares of the integral of 1/size."""
    z = np.linspace(low, high, SAMPLES)
    size = np.full(z.shape, largest)
    for at, smallest in anchors:
        np.minimum(size, smallest + (GROWTH - 1) / GROWTH * np.abs(z - at), out=size)
    total = np.concatenate([[0.0], np.cumsum(np.diff(z) * 0.5 * (1 / size[1:] + 1 / size[:-1]))])
    cells = max(math.ceil(total[-1] - 1e-6), 1) * refine
    return np.append(np.interp(np.linspace(0, total[-1], cells + 1)[1:-1], total, z), high)


def _growing(first: float, length: float) -> np.ndarray:
    """Distances of faces: cells that grow from one until they reach a length."""
    faces, size = [], first
    while not faces or faces[-1] < length:
        size *= BEYOND
        faces.append((faces[-1] if faces else 0.0) + size)
    return np.asarray(faces)
