"""What the frames show, tile by tile, as one: a region across a border is one region, and each has one score.

Every tile is a look of its own, and so is the overview. The overview has one half of the false calls that are accepted
in the part, the tiles share the other (``shared``), so each look has a higher threshold than the part as a whole.
Lowered by the difference, the scores of all have the threshold of one look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nefty.inversion.evidence.null import threshold
from nefty.inversion.recipe import Recipe
from nefty.inversion.tiles.layout import Tile
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence

COVERED = 0.5  # share of a region of the overview from which on the tiles, which see it finer, tell it


@dataclass(frozen=True, eq=False)
class _Region:
    """A region of one tile, or one region of several.

    Args:
        pixels: numbers of its pixels in the picture, in increasing order; those that its tile answers for.
        seen: the same with those in the rims.
        told: depth, resistance and the like.
    """

    pixels: np.ndarray
    seen: np.ndarray
    told: RegionEvidence


def join_evidence(
    tiles: Sequence[Tile],
    shown: Sequence[FrameEvidence],
    overview: FrameEvidence,
    joined: int,
    shape: tuple[int, int],
    false_calls: float,
) -> FrameEvidence:
    """The evidence of the whole picture.

    Args:
        tiles: pieces of it.
        shown: evidence of each.
        overview: of cells of joined pixels.
        joined: pixels along each side of such a cell.
        shape: rows and columns of the picture.
        false_calls: that are accepted in the whole part.
    """
    of_part = threshold(false_calls)
    overview = _lowered(overview, overview.threshold - of_part)
    score_map, coldest = finer(overview.score_map, joined, shape), overview.coldest
    found: list[_Region] = []
    for tile, one in zip(tiles, shown, strict=True):
        higher = one.threshold - of_part
        found += _regions(tile, one, shape, higher)
        score_map[tile.core] = one.score_map[tile.core_inside] - higher
        coldest = max(coldest, one.coldest - higher)
    regions = _with_overview(_united(found), overview, joined, shape)
    labels = np.zeros(shape, dtype=np.int32)
    for number, region in enumerate(regions, 1):
        labels.ravel()[region.pixels] = number
    told = tuple(region.told for region in regions)
    return FrameEvidence(labels, told, of_part, false_calls, score_map, coldest)


def shared(recipe: Recipe, looks: int) -> Recipe:
    """The recipe of one of so many looks at a part: all of them together make as many false calls as one would.

    No look is refitted: what ensembles say of pieces cannot be joined.
    """
    evidence = recipe.evidence.model_copy(update={"false_calls": recipe.evidence.false_calls / looks})
    alone = recipe.ensemble.model_copy(update={"members": 0})
    return recipe.model_copy(update={"evidence": evidence, "ensemble": alone})


def _lowered(shown: FrameEvidence, by: float) -> FrameEvidence:
    """The same with lower scores, and a threshold that is as much lower."""
    regions = tuple(replace(region, score=region.score - by) for region in shown.regions)
    return replace(
        shown,
        regions=regions,
        threshold=shown.threshold - by,
        score_map=shown.score_map - by,
        coldest=shown.coldest - by,
    )


def _regions(tile: Tile, shown: FrameEvidence, shape: tuple[int, int], higher: float) -> list[_Region]:
    """Those of a tile that have pixels in its core; a region in its rim alone is another tile's."""
    numbers = np.arange(shape[0] * shape[1]).reshape(shape)
    found = []
    for number, told in enumerate(shown.regions, 1):
        own = shown.labels == number
        core = numbers[tile.core][own[tile.core_inside]]
        if core.size:
            found.append(_Region(core, numbers[tile.whole][own], replace(told, score=told.score - higher)))
    return found


def _united(regions: list[_Region]) -> list[_Region]:
    """Regions of several tiles that lie over each other where both tiles look are one: told by the tile that has most
    of it, with the clearest score.
    """
    left, found = list(regions), []
    while left:
        group, seen = [left.pop()], None
        while True:
            seen = np.unique(np.concatenate([one.seen for one in group]))
            more = [one for one in left if np.intersect1d(one.seen, seen, assume_unique=True).size]
            if not more:
                break
            group += more
            left = [one for one in left if all(one is not other for other in more)]
        largest = max(group, key=lambda one: one.pixels.size)
        told = replace(largest.told, score=max(one.told.score for one in group))
        found.append(_Region(np.unique(np.concatenate([one.pixels for one in group])), seen, told))
    return found[::-1]


def _with_overview(fine: list[_Region], overview: FrameEvidence, joined: int, shape: tuple[int, int]) -> list[_Region]:
    """With those regions of the overview that the tiles cover to less than half, in place of what they have there: such
    a one is too wide for a tile, or too faint.
    """
    labels = finer(overview.labels, joined, shape).ravel()
    for number, told in enumerate(overview.regions, 1):
        own = np.flatnonzero(labels == number)
        over = [one for one in fine if np.intersect1d(one.pixels, own, assume_unique=True).size]
        covered = sum(np.intersect1d(one.pixels, own, assume_unique=True).size for one in over)
        clear = [one for one in over if one.told.score >= overview.threshold]
        if told.score < overview.threshold and (over or not own.size):
            continue  # what the overview does not call, the tiles tell better
        if own.size and (covered < COVERED * own.size or not clear):
            fine = [one for one in fine if all(one is not other for other in over)]
            fine.append(_Region(own, own, told))
    return fine


def finer(values: np.ndarray, joined: int, shape: tuple[int, int]) -> np.ndarray:
    """Values of cells (y, x) on the pixels of the picture; 0 where pixels at its end fill no cell."""
    found = values.repeat(joined, axis=0).repeat(joined, axis=1)[: shape[0], : shape[1]]
    return np.pad(found, [(0, n - m) for n, m in zip(shape, found.shape, strict=True)])
