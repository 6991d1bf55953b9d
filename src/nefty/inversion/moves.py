"""Moves that no descent makes: the side of a void that lies in its own shadow is put elsewhere.

Frames show the top of a void and its outline. Its bottom they show only by the heat that flows around it, and a cell
that conducts next to nothing feels no force: d/d(log alpha) is proportional to alpha. So a bottom that was wrong when
the cells decided stays where it is, too deep in the middle and missing at the rim. What is tried here are bottoms that
follow from the top: flat; parallel to the top; the mirror image of the top. Each is a family with one depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from nefty.inversion.recipe_sections import MoveSettings
from nefty.result.indications.components import label

Value = Callable[[np.ndarray], float]
"""Objective of a = log(alpha/background), (z, y, x)."""
FAMILIES = ("flat", "parallel", "mirrored")


class Relaxed(NamedTuple):
    """Where a few steps of descent lead.

    Args:
        objective: there.
        misfit: over the noise floor.
        anomaly: a, (z, y, x).
    """

    objective: float
    misfit: float
    anomaly: np.ndarray

    def beaten_by(self, objective: float, misfit: float) -> bool:
        """Whether another is better: a lower objective, and frames that are fitted to their noise stay so.

        Where they are fitted, the weight of the penalties has risen, and a void that is too thin would pay.
        """
        return objective < self.objective and (misfit <= 1 or self.misfit > 1)


Relax = Callable[[np.ndarray, int, Relaxed | None], Relaxed]
"""So many steps of descent from a volume a, and more while they promise to beat another, if there is one."""


def move_bottoms(anomaly: np.ndarray, value: Value, relax: Relax, settings: MoveSettings, lateral: str) -> np.ndarray:
    """The volume after moves of one void after the other, the largest first; a move that is not better is taken back.

    Args:
        anomaly: a = log(alpha/background), (z, y, x).
        value: objective of a volume.
        relax: what follows a move, before it is judged.
        settings: which cells are void.
        lateral: ``"periodic"`` or ``"adiabatic"`` sides.
    """
    now, half = relax(anomaly, settings.steps, None), settings.steps // 2
    labels, number = label(now.anomaly < np.log(settings.void), periodic=lateral == "periodic")
    sizes = np.bincount(labels.ravel(), minlength=number + 1)
    order = [name for name in np.argsort(-sizes, kind="stable") if name and sizes[name] >= settings.cells]
    for name in order:
        own, others = labels == name, (labels != name) & (labels > 0)
        heats = [relax(tried, half, None) for tried in best_bottoms(now.anomaly, own, others, value)]
        for heat in sorted(heats, key=lambda one: one.objective):
            then = relax(heat.anomaly, half, now)
            if now.beaten_by(then.objective, then.misfit):
                now = then
                break
            if then.objective >= now.objective:  # else it is too thin to fit the frames, and the other thicker
                break
    return now.anomaly


def promising(values: list[float], misfit: float, steps: int, other: Relaxed | None, settings: MoveSettings) -> bool:
    """Whether a descent goes on: for so many steps, and while as many again would do to beat another.

    Args:
        values: of the objective so far.
        misfit: the present one, over the noise floor.
        steps: that it has anyway.
        other: to be beaten, if any.
        settings: how many steps at most.
    """
    done = len(values)
    if done <= steps or other is None:
        return done < steps + (other is not None)
    near = values[-1] - other.objective < values[-1 - steps] - values[-1]
    return near and not other.beaten_by(values[-1], misfit) and done < settings.most_steps


def best_bottoms(anomaly: np.ndarray, own: np.ndarray, others: np.ndarray, value: Value) -> Iterator[np.ndarray]:
    """Volumes with another bottom under one void: that of least objective in all families, and a layer below it.

    What surrounds a bottom has adapted to it, so that as it stands one that is a layer too thin often looks best.

    Args:
        anomaly: a, (z, y, x).
        own: cells of the void.
        others: cells of other voids, which stay.
        value: objective of a volume.

    Returns:
        both volumes; none of them if the best is the void as it is.
    """
    known: dict[bytes, float] = {}

    def objective(inside: np.ndarray) -> float:
        key = np.packbits(inside).tobytes()
        if key not in known:
            known[key] = value(with_bottom(anomaly, own, others, inside)) if inside.any() else np.inf
        return known[key]

    found = [_descend(family, own, objective) for family in FAMILIES]
    _, family, depth = min(found, key=lambda one: one[0])
    if (bottom_of(family, own, depth) == own).all():
        return
    for each in (depth, depth + 1):
        yield with_bottom(anomaly, own, others, bottom_of(family, own, each))


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


def _descend(family: str, own: np.ndarray, objective: Callable[[np.ndarray], float]) -> tuple[float, str, int]:
    """The least objective of a family, and its depth there, downhill from where the void keeps its size."""
    sizes = [int(bottom_of(family, own, depth).sum()) for depth in range(2 * own.shape[0])]
    depth = int(np.argmin(np.abs(np.array(sizes) - own.sum())))
    best = objective(bottom_of(family, own, depth))
    for way in (1, -1):
        while (then := _at(family, own, depth + way, objective)) < best:
            depth, best = depth + way, then
    return best, family, depth


def _at(family: str, own: np.ndarray, depth: int, objective: Callable[[np.ndarray], float]) -> float:
    return objective(bottom_of(family, own, depth)) if depth >= 0 else np.inf
