"""Depth to the defects, pixel by pixel."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from nefty.core.grid import Grid
from nefty.result.indications.crossings import first_crossing
from nefty.result.indications.segmentation import Paper2D, Relative, Segmentation

REACH = 0.5  # depths: standard deviation over which depths by resistance are averaged


def depth_map(alpha: np.ndarray, background: np.ndarray, grid: Grid, found: Segmentation) -> np.ndarray:
    """Depth of the uppermost defect under each pixel, (y, x) in length units; NaN where the part is sound.

    That is the depth of its top, where log(alpha/background), or with the rule ``"faint"`` the resistance to heat, is
    half way to its extreme in the defect, interpolated between cell centres; with that rule averaged
    sideways over about the depth. With the rule ``"paper-2d"`` it is the
    paper's 2.5D depth (appendix H.3): the median depth of the defect's voxels.

    Args:
        alpha: diffusivity, (z, y, x).
        background: diffusivity without defects, (z,).
        grid: the cells.
        found: which cells are defect.
    """
    depths, pixels = np.full(grid.shape[1:], np.nan), found.footprint
    if not pixels.any():
        return depths
    inside = found.mask[:, pixels]
    if isinstance(found.rule, Paper2D):
        z = np.broadcast_to(grid.centres()[0][:, 0], inside.shape)
        depths[pixels] = np.nanmedian(np.where(inside, z, np.nan), axis=0)
        return depths
    # Of two defects under one pixel only the upper counts.
    labels = found.labels[:, pixels]
    inside &= labels == np.take_along_axis(labels, inside.argmax(axis=0)[None], axis=0)
    profile = found.depth_profile(alpha[:, pixels] / background[:, None])
    level = np.where(inside, profile, 0).min(axis=0) / 2
    depths[pixels] = grid.spacing[0] * first_crossing(profile, inside, level)
    if isinstance(found.rule, Relative) and found.rule.resistance:
        _even(depths, pixels, -level, labels.max(axis=0, where=inside, initial=0), grid)
    return depths


def _even(depths: np.ndarray, pixels: np.ndarray, resistance: np.ndarray, names: np.ndarray, grid: Grid) -> None:
    """Average the depths of each defect over about its depth, in place, by how much each pixel resists.

    Heat blurs over that distance anyway; and where a defect hardly resists, at its rim, little is known of its depth.
    """
    weight, owner = np.zeros(depths.shape), np.zeros(depths.shape, dtype=int)
    weight[pixels], owner[pixels] = resistance, names
    for name in range(1, int(owner.max(initial=0)) + 1):
        own = owner == name
        if not own.any():
            continue
        width = [REACH * float(np.median(depths[own])) / d for d in grid.spacing[1:]]
        share = gaussian_filter(np.where(own, weight, 0.0), width, mode="constant")
        total = gaussian_filter(np.where(own, weight * depths, 0.0), width, mode="constant")
        depths[own] = total[own] / share[own]
