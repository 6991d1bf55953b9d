"""What the right answer is: solutions without an error in time, by three routes that share no stepping code."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import expm_multiply

from nefty.bench.solver.case import Case

SUBSTEPS = 40  # per frame, of the coarser explicit run


@dataclass(frozen=True, eq=False)
class Reference:
    """Frames (t, y, x) and the gradient (z, y, x) of 1/2 sum (frames - data)^2 for alpha, float64."""

    frames: np.ndarray
    gradient: np.ndarray


def converged(case: Case, data: np.ndarray | None = None) -> Reference:
    """nefty in float64 with an error in time below 1e-12 of the initial temperature."""
    import torch

    from nefty.bench.solver.ours import heat_model

    model = heat_model(case, dtype="float64", time_error=1e-12).forward
    alpha = torch.from_numpy(case.alpha()).requires_grad_()
    frames = model(alpha)
    residual = frames if data is None else frames - torch.from_numpy(np.asarray(data, dtype=np.float64))
    (0.5 * (residual**2).sum()).backward()
    assert alpha.grad is not None
    return Reference(frames.detach().numpy(), alpha.grad.numpy())


def explicit(case: Case, substeps: int) -> np.ndarray:
    """The independent explicit simulator with ``substeps`` steps of forward Euler per frame, if stable, else more."""
    from nefty.synth.explicit import simulate_explicit

    safety = max(substeps / _stability_limit(case), 1.0)
    return simulate_explicit(case.grid, case.alpha(), case.times(), case.initial(), safety=safety)


def extrapolated_explicit(case: Case) -> np.ndarray:
    """The same with N and 2N substeps, 2 u_2N - u_N (Richardson): an error of second order in 1/N."""
    substeps = max(SUBSTEPS, ceil(2 * _stability_limit(case)))
    return 2 * explicit(case, 2 * substeps) - explicit(case, substeps)


def _stability_limit(case: Case) -> float:
    """Substeps per frame at the edge of stability: dt times the largest sum of conductances of a cell."""
    return case.dt * float(-_assemble(case).diagonal().min())


def matrix_exponential(case: Case) -> np.ndarray:
    """exp(t L) T0 by scipy, from a sparse matrix assembled here, face by face; exact to rounding."""
    operator = _assemble(case)
    times = case.times()
    states = expm_multiply(
        operator, case.initial().ravel(), start=0.0, stop=times[-1], num=case.frames + 1, endpoint=True
    )
    return states[1:].reshape(case.frames, *case.shape)[:, 0]


def surface_rmse(frames: np.ndarray | None, right: np.ndarray) -> float | None:
    """Root mean square over all frames and pixels of the difference."""
    if frames is None:
        return None
    return float(np.sqrt(np.mean((frames.astype(np.float64) - right) ** 2)))


def relative_error(found: np.ndarray | None, right: np.ndarray) -> float | None:
    """2-norm of the difference over the 2-norm of ``right``."""
    if found is None:
        return None
    return float(np.linalg.norm(found.astype(np.float64) - right) / np.linalg.norm(right))


def _assemble(case: Case) -> csr_array:
    """L for periodic sides, adiabatic faces and harmonic means, as a sparse matrix of size cells x cells."""
    alpha, index = case.alpha(), np.arange(case.grid.cells).reshape(case.shape)
    rows, columns, values = [], [], []
    for axis, h in enumerate(case.grid.spacing):
        here = slice(None, -1) if axis == 0 else slice(None)
        cut = (here, *[slice(None)] * 2)
        p, q = index[cut], np.roll(index, -1, axis)[cut]
        a, b = alpha[cut], np.roll(alpha, -1, axis)[cut]
        g = (2 * a * b / (a + b) / h**2).ravel()
        p, q = p.ravel(), q.ravel()
        rows += [p, q, p, q]
        columns += [q, p, p, q]
        values += [g, g, -g, -g]
    triplets = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return csr_array(triplets, shape=(case.grid.cells, case.grid.cells))
