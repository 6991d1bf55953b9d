"""Which layers of the background are one: all ways to cut it into a few strata, compared at once.

A part is made of few materials. Near the present diffusivities the misfit is a quadratic form in the logarithms of the
layers; with the layers bound together in strata it has the minimum of a system of as many unknowns as strata. There are
576 ways to cut 16 layers into at most four, so all of them are tried.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

FINEST = 24  # places where a part may be cut, which bounds the work; thinner layers are bound together in pairs, ...


class Cut(NamedTuple):
    """The best way to cut the part into so many strata."""

    strata: int
    misfit: float
    log_alpha: np.ndarray


def best_cuts(
    normal: np.ndarray, right: np.ndarray, misfit: float, log_alpha: np.ndarray, most: int, reach: float
) -> list[Cut]:
    """The best cut for each number of strata up to ``most``, one first; see ``best_cut`` for the arguments."""
    most = min(most, len(_places(len(log_alpha))) + 1)
    return [best_cut(normal, right, misfit, log_alpha, strata, reach) for strata in range(1, most + 1)]


def best_cut(
    normal: np.ndarray, right: np.ndarray, misfit: float, log_alpha: np.ndarray, strata: int, reach: float
) -> Cut:
    """The best cut into so many strata, or into as many as can be.

    Args:
        normal: Gauss-Newton matrix J^T W J by log alpha of the layers, (z, z).
        right: J^T W (measured - predicted), (z,).
        misfit: sum of W (measured - predicted)^2.
        log_alpha: where they were taken, (z,).
        strata: how many.
        reach: largest distance of a stratum from the mean of ``log_alpha``; what would go further stops there.
    """
    middle = log_alpha.mean()
    at = log_alpha - middle
    pull = normal @ at + right
    offset = misfit + at @ normal @ at + 2 * right @ at
    ridge = 1e-9 * np.trace(normal) / len(normal)
    strata = min(strata, len(_places(len(at))) + 1)
    members = _ways(len(at), strata)
    small = np.einsum("pik,ij,pjl->pkl", members, normal, members, optimize=True)
    b = members.transpose(0, 2, 1) @ pull
    values = np.linalg.solve(small + ridge * np.eye(strata), b[..., None])[..., 0].clip(-reach, reach)
    left = offset - 2 * (b * values).sum(axis=1) + np.einsum("pk,pkl,pl->p", values, small, values)
    best = int(np.argmin(left))
    return Cut(strata, float(max(left[best], 0.0)), middle + members[best] @ values[best])


def count_strata(log_alpha: np.ndarray) -> int:
    """Into how many strata a profile is cut."""
    return 1 + int((np.abs(np.diff(log_alpha)) > 1e-9).sum())


def _places(layers: int) -> range:
    """Layers at whose front the part may be cut."""
    step = -(-layers // FINEST)
    return range(step, layers, step)


@lru_cache(maxsize=16)
def _ways(layers: int, strata: int) -> np.ndarray:
    """The matrices (way, layer, stratum) of 0 and 1 that say which layer is in which stratum."""
    cuts = np.array([(0, *c, layers) for c in combinations(_places(layers), strata - 1)])
    layer = np.arange(layers)[None, :, None]
    return ((cuts[:, None, :-1] <= layer) & (layer < cuts[:, None, 1:])).astype(np.float64)
