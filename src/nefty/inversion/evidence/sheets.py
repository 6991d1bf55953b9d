"""What the frames show as a thin sheet of resistance in the sound part, fitted through the full heat model.

Under each pixel where a template stands out lies a resistance R(y, x) at the depth z of its region. The unknown is the
insulation c = R/(R + z/alpha), 0 to 1, since what the surface shows saturates with it, and the depth. Both are fitted
with exact gradients, and with the curvature of a weak sheet, to the logarithm of the recording over the sound part,

    sum |whitened ln(T/T_sound) - whitened ln(model/model of the sound part)|^2 / 2
        + weight * total variation of c + 2 c^2,

so that gains, an early deviation of pixels, a plane in each frame and the cells' own error drop out. Between two faces
of cells the frames are interpolated, which gives depths far finer than a cell for any R.

Under a hole that is open to the back there is nothing: no heat is stored or flows there, and its walls lose heat as the
back face does. Pixel by pixel, what insulates nearly perfectly is taken for one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from nefty.core.grid import Grid
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.curvature import Curvature, Information
from nefty.inversion.evidence.descent import Costly, descend
from nefty.inversion.evidence.settings import SheetSettings
from nefty.physics.boundary import Boundary
from nefty.physics.conductance import surface_loss
from nefty.physics.heat_model import HeatModel
from nefty.physics.slab.weak_sheet import WeakSheet

MOST = 0.99  # insulation of a sheet through which next to nothing flows
OPEN = (0.6, 0.9)  # insulation between which what lies below a sheet becomes empty: a hole, drilled from the back
EMPTY = 0.999  # share of its conductance that it loses
SETTLED = 2e-3  # share of the gain so far that is not worth another step
SMOOTH = 0.03  # of the total variation, in units of c
STEEP = 2.0  # so that a small strong sheet is not smoother than a wide weak one that shows as much
SCALE = 0.2  # cells, the unit of the depths
REACH = 2.0  # cells by which a depth moves in one step, at most


@dataclass(frozen=True, eq=False)
class Sheet:
    """What was fitted.

    Args:
        support: pixels (y, x) that may have a sheet under them.
        insulation: c, (y, x).
        depth: of the sheet, (y, x).
        reference: depth that c refers to, (y, x).
        resistance: R/(thickness/alpha), (y, x).
        cost: misfit and penalties, at every evaluation.
        hole: share of what lies below that is empty, (y, x).
    """

    support: np.ndarray
    insulation: np.ndarray
    depth: np.ndarray
    reference: np.ndarray
    resistance: np.ndarray
    cost: list[float]
    hole: np.ndarray

    def cut(self, window: tuple[slice, slice]) -> Sheet:
        """The part of it in a window of its rows and columns."""
        insulation, depth = self.insulation[window], self.depth[window]
        reference, resistance = self.reference[window], self.resistance[window]
        return Sheet(self.support[window], insulation, depth, reference, resistance, self.cost, self.hole[window])

    def pasted(self, window: tuple[slice, slice], part: Sheet) -> Sheet:
        """The same sheet with that in a window of its rows and columns."""
        names = ("support", "insulation", "depth", "reference", "resistance", "hole")
        whole = {name: getattr(self, name).copy() for name in names}
        for name, values in whole.items():
            values[window] = getattr(part, name)
        return dataclasses.replace(self, **whole)

    def without(self, pixels: np.ndarray) -> Sheet:
        """The same sheet with nothing under those pixels, (y, x)."""
        insulation, resistance, hole = (
            np.where(pixels, 0.0, values) for values in (self.insulation, self.resistance, self.hole)
        )
        return dataclasses.replace(self, insulation=insulation, resistance=resistance, hole=hole)


class SheetFit:
    """The fit of a sheet to a contrast.

    Args:
        contrast: of the recording.
        slab: the sound part.
        along: diffusivity along y and x over that through the thickness.
        settings: numbers of the fit.
    """

    def __init__(
        self,
        contrast: Contrast,
        slab: WeakSheet,
        along: tuple[float, float],
        settings: SheetSettings,
    ) -> None:
        self.contrast, self.slab, self.along = contrast, slab, along
        self._settings, self._layers = settings, settings.layers
        rows, columns = contrast.counted.shape
        size = (slab.thickness, rows * contrast.pixel[0], columns * contrast.pixel[1])
        grid = Grid((self._layers, rows, columns), size)
        boundary = Boundary(lateral="adiabatic", front="robin", back="robin", h_front=slab.h_front, h_back=slab.h_back)
        heat: Any = np.zeros(grid.shape)
        heat[0] = self._layers
        short = heat[:, :1, :1]
        if contrast.heating is not None:
            heat = short = contrast.heating
        times = _of_cells(contrast.times, grid.spacing[0] ** 2 / slab.alpha)
        self._model = HeatModel(grid, times, heat, boundary, anisotropy=along)
        column = HeatModel(Grid((self._layers, 1, 1), (slab.thickness, 1.0, 1.0)), times, short, boundary)
        self._alpha = torch.full(grid.shape, slab.alpha)
        self._sound = torch.log(column(self._alpha[:, :1, :1].contiguous()))
        self._plane = _plane(np.sqrt(contrast.weight))
        self._seen = self._whitened(torch.from_numpy(contrast.values).float())

    def fit(
        self,
        support: np.ndarray,
        insulation: np.ndarray,
        depth: np.ndarray,
        owner: np.ndarray,
        smoother: float = 1.0,
        steps: int | None = None,
    ) -> Sheet:
        """Fit an insulation under each pixel, and a depth of each region.

        Args:
            support: pixels (y, x) that may have a sheet under them.
            insulation: to begin with, (y, x).
            depth: to begin with, (y, x), even within a region; c refers to it.
            owner: number, from 0, of the region that a pixel (y, x) belongs to.
            smoother: factor of the weight of the total variation.
            steps: runs of the heat model, at most; of the settings if not given.
        """
        settings, slab, places = self._settings, self.slab, np.nonzero(support)
        pixels, which = len(places[0]), np.unique(owner[support], return_inverse=True)[1]
        known = self._information(depth)
        weight = smoother * settings.variation * float(np.median(known[support]))
        cell = slab.thickness / self._layers
        cells = depth / cell
        unit = np.concatenate([1 / known[support], np.full(int(which.max()) + 1, SCALE)])

        def fields(x: np.ndarray, elsewhere: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Insulation, and depth in cells, each (y, x)."""
            c, at = np.zeros(support.shape), elsewhere.copy()
            c[places], at[places] = (x * unit)[:pixels], (x * unit)[pixels:][which]
            return c, at

        def gathered(c: np.ndarray, at: np.ndarray) -> np.ndarray:
            """Slopes (y, x) by insulation and by depth, as slopes by the unknowns."""
            return np.concatenate([c[places], np.bincount(which, at[places], len(unit) - pixels)]) * unit

        def misfit(x: np.ndarray) -> Costly:
            c, at = (torch.tensor(v, dtype=torch.float32, requires_grad=True) for v in fields(x, cells))
            shown = self.predicted(c, at, cells, emptied(c))
            value = 0.5 * ((self._whitened(shown) - self._seen) ** 2).sum()
            value.backward()
            assert c.grad is not None
            assert at.grad is not None
            return Costly(float(value.detach()), gathered(c.grad.double().numpy(), at.grad.double().numpy()))

        def curved(x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            now, at = fields(x, cells)
            sure = np.where(support, now, 0.0) + 1e-9
            middle = float((sure * at).sum() / sure.sum()) * cell
            curvature = Curvature(self.contrast, slab, self.along, middle, cell)
            scale = self._information(at * cell) / self._information(middle) * (cells / at)

            def product(d: np.ndarray) -> np.ndarray:
                change, moved = fields(d, np.zeros_like(cells))
                of_c, of_z = curvature(scale * change, scale * now * moved)
                return gathered(scale * of_c, scale * now * of_z)

            return product

        def penalty(x: np.ndarray) -> tuple[float, np.ndarray]:
            c, _ = fields(x, cells)
            value, slope = _variation(c + STEEP * c**2)
            return weight * value, gathered(weight * slope * (1 + 2 * STEEP * c), np.zeros_like(c))

        regions = len(unit) - pixels
        at = np.zeros(regions)
        at[which] = cells[support]
        start = np.concatenate([insulation[support], at]) / unit
        lowest = np.concatenate([np.zeros(pixels), np.ones(regions)]) / unit
        highest = np.concatenate([np.full(pixels, MOST), np.full(regions, self._layers - 1.0)]) / unit
        reach = np.concatenate([np.full(pixels, 1.0), np.full(regions, REACH)]) / unit
        x, costs = descend(misfit, curved, penalty, start, (lowest, highest), reach, steps or settings.steps, SETTLED)
        c, at = fields(x, cells)
        hole = emptied(torch.from_numpy(c)).numpy()
        return Sheet(support, c, at * cell, depth, depth / slab.thickness * c / (1 - c), costs, hole)

    def spreading(self, along: tuple[float, float]) -> SheetFit:
        """The same fit with other ratios of diffusivity."""
        return SheetFit(self.contrast, self.slab, along, self._settings)

    def cut(self, window: tuple[slice, slice]) -> SheetFit:
        """The same fit in a window of its rows and columns."""
        every = np.ones(len(self.contrast.times), dtype=bool)
        return SheetFit(self.contrast.part(every, window), self.slab, self.along, self._settings)

    def misfit(self, sheet: Sheet) -> float:
        """Half the squared misfit of a sheet over its variance."""
        return 0.5 * float((self.left(sheet) ** 2).sum())

    def left(self, sheet: Sheet) -> np.ndarray:
        """What a sheet leaves unexplained over its spread, (t * y * x,)."""
        left = self._whitened(torch.from_numpy(self.explained(sheet)).float()) - self._seen
        return left.double().numpy().ravel()

    @cached_property
    def _information(self) -> Information:
        return Information(self.contrast, self.slab, self.along)

    def explained(self, sheet: Sheet, which: np.ndarray | None = None) -> np.ndarray:
        """ln(T/T_sound) of a sheet, or of those pixels (y, x) of it, (t, y, x)."""
        kept = np.ones(sheet.support.shape, dtype=bool) if which is None else which
        c, hole = (torch.from_numpy(np.where(kept, v, 0.0)).float() for v in (sheet.insulation, sheet.hole))
        cells = [
            torch.from_numpy(v * self._layers / self.slab.thickness).float() for v in (sheet.depth, sheet.reference)
        ]
        with torch.no_grad():
            return self.predicted(c, cells[0], cells[1].numpy(), hole).double().numpy()

    def predicted(self, c: Tensor, at: Tensor, reference: np.ndarray, hole: Tensor) -> Tensor:
        """ln(model/model of the sound part), (t, y, x).

        Args:
            c: insulation, (y, x).
            at: depths in cells, (y, x).
            reference: depths in cells that c refers to, (y, x).
            hole: share of what lies below that is empty, (y, x).
        """
        face = at.detach().floor().clamp(1, self._layers - 2)
        share = at - face
        scale = torch.from_numpy(np.asarray(reference) * self.slab.thickness / self._layers / self.slab.alpha).float()
        c = torch.maximum(c, hole)  # nothing flows through what is empty
        resistance = scale * c / (1 - c)
        above, below = (self._frames(resistance, hole, (face + more).long()) for more in (0, 1))
        return (1 - share) * (torch.log(above) - self._sound) + share * (torch.log(below) - self._sound)

    def _frames(self, resistance: Tensor, empty: Tensor, face: Tensor) -> Tensor:
        """Frames with a resistance at the face of cells below ``face`` layers, empty below by a share, (t, y, x)."""
        layers = torch.arange(self._layers)[:, None, None]
        hole = torch.where(layers >= face, empty, 0.0)
        between = torch.where(layers[1:] == face, resistance, 0.0)
        losses = self._walls(hole) if self.slab.h_back and bool(hole.any()) else None
        return self._model(self._alpha * (1 - hole), resistance=between, losses=losses)

    def _walls(self, hole: Tensor) -> Tensor:
        """Rate at which cells lose heat into holes beside and below them, (z, y, x), as the back face does.

        Args:
            hole: share of each cell that is empty, (z, y, x).
        """
        lost = torch.zeros_like(hole)
        for axis, ratio in enumerate((1.0, *self.along)):
            wall = hole.narrow(axis, 1, hole.shape[axis] - 1) - hole.narrow(axis, 0, hole.shape[axis] - 1)
            width = self._model.grid.spacing[axis]
            rate = surface_loss(torch.tensor(self.slab.h_back), torch.tensor(ratio * self.slab.alpha), width, "surface")
            before, behind = [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]
            before[5 - 2 * axis], behind[4 - 2 * axis] = 1, 1
            lost = lost + rate * (pad(wall.clamp(min=0), before) + pad((-wall).clamp(min=0), behind))
        return lost

    def _whitened(self, values: Tensor) -> Tensor:
        """As ``Contrast.whitened``, then without a plane in each frame."""
        spread = torch.from_numpy(self.contrast.spread).float()[:, None, None]
        free = torch.from_numpy(self.contrast.nuisances).float()
        white = values / spread
        white = white - torch.tensordot(free.T, torch.tensordot(free, white, 1), 1)
        flat = (white * torch.from_numpy(np.sqrt(self.contrast.weight)).float()).reshape(len(white), -1)
        return (flat - (flat @ self._plane.T) @ self._plane).reshape(white.shape)


def emptied(c: Tensor) -> Tensor:
    """Share of what lies below a sheet of that insulation that is taken to be empty, where only c is known."""
    return EMPTY * ((c - OPEN[0]) / (OPEN[1] - OPEN[0])).clamp(0, 1)


def _of_cells(times: np.ndarray, across: float) -> np.ndarray:
    """When cells show what the surface itself shows at some times, (t,): a little earlier.

    Heat begins spread over the first cell, and its mean is what is seen. A wave cos(k z) is seen by cos^2(k dz/2) of
    its strength, about exp(-k^2 dz^2/4): as if dz^2/(4 alpha) more had passed.

    Args:
        times: of the surface.
        across: dz^2/alpha.
    """
    return np.maximum(times - across / 4, times / 2)


def _plane(root: np.ndarray) -> Tensor:
    """An orthonormal basis of planes times the roots of the pixels' weights, (3, pixels)."""
    rows, columns = np.indices(root.shape, dtype=np.float64)
    basis = np.stack([np.ones(root.shape), rows - rows.mean(), columns - columns.mean()]) * root
    return torch.from_numpy(np.linalg.qr(basis.reshape(3, -1).T)[0].T.copy()).float()


def _variation(u: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum over the pixels of sqrt(|grad u|^2 + e^2) - e, and its gradient (y, x)."""
    down, right = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    size = np.sqrt(down**2 + right**2 + SMOOTH**2)
    slope = np.zeros_like(u)
    slope[1:, :-1] += down / size
    slope[:-1, 1:] += right / size
    slope[:-1, :-1] -= (down + right) / size
    return float((size - SMOOTH).sum()), slope
