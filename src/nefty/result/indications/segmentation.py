"""Which cells are defect.

A rule is an object, or its name with the usual values: ``"evidence"``, ``"default"``, ``"faint"``, ``"absolute"``,
``"paper-2d"``. All but the first work on the deficit against the background that the part has at the same depth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import ndimage
from scipy.special import ndtri
from skimage.filters import threshold_otsu

from nefty.core.checks import count, number, one_of
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.noise import MAD_TO_SIGMA
from nefty.physics.boundary import LATERAL
from nefty.result.indications.components import by_size, label, pad_sides

#: Quantile of the lowest values under the pixels of a region that stands for its core.
STRONG = 0.1
#: Cells around a candidate that take part in the choice of its threshold.
NEIGHBOURHOOD = 2
#: Cells between two that are compared for a layer's scatter; noise is smooth over fewer. Shorter axes than 4 of it are
#: not compared, since too many pairs would lie on the edge of a defect.
LAG = 4
#: Quantile of a layer that is sound as a rule.
SOUND = 0.9
#: Deficits below it are rounding of single precision.
ROUNDING = 1e-5


@dataclass(frozen=True)
class Relative:
    """``"default"``: alpha < ratio * background(z), with a ratio for each region.

    Every connected region below the upper bound is a candidate. Otsu's method on log(alpha/background), in the region
    and the cells around it, chooses the ratio that parts it from its surroundings; so a weak defect is not lost beside
    a strong one. The upper bound is the physical floor: where nothing lies below it, the part is sound.

    Args:
        bounds: least and largest ratio. Air and foreign inlays lie below the larger, scatter of a sound part above.
        edge: ``None`` chooses the ratio as said; a share takes the one where log(alpha/background) is that share of the
            lowest under the strongest tenth of the region's pixels.
        resistance: whether depths lie where the resistance background/alpha - 1 is half of its largest, as the heat
            feels it, and not where log(alpha/background) is; of a thin inclusion that is smeared over a few cells.
        core: regions that nowhere fall below this ratio are dropped; ``None`` for none.
        scatter: cells count only where log(alpha/background) is this many standard deviations below that of the sound
            part of their layer. What noise does to deep layers would else join up, from one defect to the next.
        min_cells: smaller regions are dropped.
        min_aspect: regions whose lateral diameter is less than this share of their depth are dropped: heat spreads
            sideways by about the depth on its way, and blurs them away (as a rule, what is seen has 1 or more).
    """

    bounds: tuple[float, float] = (0.2, 0.6)
    edge: float | None = None
    resistance: bool = False
    core: float | None = None
    scatter: float = 0.0
    min_cells: int = 8
    min_aspect: float = 0.5

    def __post_init__(self) -> None:
        try:
            low, high = (number("a bound", bound, above=0) for bound in self.bounds)
        except (TypeError, ValueError):
            low = high = 0.0
        if not 0 < low <= high < 1:
            raise InputError(f"bounds={self.bounds!r} must be two ratios, 0 < low <= high < 1, such as (0.2, 0.6).")
        if self.edge is not None:
            number("edge", self.edge, above=0)
        if self.core is not None:
            number("core", self.core, above=0)
        number("scatter", self.scatter, at_least=0)
        count("min_cells", self.min_cells)
        number("min_aspect", self.min_aspect, at_least=0)


@dataclass(frozen=True)
class Absolute:
    """``"absolute"``: alpha < threshold, whatever the background.

    Args:
        threshold: in the unit of the diffusivity; 0.03 in the paper (appendix E.4), for defects of 0.005 to 0.015.
        min_cells: smaller regions are dropped.
    """

    threshold: float = 0.03
    min_cells: int = 1

    def __post_init__(self) -> None:
        number("threshold", self.threshold, above=0)
        count("min_cells", self.min_cells)


@dataclass(frozen=True)
class Paper2D:
    """``"paper-2d"``: the paper's projection to pixels (appendix H.3), to the letter.

    A pixel is defect where its deficit d = [1 - mean_z alpha / mean_z background]_+ exceeds ``sigmas`` x 1.4826 x
    MAD(d). Under it, those voxels are defect whose own deficit exceeds the noise floor 1.4826 x MAD of the voxels
    under sound pixels; at least the lowest of the column. Each connected patch of pixels is one defect.

    With scatter on both sides of the background the one-sided d is 0 for half of the pixels, so its MAD is next to
    nothing and nearly every pixel below the background counts. ``one_sided=False`` takes the MAD of the signed
    deficit, as seems meant; a sound part still has patches, where its scatter exceeds two sigma.

    Args:
        sigmas: how many.
        one_sided: whether the MAD is that of [.]_+, as the paper writes.
    """

    sigmas: float = 2.0
    one_sided: bool = True

    def __post_init__(self) -> None:
        number("sigmas", self.sigmas, above=0)


@dataclass(frozen=True)
class ByEvidence:
    """``"evidence"``: regions without which the frames are explained clearly worse; ``result.frame_evidence``.

    It needs what a reconstruction weighed at its end. Results without it are read by ``"default"``.
    """


Rule = Relative | Absolute | Paper2D | ByEvidence
#: ``"faint"`` is for calibrated recordings of real parts, whose inclusions may conduct half as well as the part.
RULES: dict[str, Rule] = {
    "default": Relative(),
    "faint": Relative(bounds=(0.1, 0.85), edge=0.15, resistance=True, core=0.35, scatter=5.0, min_aspect=1.0),
    "absolute": Absolute(),
    "paper-2d": Paper2D(),
    "evidence": ByEvidence(),
}


@dataclass(frozen=True, eq=False)
class Segmentation:
    """The cells that are defect.

    Args:
        labels: (z, y, x), 0 where sound, else 1, 2, ... by falling number of cells.
        rule: that was applied.
        periodic: whether defects continue across the sides.
    """

    labels: np.ndarray
    rule: Rule
    periodic: bool

    @property
    def mask(self) -> np.ndarray:
        """Whether a cell is defect, (z, y, x)."""
        return self.labels > 0

    def depth_profile(self, ratio: np.ndarray) -> np.ndarray:
        """What depths are read from, of alpha/background: 0 where sound, negative in a defect."""
        if isinstance(self.rule, Relative) and self.rule.resistance:
            return 1 - 1 / ratio
        return np.log(ratio)

    @property
    def footprint(self) -> np.ndarray:
        """Whether a pixel has a defect under it, (y, x)."""
        return np.asarray(self.mask.any(axis=0))

    @property
    def number(self) -> int:
        """How many defects."""
        return int(self.labels.max(initial=0))


def segment(
    alpha: np.ndarray, background: np.ndarray, grid: Grid, rule: Rule | str = "default", lateral: str = "adiabatic"
) -> Segmentation:
    """Find the cells that are defect.

    Args:
        alpha: diffusivity, (z, y, x), positive.
        background: diffusivity without defects, (z,).
        grid: the cells.
        rule: an object or a name.
        lateral: ``"periodic"`` joins regions across the sides in y and x.
    """
    rule, periodic = named_rule(rule), one_of("lateral", lateral, LATERAL) == "periodic"
    if isinstance(rule, ByEvidence):  # none was weighed
        rule = Relative()
    if isinstance(rule, Paper2D):
        labels = _paper(alpha, background, rule, periodic)
    elif isinstance(rule, Absolute):
        if rule.threshold >= background.min():
            raise InputError(
                f"threshold={rule.threshold:g} is not below the background, {background.min():g} at its lowest: sound "
                "cells would be defect. Give Absolute(threshold) in the unit of alpha, or use the default rule."
            )
        labels = _keep_large(*label(alpha < rule.threshold, periodic=periodic), rule.min_cells)
    else:
        labels = _relative(np.log(alpha / background[:, None, None]), grid, rule, periodic)
    return Segmentation(labels, rule, periodic)


def named_rule(rule: Rule | str) -> Rule:
    """The rule itself, or the one of that name."""
    return rule if isinstance(rule, Rule) else RULES[one_of("rule", rule, RULES)]


def deficit(alpha: np.ndarray, background: np.ndarray, *, one_sided: bool = True) -> np.ndarray:
    """The paper's normalised deficit of a pixel, (y, x): 1 - mean_z alpha / mean_z background, 0 where negative."""
    values = 1 - alpha.mean(axis=0, dtype=np.float64) / background.mean(dtype=np.float64)
    values[np.abs(values) < ROUNDING] = 0
    return np.maximum(values, 0) if one_sided else values


