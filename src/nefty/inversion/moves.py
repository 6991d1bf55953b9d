"""Moves that no descent makes: the side of a void that lies in its own shadow is put elsewhere.

Frames show the top of a void and its outline. Its bottom they show only by the heat that flows around it, and a cell
that conducts next to nothing feels no force: d/d(log alpha) is proportional to alpha. So a bottom that was wrong when
the cells decided stays where it is, too deep in the middle and missing at the rim. What is tried here are bottoms that
follow from the top: flat; parallel to the top; the mirror image of the top. Each is a family with one depth.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nefty.inversion.recipe_sections import MoveSettings
from nefty.result.indications.components import label

Value = Callable[[np.ndarray], float]
"""Objective of a = log(alpha/background), (z, y, x)."""
Relax = Callable[[np.ndarray, bool], tuple[float, np.ndarray]]
"""A few steps of descent from a volume a, with or without the curvature that was met on the way to it: the objective,
and the volume where they end."""
FAMILIES = ("flat", "parallel", "mirrored")


def move_bottoms(
    anomaly: np.ndarray, value: Value, relax: Relax, settings: MoveSettings, lateral: str
) -> np.ndarray:
    """The volume after moves of one void after the other, the largest first; each lowers the objective.

    Args:
        anomaly: a = log(alpha/background), (z, y, x).
        value: objective of a volume.
        relax: what follows a move, before it is judged.
        settings: which cells are void.
        lateral: ``"periodic"`` or ``"adiabatic"`` sides.
    """
    now, anomaly = relax(anomaly, True)
    labels, number = label(anomaly < np.log(settings.void), periodic=lateral == "periodic")
    sizes = np.bincount(labels.ravel(), minlength=number + 1)[1:]
    regions = [labels == 1 + i for i in np.argsort(-sizes, kind="stable") if sizes[i] >= settings.cells]
    for i, own in enumerate(regions):
        others = np.any([r for j, r in enumerate(regions) if j != i], axis=0) if len(regions) > 1 else np.zeros_like(own)
        tried = best_bottom(anomaly, own, others, value)
        if tried is None:
            continue
        then, relaxed = relax(tried, False)
        import os
        if os.environ.get("TRACE"): print("   move", own.sum(), "->", round(then, 1), "now", round(now, 1), flush=True)
        if then < now:
            now, anomaly = then, relaxed
    return anomaly


def best_bottom(anomaly: np.ndarray, own: np.ndarray, others: np.ndarray, value: Value) -> np.ndarray | None:
    """The volume with the bottom of least objective under one void, of those that the families have.

    Args:
        anomaly: a, (z, y, x).
        own: cells of the void.
        others: cells of other voids, which stay.
        value: objective of a volume.

    Returns:
        the volume; ``None`` if the best is the void as it is.
    """
    known: dict[bytes, float] = {}

    def objective(inside: np.ndarray) -> float:
        key = np.packbits(inside).tobytes()
        if key not in known:
            known[key] = value(with_bottom(anomaly, own, others, inside)) if inside.any() else np.inf
        return known[key]

    found = [_descend(family, own, objective) for family in FAMILIES]
    _, best = min(found, key=lambda pair: pair[0])
    return None if (best == own).all() else with_bottom(anomaly, own, others, best)


def with_bottom(anomaly: np.ndarray, own: np.ndarray, others: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The volume with the void ``inside`` in place of ``own``; what lay below it, half void, becomes sound."""
    level = float(np.median(anomaly[own]))
    below = own.any(axis=0) & (np.cumsum(own, axis=0) > 0) & ~inside & ~others
    moved = np.where(below, np.maximum(anomaly, 0.0), anomaly)
    return np.where(inside & ~others, np.minimum(moved, level), moved)


def bottom_of(family: str, own: np.ndarray, depth: int) -> np.ndarray:
    """Cells from the top of a void down to a bottom.

    Args:
        family: ``"flat"``: the bottom is the layer ``depth``; ``"parallel"``: ``depth`` layers below the top;
            ``"mirrored"``: where the layers of top and bottom add up to ``depth``.
        own: cells of the void, (z, y, x).
        depth: as said.
    """
    top = own.argmax(axis=0)
    bottom = {"flat": np.full_like(top, depth), "parallel": top + depth, "mirrored": depth - top}[family]
    layer = np.arange(own.shape[0])[:, None, None]
    return own.any(axis=0) & (layer >= top) & (layer <= bottom)


def _descend(family: str, own: np.ndarray, objective: Callable[[np.ndarray], float]) -> tuple[float, np.ndarray]:
    """The least objective of a family and its cells, downhill from the depth at which the void keeps its size."""
    sizes = [int(bottom_of(family, own, depth).sum()) for depth in range(2 * own.shape[0])]
    depth = int(np.argmin(np.abs(np.array(sizes) - own.sum())))
    best = objective(bottom_of(family, own, depth))
    for way in (1, -1):
        while (then := _at(family, own, depth + way, objective)) < best:
            depth, best = depth + way, then
    return best, bottom_of(family, own, depth)


def _at(family: str, own: np.ndarray, depth: int, objective: Callable[[np.ndarray], float]) -> float:
    return objective(bottom_of(family, own, depth)) if depth >= 0 else np.inf
