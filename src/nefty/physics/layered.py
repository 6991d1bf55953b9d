"""The frames of a part whose diffusivity changes with depth only, and their exact Jacobian, in milliseconds.

Without lateral structure the lateral modes of the temperature do not mix. For the mode with eigenvalue mu of the
lateral Laplacian (cosines on adiabatic sides, waves on periodic ones),

    du/dt = -A u,   A = A_z(alpha) + mu diag(alpha),

a small symmetric matrix per mode, one row per layer. With A = V diag(lam) V^T and the response f(lam, t) of the flash
or pulse, the layer l of a source s shows sum_i V_li f(lam_i, t) (V^T s)_i. The derivative along A' is the
divided difference of Daleckii and Krein: sum_ij V_li f[lam_i, lam_j] (V^T A' V)_ij (V^T s)_j.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.fft import dctn, fft2, idctn, ifft2

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.chebyshev import response_of
from nefty.physics.conductance import face_conductances, face_sinks, surface_share
from nefty.physics.heat_model import HeatModel

FAINT = 1e-5  # of the strongest lateral mode: those below are left out
AT_ONCE = 256  # eigenvalues mu whose small matrices are held in memory together
CLOSE = 1e-6  # of eigenvalues, relative, whose divided difference is taken as the derivative


class LayeredModel:
    """Diffusivity of the layers to frames; the cells, the flash and the sides are those of a ``HeatModel``. Time is
    exact, whatever the integrator of that is.

    Args:
        model: of the part.
        frames: indices of the frames to predict, all if not given.
    """

    def __init__(self, model: HeatModel, frames: np.ndarray | None = None) -> None:
        if not model.plain_cells:
            raise InputError("a layered part has no cells of their own capacity and no open holes; use the HeatModel.")
        self._model, self._layers = model, model.observed_layers
        self.times = model.times if frames is None else model.times[frames]
        nz, ny, nx = model.grid.shape
        self._column = Grid((nz, 1, 1), (model.grid.size[0], 1.0, 1.0))
        source = np.zeros(model.grid.shape)
        given = model.source.double().numpy()
        source[: len(given) if given.ndim == 3 else 1] = given
        self._pulsed = given.ndim == 2
        self._periodic = model.boundary.lateral == "periodic"
        modes = np.asarray(
            fft2(source, axes=(1, 2)) if self._periodic else dctn(source, type=2, axes=(1, 2), norm="ortho")
        )
        strength = np.abs(modes).max(axis=0)
        if not strength.max() > 0:
            raise InputError("nothing heats the part: the flash is 0 everywhere; give an amplitude above 0.")
        self._kept = strength > FAINT * strength.max()
        self._sources = modes[:, self._kept].T  # (mode, z)
        turn = 2 if self._periodic else 1
        mu = [
            ratio * (2 - 2 * np.cos(turn * np.pi * np.arange(n) / n)) / d**2
            for ratio, n, d in zip(model.anisotropy, (ny, nx), model.grid.spacing[1:], strict=True)
        ]
        lateral = (mu[0][:, None] + mu[1])[self._kept]
        unit = lateral.max() or 1.0
        shares, self._which = np.unique(np.round(lateral / unit, 12), return_inverse=True)
        self._mu = shares * unit

    def linearize(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Frames (t, y, x), or (2, t, y, x) of both faces, and their derivatives by log alpha of each layer, (z, ...).

        Args:
            alpha: diffusivity of the layers, (z,).
        """
        matrix, derivative, share, share_slope = self._operator(alpha)
        layers, count = len(self._layers), len(self.times)
        frames = np.empty((len(self._sources), layers, count), dtype=self._sources.dtype)
        columns = np.empty((len(self._sources), layers, len(alpha), count), dtype=self._sources.dtype)
        for begin in range(0, len(self._mu), AT_ONCE):
            mu = self._mu[begin : begin + AT_ONCE]
            v, value, seen, mixed = self._respond(alpha, matrix, derivative, mu)
            for k in range(len(mu)):
                of = self._which == begin + k
                b = self._sources[of] @ v[k] * share
                frames[of] = np.tensordot(b, seen[k][:, :, None] * value[k], ([1], [1]))
                columns[of] = np.tensordot(b, mixed[k], ([1], [1]))
        columns[:, :, 0] += share_slope * frames
        return self._pixels(frames), self._pixels(columns.transpose(0, 2, 1, 3))

    def _respond(
        self, alpha: np.ndarray, matrix: np.ndarray, derivative: np.ndarray, mu: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """V (mu, z, i), f(lam, t) (mu, i, t), V at the observed layers (mu, layer, i), and for a source in the basis
        V the derivatives by log alpha, (mu, layer, j, z, t).
        """
        lam, v = np.linalg.eigh(matrix + mu[:, None, None] * np.diag(alpha))
        value, slope = response_of(lam[..., None], self.times, self._model.heating)
        gap = lam[:, :, None] - lam[:, None, :]
        near = np.abs(gap) <= CLOSE * np.maximum(np.abs(lam[:, :, None]), np.abs(lam[:, None, :])) + 1e-300
        divided = np.where(
            near[..., None],
            (slope[:, :, None] + slope[:, None, :]) / 2,
            (value[:, :, None] - value[:, None, :]) / np.where(near, 1.0, gap)[..., None],
        )
        turned = np.einsum("mai,pab,mbj->mpij", v, derivative, v, optimize=True)
        turned += np.einsum("m,mpi,mpj->mpij", mu, v, v, optimize=True)
        turned *= alpha[:, None, None]
        seen = v[:, self._layers, :]
        # sum over i of V_li (V^T A' V)_ij f[lam_i, lam_j], as products of small matrices for each mu, layer and j
        left = np.einsum("mli,mpij->mljpi", seen, turned)
        return v, value, seen, left @ divided.transpose(0, 2, 1, 3)[:, None]

    def _operator(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
        """A_z (z, z), its derivatives by alpha (z, z, z), the share of a flux that enters, its slope by log alpha."""
        model, column = self._model, torch.from_numpy(np.asarray(alpha, dtype=np.float64))
        boundary = model.boundary
        h = [torch.tensor(x, dtype=torch.float64) for x in (boundary.h_front, boundary.h_back)]

        def parts(a: torch.Tensor) -> torch.Tensor:
            a = a[:, None, None]
            faces = face_conductances(a, self._column, "adiabatic", model.face_mean, (1.0, 1.0))[0, 1:, 0, 0]
            sinks = face_sinks(a, h[0], h[1], self._column, boundary)[:, 0, 0]
            share = torch.as_tensor(surface_share(a, h[0], self._column, boundary), dtype=a.dtype).reshape(-1)[:1]
            return torch.cat([faces, sinks, share])

        numbers = parts(column).numpy()
        slopes = np.asarray(torch.autograd.functional.jacobian(parts, column))
        n = len(alpha)
        pattern = np.zeros((n + 1, n, n))  # of each face and sink in the matrix
        for k in range(n - 1):
            pattern[k, k : k + 2, k : k + 2] = [[1, -1], [-1, 1]]
        pattern[n - 1, 0, 0] = pattern[n, -1, -1] = 1
        share, share_slope = (numbers[-1], slopes[-1, 0] * alpha[0] / numbers[-1]) if self._pulsed else (1.0, 0.0)
        matrix = np.tensordot(numbers[:-1], pattern, 1)
        return matrix, np.tensordot(slopes[:-1].T, pattern, 1), float(share), float(share_slope)

    def _pixels(self, modes: np.ndarray) -> np.ndarray:
        """From lateral modes (mode, ..., layer, t) to what the model observes, (..., t, y, x)."""
        ny, nx = self._kept.shape
        full = np.zeros((*modes.shape[1:], ny, nx), dtype=modes.dtype)
        full[..., self._kept] = np.moveaxis(modes, 0, -1)
        if self._periodic:
            out = np.real(np.asarray(ifft2(full, axes=(-2, -1))))
        else:
            out = np.asarray(idctn(full, type=2, axes=(-2, -1), norm="ortho"))
        if self._model.observe == "volume":
            return out.swapaxes(-4, -3)
        return out if self._model.observe == "both" else out[..., 0, :, :, :]
