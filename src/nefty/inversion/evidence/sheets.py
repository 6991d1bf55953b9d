"""What the frames show as a thin sheet of resistance in the sound part, fitted through the full heat model.

Under each pixel where a template stands out lies a resistance R(y, x) at a depth z(y, x). The unknown is the insulation
c = R/(R + z/alpha), 0 to 1, since what the surface shows saturates with it, and the depth. Both are fitted by a
quasi-Newton method with exact gradients to the logarithm of the recording over the sound part,

    sum |whitened ln(T/T_sound) - whitened ln(model/model of the sound part)|^2 / 2
        + weight * total variation of c + 2 c^2 + stiffness * sum over neighbours of c (change of the depth)^2,

so that gains, an early deviation of pixels, a plane in each frame and the cells' own error drop out. Between two faces
of cells the frames are interpolated, which gives depths far finer than a cell for any R. What insulates nearly
perfectly is taken to be open to the back: the heat beside it finds nothing below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from nefty.core.grid import Grid
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.settings import SheetSettings
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.slab.weak_sheet import WeakSheet

MOST = 0.99  # insulation of a sheet through which next to nothing flows
OPEN = (0.6, 0.9)  # insulation between which what lies below a sheet becomes empty: a hole, drilled from the back
EMPTY = 0.98  # share of its conductance that it loses
SETTLED = 2e-4  # relative fall of the cost that is not worth another step
SMOOTH = 0.03  # of the total variation, in units of c


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
    """

    support: np.ndarray
    insulation: np.ndarray
    depth: np.ndarray
    reference: np.ndarray
    resistance: np.ndarray
    cost: list[float]


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
        self.contrast, self.slab, self._settings, self._layers = contrast, slab, settings, settings.layers
        rows, columns = contrast.counted.shape
        size = (slab.thickness, rows * contrast.pixel[0], columns * contrast.pixel[1])
        grid = Grid((self._layers, rows, columns), size)
        boundary = Boundary(lateral="adiabatic", front="robin", back="robin", h_front=slab.h_front, h_back=slab.h_back)
        heat: Any = np.zeros(grid.shape)
        heat[0] = self._layers
        short = heat[:, :1, :1]
        if contrast.heating is not None:
            heat = short = contrast.heating
        self._model = HeatModel(grid, contrast.times, heat, boundary, anisotropy=along)
        column = HeatModel(Grid((self._layers, 1, 1), (slab.thickness, 1.0, 1.0)), contrast.times, short, boundary)
        self._alpha = torch.full(grid.shape, slab.alpha)
        self._sound = torch.log(column(self._alpha[:, :1, :1].contiguous()))
        self._plane = _plane(np.sqrt(contrast.weight))
        self._seen = self._whitened(torch.from_numpy(contrast.values).float())

    def fit(
        self, support: np.ndarray, insulation: np.ndarray, depth: np.ndarray, owner: np.ndarray | None = None
    ) -> Sheet:
        """Fit insulation and depth.

        Args:
            support: pixels (y, x) that may have a sheet under them.
            insulation: to begin with, (y, x).
            depth: to begin with, (y, x); c refers to it.
            owner: number, from 0, of the region that a pixel (y, x) belongs to: each has one depth, and ``depth`` is
                even within it. If not given, every pixel has its own.
        """
        settings, pixels = self._settings, int(support.sum())
        which = np.arange(pixels) if owner is None else np.unique(owner[support], return_inverse=True)[1]
        sheets = torch.from_numpy(which)
        places = tuple(torch.from_numpy(i) for i in np.nonzero(support))
        information = self._information(depth)[support]
        unit, typical = torch.from_numpy(1 / information).float(), float(np.median(information))
        cells = depth * self._layers / self.slab.thickness
        costs: list[float] = []

        def volume(x: Tensor) -> tuple[Tensor, Tensor]:
            """Insulation, and depth in cells, each (y, x)."""
            c = torch.zeros(support.shape).index_put(places, x[:pixels] * unit)
            return c, torch.from_numpy(cells).float().index_put(places, x[pixels:][sheets] * SCALE)

        def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
            unknown = torch.tensor(x, dtype=torch.float32, requires_grad=True)
            c, at = volume(unknown)
            misfit = self._whitened(self.predicted(c, at, cells)) - self._seen
            bending = settings.stiffness * typical * _bending(c, at)
            value = 0.5 * (misfit**2).sum() + settings.variation * typical * _variation(c + STEEP * c**2) + bending
            value.backward()
            costs.append(float(value.detach()))
            assert unknown.grad is not None
            return costs[-1], unknown.grad.double().numpy()

        depths = np.zeros(int(which.max()) + 1)
        depths[which] = cells[support] / SCALE
        start = np.concatenate([insulation[support] * information, depths])
        bounds = [(0.0, MOST * i) for i in information] + [(1 / SCALE, (self._layers - 1) / SCALE)] * len(depths)
        c, at = (v.double().numpy() for v in volume(torch.from_numpy(self._descend(cost, start, bounds)).float()))
        relative = depth / self.slab.thickness * c / (1 - c)
        return Sheet(support, c, at * self.slab.thickness / self._layers, depth, relative, costs)

    def _descend(self, cost: Any, x: np.ndarray, bounds: list[tuple[float, float]]) -> np.ndarray:
        """Quasi-Newton steps; begun anew where a kink between two faces of cells stops them before they are done."""
        left = self._settings.steps
        while True:
            options = {"maxiter": left, "maxcor": 12, "ftol": SETTLED}
            found = minimize(cost, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
            left -= max(int(found.nit), 5)
            if left <= 0 or found.success:
                return found.x
            x = found.x

    def explained(self, sheet: Sheet, which: np.ndarray | None = None) -> np.ndarray:
        """ln(T/T_sound) of a sheet, or of those pixels (y, x) of it, (t, y, x)."""
        c = sheet.insulation if which is None else np.where(which, sheet.insulation, 0.0)
        cells = [
            torch.from_numpy(v * self._layers / self.slab.thickness).float() for v in (sheet.depth, sheet.reference)
        ]
        with torch.no_grad():
            return self.predicted(torch.from_numpy(c).float(), cells[0], cells[1].numpy()).double().numpy()

    def predicted(self, c: Tensor, at: Tensor, reference: np.ndarray) -> Tensor:
        """ln(model/model of the sound part), (t, y, x), of a sheet at the depths ``at``, in cells."""
        face = at.detach().floor().clamp(1, self._layers - 2)
        share = at - face
        scale = torch.from_numpy(np.asarray(reference) * self.slab.thickness / self._layers / self.slab.alpha).float()
        resistance = scale * c / (1 - c)
        above, below = (self._frames(resistance, c, (face + more).long()) for more in (0, 1))
        return (1 - share) * (torch.log(above) - self._sound) + share * (torch.log(below) - self._sound)

    def _frames(self, resistance: Tensor, c: Tensor, face: Tensor) -> Tensor:
        """Frames with a resistance at the face of cells below ``face`` layers, (t, y, x)."""
        layers = torch.arange(self._layers)[:, None, None]
        empty = EMPTY * ((c - OPEN[0]) / (OPEN[1] - OPEN[0])).clamp(0, 1)
        alpha = torch.where(layers >= face, self._alpha * (1 - empty), self._alpha)
        return self._model(alpha, resistance=torch.where(layers[1:] == face, resistance, 0.0))

    def _information(self, depth: np.ndarray) -> np.ndarray:
        """1 over the standard deviation of the insulation of one pixel, alone and to first order, (y, x)."""
        shape = [2 * n for n in depth.shape]
        waves = [2 * np.pi * np.fft.fftfreq(n, d) for n, d in zip(shape, self.contrast.pixel, strict=True)]
        along = self._model.anisotropy
        rate = self.slab.alpha * (along[0] * waves[0][:, None] ** 2 + along[1] * waves[1][None, :] ** 2)
        rates = np.concatenate([[0.0], np.geomspace(rate[rate > 0].min(), rate.max(), 47)])
        depths = np.linspace(0.05, 0.95, 19) * self.slab.thickness
        history = None if self.contrast.heating is None else self.contrast.heating.history
        scales = []
        for z, response in zip(depths, self.slab.contrast(self.contrast.times, depths, rates, history), strict=True):
            power = (self.contrast.whitened(response.T) ** 2).sum(axis=0)
            scales.append(np.sqrt(float(np.interp(rate, rates, power).mean())) * z / self.slab.thickness)
        return np.maximum(np.interp(depth, depths, scales), 1e-9)

    def _whitened(self, values: Tensor) -> Tensor:
        """As ``Contrast.whitened``, then without a plane in each frame."""
        spread = torch.from_numpy(self.contrast.spread).float()[:, None, None]
        free = torch.from_numpy(self.contrast.nuisances).float()
        white = values / spread
        white = white - torch.tensordot(free.T, torch.tensordot(free, white, 1), 1)
        flat = (white * torch.from_numpy(np.sqrt(self.contrast.weight)).float()).reshape(len(white), -1)
        return (flat - (flat @ self._plane.T) @ self._plane).reshape(white.shape)


STEEP = 2.0  # so that a small strong sheet is not smoother than a wide weak one that shows as much
SCALE = 0.2  # cells, the unit of the depths


def _plane(root: np.ndarray) -> Tensor:
    """An orthonormal basis of planes times the roots of the pixels' weights, (3, pixels)."""
    rows, columns = np.indices(root.shape, dtype=np.float64)
    basis = np.stack([np.ones(root.shape), rows - rows.mean(), columns - columns.mean()]) * root
    return torch.from_numpy(np.linalg.qr(basis.reshape(3, -1).T)[0].T.copy()).float()


def _variation(u: Tensor) -> Tensor:
    """Sum over the pixels of sqrt(|grad u|^2 + e^2) - e."""
    dy, dx = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    return (torch.sqrt(dy**2 + dx**2 + SMOOTH**2) - SMOOTH).sum()


def _bending(c: Tensor, at: Tensor) -> Tensor:
    """Sum over neighbours of the squared change of the depth, in cells, where both insulate."""
    down = torch.minimum(c[1:], c[:-1]) * (at[1:] - at[:-1]) ** 2
    right = torch.minimum(c[:, 1:], c[:, :-1]) * (at[:, 1:] - at[:, :-1]) ** 2
    return down.sum() + right.sum()