def _relative(log_ratio: np.ndarray, grid: Grid, rule: Relative, periodic: bool) -> np.ndarray:
    low, high = np.log(rule.bounds)
    clear = log_ratio < _clear_of_scatter(log_ratio, rule.scatter, high)[:, None, None]
    candidates = _keep_large(*label(clear, periodic=periodic), rule.min_cells)
    rim = NEIGHBOURHOOD if periodic else 0
    number_of_cell = np.arange(log_ratio.size).reshape(log_ratio.shape)
    names, cells = (pad_sides(a, rim, periodic=periodic) for a in (candidates, number_of_cell))
    ratios = [-np.inf]  # where no candidate is
    for name, box in enumerate(ndimage.find_objects(names), start=1):
        window = tuple(slice(max(s.start - NEIGHBOURHOOD, 0), s.stop + NEIGHBOURHOOD) for s in box)
        if rule.edge is not None:
            inside = np.where(names[box] == name, log_ratio.flat[cells[box]], 0.0).min(axis=0)
            ratios.append(np.clip(np.quantile(inside[inside < 0], STRONG) * rule.edge, low, high))
            continue
        near = ndimage.binary_dilation(names[window] == name, np.ones((3, 3, 3)), iterations=NEIGHBOURHOOD)
        values = log_ratio.flat[np.unique(cells[window][np.asarray(near, dtype=bool)])]
        ratios.append(np.clip(threshold_otsu(values), low, high))
    labels, regions = label(log_ratio < np.array(ratios)[candidates], periodic=periodic)
    boxes = enumerate(ndimage.find_objects(labels), start=1)
    wide = [_aspect(labels[box] == name, box[0].start, grid) >= rule.min_aspect for name, box in boxes]
    keep = np.array(wide, dtype=bool)
    if rule.core is not None and regions:
        lowest = ndimage.minimum(log_ratio, labels, np.arange(1, regions + 1))
        keep &= np.asarray(lowest) < np.log(rule.core)
    return _keep_large(labels, regions, rule.min_cells, keep)


