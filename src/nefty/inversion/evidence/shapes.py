"""Where a region ends, how deep and how insulating it is, if it is one even disc or plate.

The fit of a sheet pays for edges, so of a deep region, which heat blurs, it makes one that is wide and weak, and the
depth follows. What is in parts is mostly simple: a film, a gap, a hole with one outline, one depth and one resistance.
So each hill is fitted again as an even ellipse and as an even rectangle, turned as they like. The unknowns are centre,
half axes, angle, insulation and depth, and where it is asked for the ratio by which heat spreads along the part:

    n/2 misfit/misfit of the pixels + sum ((unknown - start)/width)^2/2

The misfit is that of all frames of a window, over what the pixel-wise fit leaves there, and n counts how many errors of
the model are independent: one for each patch of a thickness and each of the RANK courses that a pixel may take. What
the frames do not tell so clearly stays where the pixels have it.

A film or a gap has sound material below it; a hole that is open to the back has nothing, and insulates perfectly. Both
are fitted, a hole from a smaller start with as much insulation in all; what explains the frames better stays. Of a film
the frames hardly tell a small strong one from a wide weak one, so its half axes stay within a fifth of what the pixels
have. Of a hole they tell the size, since its strength is known, and pixels that know nothing of holes tell it badly: to
what heat blurs on its way, which is as far sideways as the hole is deep, times the root of the ratio there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from nefty.inversion.evidence.bank import RANK
from nefty.inversion.evidence.hills import MIDDLE, around, hills_of, nearer, outlines
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.sheets import EMPTY, MOST, Sheet, SheetFit

KINDS = ("ellipse", "rectangle")
AREAS = {"ellipse": np.pi, "rectangle": 4.0}  # over the product of the half axes
RUNS, SETTLED = 30, 1e-3  # evaluations of the misfit in a fit, at most; fall of the cost, as a share, that ends it
ROUGH, RESTLESS = 8, 1e-2  # the same of a first, rough fit
SMALL = 1e-5  # step, as a share of the unknowns, that ends a fit: they hold the pixels of the centre
FAR = 1.5  # times the cost of the other, beyond which a film or a hole is given up after its rough fit
SMALLEST = 0.5  # pixels, half an axis
RESOLVED = 1.0  # pixels, half an axis of the smallest hole that is tried
WEAKEST, STRONGEST = -7.0, 5.0  # logit of insulation over its largest
KNOWN_AXIS = 0.2  # width of the prior of the logarithm of a film's half axes
TURNED = 0.5  # radians, width of the prior of the angle
HOLE = 0.97  # insulation that stands for a hole's
DEPTH = 6  # place of the depth among the unknowns
STEPS = np.array([0.25, 0.25, 0.03, 0.03, 0.04, 0.05, 0.1])  # of differences: as above, logit, cells
LARGEST_TURN = np.pi / 2  # from the start
KNOWN_RATIO = 0.2  # standard deviation of the logarithm of a user's ratio
RATIO_STEP = 0.05
NEARLY = 1.5  # times what the pixels leave unexplained, that a shape may leave

StandsOut = Callable[[Sheet, np.ndarray], bool]


@dataclass(frozen=True, eq=False)
class Shape:
    """An even region.

    Args:
        kind: one of ``KINDS``.
        hole: whether it is open to the back; its insulation is then no unknown.
        unknowns: row and column of the centre in pixels, logarithms of the half axes in pixels, angle of the first of
            them from x to y, logit of insulation/``MOST``, depth in cells; logarithm of the ratio's factor if fitted.
        cost: as above.
        covariance: of the unknowns.
    """

    kind: str
    hole: bool
    unknowns: np.ndarray
    cost: float
    covariance: np.ndarray

    @property
    def insulation(self) -> float:
        """c of its inside."""
        return MOST / (1 + float(np.exp(-self.unknowns[5])))

    @property
    def ratio(self) -> float:
        """Factor by which heat spreads faster along the part than stated."""
        return float(np.exp(self.unknowns[7])) if len(self.unknowns) > 7 else 1.0

    def turned_into(self, kind: str) -> np.ndarray:
        """Unknowns of a shape of that kind with the same area and the same ratio of its axes."""
        found = self.unknowns.copy()
        found[2:4] += (np.log(AREAS[self.kind]) - np.log(AREAS[kind])) / 2
        return found

    def covered(self, frame: tuple[int, ...]) -> np.ndarray:
        """The share of each pixel (y, x) of a frame that it covers, its edge being straight within a pixel."""
        row, column, a, b, angle = self.unknowns[:5]
        a, b = np.exp(a), np.exp(b)
        y, x = np.indices(frame) + 0.5
        along = np.cos(angle) * (x - column) + np.sin(angle) * (y - row)
        across = np.cos(angle) * (y - row) - np.sin(angle) * (x - column)
        if self.kind == "rectangle":
            return np.clip(0.5 + a - np.abs(along), 0, 1) * np.clip(0.5 + b - np.abs(across), 0, 1)
        out = np.maximum(np.hypot(along / a, across / b), 1e-9)
        inside = (1 - out) * np.hypot(along, across) / out  # distance to the edge, along the ray from the centre
        return np.clip(0.5 + inside, 0, 1)


class ShapeFit:
    """The fit of a hill of a sheet as an even shape.

    Args:
        fit: of the frames of the window that the sheet lies in.
        sheet: as fitted pixel by pixel.
        hill: pixels (y, x) that become the shape.
        settings: numbers of the fit.
        ratio: whether the ratio by which heat spreads along the part is an unknown.
        barred: pixels (y, x) that the shape may not take; none if not given.
    """

    def __init__(
        self,
        fit: SheetFit,
        sheet: Sheet,
        hill: np.ndarray,
        settings: SheetSettings,
        ratio: bool = False,
        barred: np.ndarray | None = None,
    ) -> None:
        self._fit, self._sheet, self._hill, self._ratio = fit, sheet, hill, ratio
        self._free = np.ones(hill.shape, dtype=bool) if barred is None else ~barred
        self._around = nearer(hill, (sheet.insulation > 0) & ~hill)
        self._cell = fit.slab.thickness / settings.layers
        self._layers = settings.layers
        contrast = fit.contrast
        patch = fit.slab.thickness**2 / (contrast.pixel[0] * contrast.pixel[1])
        independent = RANK * contrast.counted.sum() / max(patch, 1.0)
        self._misfit = max(fit.misfit(sheet), np.finfo(float).tiny)
        self._weight = float(np.sqrt(independent / (2 * self._misfit)))
        self._start = self._by_moments()

    def _by_moments(self) -> np.ndarray:
        """Unknowns that have the place, the extent, the insulation and the depth of the hill."""
        sheet = self._sheet
        mask = self._hill & (sheet.insulation > 0.5 * np.quantile(sheet.insulation[self._hill], MIDDLE))
        rows, columns = np.nonzero(mask)
        moments = np.cov(np.stack([columns, rows])) if len(rows) > 2 else np.eye(2)
        size, turned = np.linalg.eigh(moments + np.eye(2) / 12)  # a pixel has an extent of its own
        short, long = 2 * np.sqrt(size)
        weight = np.where(self._hill, sheet.insulation, 0.0)
        depth = float((weight * sheet.depth).sum() / weight.sum())
        strength = float(np.median((sheet.reference * sheet.insulation / (1 - sheet.insulation))[mask]))
        insulation = min(strength / (strength + depth), 0.98 * MOST)
        start = [rows.mean() + 0.5, columns.mean() + 0.5, np.log(long), np.log(short)]
        start += [np.arctan2(turned[1, 1], turned[0, 1]), np.log(insulation / (MOST - insulation)), depth / self._cell]
        return np.array(start + [0.0] * self._ratio)

    def _as_hole(self) -> np.ndarray:
        """The start, stronger and smaller: with as much insulation in all."""
        insulation = MOST / (1 + np.exp(-self._start[5]))
        start = self._start.copy()
        start[2:4] += np.log(insulation / HOLE) / 2
        start[5] = np.log(HOLE / (MOST - HOLE))
        return start

    def __call__(self, kind: str, *, hole: bool, begun: Shape | None = None) -> Shape:
        """The shape of a kind that explains the frames best.

        Args:
            kind: one of ``KINDS``.
            hole: whether it is open to the back.
            begun: a shape to begin with, of the same area; if not given the hill, from which the fit is a rough one.
        """
        middle = self._as_hole() if hole else self._start
        widths = prior_widths(self._start, self._fit, self._layers, hole=hole)
        widths, n = np.append(widths, [KNOWN_RATIO] * self._ratio), len(middle)
        steps = np.append(STEPS, RATIO_STEP)[:n]
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
        low[2:4], low[5:7], high[5:7] = np.log(SMALLEST), (WEAKEST, 1.0), (STRONGEST, self._layers - 1.0)
        low[4], high[4] = middle[4] - LARGEST_TURN, middle[4] + LARGEST_TURN
        begin = middle if begun is None else begun.turned_into(kind)
        begin = np.clip(begin, low + steps / 2, high - steps / 2)

        def residuals(x: np.ndarray) -> np.ndarray:
            return np.concatenate([self._weight * self._left(kind, hole, x), (x - middle) / widths])

        if begun is None:
            found = _least_squares(residuals, begin, (low, high), steps, two_sided=False)
        else:  # a face of cells is a kink of the depth, at which all unknowns together would come to a halt
            found = _least_squares(residuals, begin, (low, high), steps, held=DEPTH)
            found = _least_squares(residuals, found.x, (low, high), steps)
        curved = found.jac.T @ found.jac
        return Shape(kind, hole, found.x, float(found.cost), np.linalg.pinv(curved, hermitian=True))

    def best(self) -> Shape:
        """The shape that explains the frames best, of both kinds, as a film or as a hole that a pixel resolves."""
        half_axis = float(np.exp(self._as_hole()[2:4].mean()))
        both = (False, True) if half_axis >= RESOLVED else (False,)
        rough = [self(KINDS[0], hole=hole) for hole in both]
        close = [one for one in rough if one.cost < FAR * min(other.cost for other in rough)]
        first = min((self(KINDS[0], hole=one.hole, begun=one) for one in close), key=_cost)
        return min([first, *(self(kind, hole=first.hole, begun=first) for kind in KINDS[1:])], key=_cost)

    def explains(self, shape: Shape) -> bool:
        """Whether a shape explains the frames nearly as well as the pixels do."""
        left = self._left(shape.kind, shape.hole, shape.unknowns)
        return float((left**2).sum()) / 2 < NEARLY * self._misfit

    def sheet(self, shape: Shape) -> Sheet:
        """The sheet with the shape in place of the hill; where another region insulates more, that one stays.

        Pixels around it that no other region is nearer to have its depth too: what they show is its heat.
        """
        covered, depth = shape.covered(self._hill.shape) * self._free, shape.unknowns[6] * self._cell
        insulation = np.where(self._hill, 0.0, self._sheet.insulation)
        own = covered * shape.insulation > insulation
        insulation = np.where(own, covered * shape.insulation, insulation)
        near = own | self._around
        at, reference = (np.where(near, depth, values) for values in (self._sheet.depth, self._sheet.reference))
        resistance = reference / self._fit.slab.thickness * insulation / (1 - insulation)
        empty = np.where(own, covered * EMPTY * shape.hole, np.where(self._hill, 0.0, self._sheet.hole))
        return Sheet(self._sheet.support | own, insulation, at, reference, resistance, self._sheet.cost, empty)

    def _left(self, kind: str, hole: bool, x: np.ndarray) -> np.ndarray:
        """What a shape leaves unexplained, over its spread."""
        shape = Shape(kind, hole, x, np.nan, np.empty(0))
        fit = self._fit
        if shape.ratio != 1:
            fit = fit.spreading((fit.along[0] * shape.ratio, fit.along[1] * shape.ratio))
        return fit.left(self.sheet(shape))


def _cost(shape: Shape) -> float:
    return shape.cost


def _least_squares(
    residuals: Callable[[np.ndarray], np.ndarray],
    begin: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    steps: np.ndarray,
    *,
    two_sided: bool = True,
    held: int | None = None,
) -> Any:
    """Unknowns of the least sum of squares, with slopes by differences.

    Args:
        residuals: of some unknowns.
        begin: unknowns to begin with, within their bounds.
        bounds: lowest and highest.
        steps: of the differences.
        two_sided: whether differences reach to both sides, and the fit goes on until it has settled; else a rough fit.
        held: number of an unknown that stays.
    """
    low, high = bounds
    free = np.array([i for i in range(len(begin)) if i != held])

    def whole(some: np.ndarray) -> np.ndarray:
        x = begin.copy()
        x[free] = some
        return x

    def slopes(some: np.ndarray) -> np.ndarray:
        x, columns = whole(some), []
        here = None if two_sided else residuals(x)
        for i in free:
            a, b = x.copy(), x.copy()
            b[i] = min(x[i] + steps[i], high[i])
            if here is None or b[i] - x[i] < steps[i]:
                a[i] = max(x[i] - steps[i], low[i])
            columns.append((residuals(b) - (here if here is not None and a[i] == x[i] else residuals(a))) / (b - a)[i])
        return np.stack(columns, axis=1)

    runs, settled = (RUNS, SETTLED) if two_sided else (ROUGH, RESTLESS)
    jacobian: Any = slopes  # a callable, which the library's types do not know
    found: Any = least_squares(
        lambda some: residuals(whole(some)),
        begin[free],
        jacobian,
        (low[free], high[free]),
        x_scale=2 * steps[free],
        ftol=settled,
        xtol=SMALL,
        max_nfev=runs,
    )
    found.x = whole(found.x)
    return found


def prior_widths(unknowns: np.ndarray, fit: SheetFit, layers: int, *, hole: bool) -> np.ndarray:
    """Standard deviations of the unknowns of a shape about where pixels have them, (7,); infinite for what they do not
    tell.

    Args:
        unknowns: of the shape, as pixels have it.
        fit: of the frames.
        layers: cells of the sheet's model along z.
        hole: whether it is open to the back. Its insulation, on which nothing depends, then stays.
    """
    if not hole:
        return np.array([1.0, 1.0, KNOWN_AXIS, KNOWN_AXIS, TURNED, np.inf, np.inf])
    turned, depth = unknowns[4], unknowns[6] * fit.slab.thickness / layers
    toward = np.array([np.cos(turned), np.sin(turned)]) ** 2  # of the first axis along x and y; the second likewise
    along, pixel = np.array(fit.along[::-1]), np.array(fit.contrast.pixel[::-1])
    widths = []
    for axis, share in zip(np.exp(unknowns[2:4]), (toward, toward[::-1]), strict=True):
        blur = np.hypot(depth * np.sqrt(share @ along) / (share @ pixel), 1.0)  # pixels
        widths.append(float(blur / axis))
    return np.array([1.0, 1.0, *widths, TURNED, 1.0, np.inf])


def near(hill: np.ndarray, fit: SheetFit, settings: SheetSettings) -> tuple[slice, slice]:
    """Rows and columns around a hill (y, x) in which its heat is felt."""
    return around(hill, fit.contrast.pixel, settings.around * fit.slab.thickness)


def shaped(fit: SheetFit, sheet: Sheet, settings: SheetSettings, stands_out: StandsOut) -> Sheet:
    """The sheet with each hill replaced by the even shape that explains the frames best, the strongest first.

    A hill that no simple shape explains stays as it was fitted. One that does not stand out from what the others
    explain, those stronger than it as shapes by then, goes: pixels make up with such hills for what the shape of a
    strong region explains better.

    Args:
        fit: of the window that the sheet lies in.
        sheet: as fitted.
        settings: numbers of the fit.
        stands_out: whether pixels (y, x) stand out from what a sheet explains.
    """
    hills = hills_of(sheet, settings)
    masks = sorted(outlines(sheet, settings), key=lambda mask: -float(sheet.insulation[mask].sum()))
    for mask in masks:
        own = hills == np.bincount(hills[mask]).argmax()
        if not stands_out(sheet.without(own), mask):
            sheet = sheet.without(own)
            continue
        window = near(own, fit, settings)
        one = ShapeFit(fit.cut(window), sheet.cut(window), own[window], settings)
        best = one.best()
        if one.explains(best) and (best.covered(own[window].shape) > 0.5).sum() >= settings.smallest:
            sheet = sheet.pasted(window, one.sheet(best))
    return sheet


def refined_ratios(fit: SheetFit, sheet: Sheet, settings: SheetSettings) -> tuple[float, float]:
    """Ratios along y and x; those of the user where the material is alike in all directions or nothing was found.

    The user's ratios are a prior, and the edges of the clearest region say more.

    Args:
        fit: with the user's ratios.
        sheet: fitted with them.
        settings: numbers of the fit.
    """
    masks = outlines(sheet, settings)
    if fit.along == (1.0, 1.0) or not masks:
        return fit.along
    clearest, hills = max(masks, key=lambda mask: float(sheet.insulation[mask].sum())), hills_of(sheet, settings)
    own = hills == np.bincount(hills[clearest]).argmax()
    window = near(own, fit, settings)
    one = ShapeFit(fit.cut(window), sheet.cut(window), own[window], settings, ratio=True)
    best = one.best()
    return (fit.along[0] * best.ratio, fit.along[1] * best.ratio) if one.explains(best) else fit.along
