"""From members to what a result says of itself: the probability of each cell, its spread, and that of each region.

With few members counts alone would be steps. So each member counts with a kernel: the depth of a sheet, and its edge,
are blurred by h = 1.06 s n^(-1/5), s the standard deviation over the n members (Silverman's rule). And what n members
agree on is not certain: with k the sum of the members' shares of a cell

    p = (k + q/2)/(n + 1/2),

q the mean of k/n over the part, as if half a member more had been like the part as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import ndimage
from scipy.special import ndtr

from nefty.core.grid import Grid
from nefty.inversion.ensemble.member import Member, MovedSheet
from nefty.inversion.evidence.sheets import EMPTY
from nefty.result.ensemble import Ensemble
from nefty.result.indications.components import label as labelled
from nefty.result.indications.indication import Indication, find_indications
from nefty.result.indications.segmentation import Segmentation, segment
from nefty.result.reconstruction import Reconstruction

SILVERMAN = 1.06
MORE = 0.5  # members that know nothing but the part as a whole
GONE = 0.2  # of its insulation in the first fit, below which a member does not have a region
SHARPEST = 0.05  # cells or pixels; kernels are not narrower


def joined(found: Reconstruction, members: Sequence[Member], asked: int, failed: int = 0) -> Ensemble:
    """What the members say together.

    Args:
        found: the first fit.
        members: in the order of their numbers.
        asked: how many were asked for.
        failed: of them.
    """
    of_sheets = members[0].sheets is not None
    volumes = [_volume(found.grid, one) if of_sheets else _told(one) for one in members]
    shares, columns = (_of_sheets if of_sheets else _of_volumes)(found, members)
    total = np.stack(shares).sum(axis=0)
    n, cell = len(members), float(np.prod(found.grid.spacing))
    probability = np.asarray((total + MORE * float(total.mean()) / n) / (n + MORE))
    logs = np.log(np.stack(volumes))
    spread = logs.std(axis=0, ddof=1) if n > 1 else np.full(found.grid.shape, np.nan)
    return Ensemble(
        asked=asked,
        probability=probability.astype(np.float32),
        spread=spread.astype(np.float32),
        depth=columns[..., 0],
        diameter=columns[..., 1],
        resistance=columns[..., 2],
        volume=np.array([cell * float(one.sum()) for one in shares]),
        failed=failed,
    )


def _told(member: Member) -> np.ndarray:
    assert member.volume is not None
    return member.volume.astype(np.float64)


def _of_sheets(found: Reconstruction, members: Sequence[Member]) -> tuple[list[np.ndarray], np.ndarray]:
    """Shares of the cells (z, y, x) that each member's sheets fill; and (member, region, quantity)."""
    grid, shown = found.grid, found.frame_evidence
    assert shown is not None
    regions = [[one.sheets[i] for one in members if one.sheets is not None] for i in range(len(shown.called))]
    area = grid.spacing[1] * grid.spacing[2]
    shares = [np.zeros(grid.shape) for _ in members]
    columns = np.full((len(members), len(regions), 3), np.nan)
    for i, (own, number) in enumerate(zip(regions, shown.called, strict=True)):
        depths = np.array([one.depth for one in own])
        pixels = np.array([float(one.covered.sum()) for one in own])
        deep = max(_kernel(depths), SHARPEST * grid.spacing[0])
        wide = max(_kernel(np.sqrt(pixels / np.pi)), SHARPEST)
        columns[:, i, 0], columns[:, i, 1] = depths, np.sqrt(4 / np.pi * pixels * area)
        columns[:, i, 2] = [one.resistance for one in own]
        least = GONE * shown.regions[number - 1].insulation
        for share, one in zip(shares, own, strict=True):
            if one.insulation >= least:
                rows, across = one.rows_and_columns
                covered = ndimage.gaussian_filter(one.covered.astype(np.float64), wide, mode="nearest")
                filled = _layers(grid, one, deep)[:, None, None] * np.clip(covered, 0, 1)
                share[:, rows, across] = np.maximum(share[:, rows, across], filled)
    return shares, columns


def _layers(grid: Grid, sheet: MovedSheet, deep: float) -> np.ndarray:
    """The share of each layer of cells (z,) that a sheet fills, its depth blurred; all below it if it is open."""
    faces = np.linspace(0.0, grid.size[0], grid.shape[0] + 1)
    below = ndtr((faces - sheet.depth) / deep)
    if sheet.hole:
        return (below[1:] + below[:-1]) / 2
    return np.diff(below)


def _kernel(values: np.ndarray) -> float:
    return SILVERMAN * float(values.std(ddof=1)) * len(values) ** -0.2 if len(values) > 1 else 0.0


def _volume(grid: Grid, member: Member) -> np.ndarray:
    """Diffusivity (z, y, x) of a member's sheets, as the volume of the first fit begins with them."""
    assert member.sheets is not None
    background = np.full(grid.shape[0], float(member.background[0]))
    volume = np.broadcast_to(background[:, None, None], grid.shape).copy()
    dz, layers = grid.spacing[0], np.arange(grid.shape[0])[:, None, None]
    for one in member.sheets:
        part = volume[:, *one.rows_and_columns]
        top = int(np.clip(one.depth / dz, 0, grid.shape[0] - 1))
        resistive = 1 / (1 / part + one.covered * one.resistance / dz)
        part[:] = np.where(layers == top, resistive, part)
        if one.hole:
            part[:] = np.where(layers > top, part * (1 - EMPTY * one.covered), part)
    return volume


def _of_volumes(found: Reconstruction, members: Sequence[Member]) -> tuple[list[np.ndarray], np.ndarray]:
    """Which cells (z, y, x) each member finds anomalous, 0 or 1; and (member, region, quantity)."""
    first = found.segmentation()
    columns = np.full((len(members), first.number, 3), np.nan)
    shares = []
    for row, one in zip(columns, members, strict=True):
        volume = _told(one)
        grid = Grid(found.grid.shape, (one.thickness, *found.grid.size[1:]))
        own = _anomalous(found, first, volume, one.background, grid)
        shares.append(own.mask.astype(np.float64))
        matched = find_indications(volume, one.background, grid, own)
        missing = (1 / volume - 1 / one.background[:, None, None]).sum(axis=0) * grid.spacing[0]
        for name in range(1, first.number + 1):
            same = _counterpart(first.labels == name, own, matched)
            if same is not None:
                under = (own.labels == same.label).any(axis=0)
                row[name - 1] = same.depth_to_top, same.diameter, float(np.median(missing[under]))
    return shares, columns


def _anomalous(
    found: Reconstruction, first: Segmentation, volume: np.ndarray, background: np.ndarray, grid: Grid
) -> Segmentation:
    """Cells of a member that are defect by the rule of the first fit; where evidence decides, those that touch what it
    called: members are not weighed again.
    """
    own = segment(volume, background, grid, first.rule, found.lateral)
    if found.frame_evidence is None:
        return own
    near = np.asarray(ndimage.binary_dilation(first.mask, np.ones((3, 3, 3))), dtype=bool)
    touching = np.unique(own.labels[near & own.mask])
    labels, _ = labelled(np.isin(own.labels, touching[touching > 0]), periodic=own.periodic)
    return Segmentation(labels, own.rule, own.periodic)


def _counterpart(region: np.ndarray, own: Segmentation, found: Sequence[Indication]) -> Indication | None:
    """The indication of a member that shares most cells with a region; ``None`` if none does."""
    counts = np.bincount(own.labels[region], minlength=own.number + 1)
    counts[0] = 0
    best = int(counts.argmax())
    return next((one for one in found if one.label == best), None) if counts[best] else None