def _clear_of_scatter(log_ratio: np.ndarray, sigmas: float, high: float) -> np.ndarray:
    """What log(alpha/background) has to be below in each layer, (z,): the upper bound, or less where it scatters."""
    axes = [axis for axis in (1, 2) if log_ratio.shape[axis] >= 4 * LAG]
    if not sigmas or not axes:
        return np.full(len(log_ratio), high)
    layers = (np.moveaxis(log_ratio, axis, 1) for axis in axes)
    steps = np.hstack([np.abs(one[:, LAG:] - one[:, :-LAG]).reshape(len(one), -1) for one in layers])
    deviation = MAD_TO_SIGMA * np.median(steps, axis=1) / math.sqrt(2)
    middle = np.quantile(log_ratio, SOUND, axis=(1, 2)) - ndtri(SOUND) * deviation  # of what is no defect
    return np.minimum(high, np.clip(middle, high, 0) - sigmas * deviation)


def _aspect(region: np.ndarray, first: int, grid: Grid) -> float:
    """Lateral diameter, of the disc with the same area, over the mean depth; ``first`` is the region's top layer."""
    dz, dy, dx = grid.spacing
    area = region.any(axis=0).sum() * dy * dx
    layer = np.average(np.arange(len(region)), weights=region.sum(axis=(1, 2)))
    return math.sqrt(4 * area / math.pi) / ((first + 0.5 + float(layer)) * dz)


def _keep_large(labels: np.ndarray, regions: int, cells: int, keep: np.ndarray | bool = True) -> np.ndarray:
    size = np.bincount(labels.ravel(), minlength=regions + 1)[1:]
    return by_size(labels, (size >= cells) & keep)


def _paper(alpha: np.ndarray, background: np.ndarray, rule: Paper2D, periodic: bool) -> np.ndarray:
    pixels = deficit(alpha, background, one_sided=rule.one_sided)
    patches, number_of_patches = label(pixels > rule.sigmas * MAD_TO_SIGMA * _mad(pixels), periodic=periodic)
    voxels = 1 - alpha / background[:, None, None]
    sound = voxels[:, patches == 0]
    floor = MAD_TO_SIGMA * _mad(sound) if sound.size else 0.0
    low = (voxels > max(floor, ROUNDING)) | (voxels == voxels.max(axis=0))
    return by_size(patches * low, np.ones(number_of_patches, dtype=bool))


def _mad(values: np.ndarray) -> float:
    return float(np.median(np.abs(values - np.median(values))))
