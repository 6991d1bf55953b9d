"""From diffusivity to the conductances that the finite-volume operator is made of.

The operator of du/dt = L u is L = -sum_f g_f d_f d_f^T - diag(sinks), with the difference d_f across face f and
g_f = (face mean of alpha along the face's axis)/spacing^2. Everything here is plain differentiable torch, so
the solver itself only ever deals with conductances.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary


def harmonic(a: Tensor, b: Tensor) -> Tensor:
    """2ab/(a+b): continuity of the flux between two cells (paper, proposition 1).

    Written with reciprocals, whose derivative keeps its digits in float32 at any contrast.
    """
    return 2 / (1 / a + 1 / b)


def arithmetic(a: Tensor, b: Tensor) -> Tensor:
    """(a+b)/2."""
    return (a + b) / 2


def minimum(a: Tensor, b: Tensor) -> Tensor:
    """min(a, b): what PhiFlow's built-in diffusion takes; where a = b each cell gets half the derivative."""
    return torch.minimum(a, b)


FACE_MEANS = {"harmonic": harmonic, "arithmetic": arithmetic, "min": minimum}


def face_conductances(
    alpha: Tensor,
    grid: Grid,
    lateral: str,
    face_mean: str,
    anisotropy: tuple[float, float],
    resistance: Tensor | None = None,
) -> Tensor:
    """Return the conductances, shape (3, z, y, x): along z, y and x.

    Entry [a, k, j, i] belongs to the face between cell (k, j, i) and the cell before it along axis a, around the
    corner for the first cell of a periodic axis. Faces on the outside are 0.

    Args:
        alpha: diffusivity along z, (z, y, x).
        grid: the cells.
        lateral: ``"periodic"`` or ``"adiabatic"``.
        face_mean: a key of ``FACE_MEANS``.
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        resistance: R on the faces between layers, (z - 1, y, x); 1/(dz/alpha + R) replaces alpha/dz there.
    """
    mean = FACE_MEANS[face_mean]
    scale = [r / d**2 for r, d in zip((1.0, *anisotropy), grid.spacing, strict=True)]
    through = mean(alpha[1:], alpha[:-1])
    if resistance is not None:
        through = through / (1 + resistance * through / grid.spacing[0])
    faces = [pad(through, (0, 0, 0, 0, 1, 0))]
    if lateral == "periodic":
        for axis in (1, 2):  # a single cell is its own neighbour: no heat flows
            faces.append(mean(alpha, alpha.roll(1, axis)) if alpha.shape[axis] > 1 else torch.zeros_like(alpha))
    else:
        faces.append(pad(mean(alpha[:, 1:], alpha[:, :-1]), (0, 0, 1, 0)))
        faces.append(pad(mean(alpha[:, :, 1:], alpha[:, :, :-1]), (1, 0)))
    return torch.stack([face * s for face, s in zip(faces, scale, strict=True)])


def surface_share(alpha: Tensor, h_front: Tensor, grid: Grid, boundary: Boundary) -> Tensor | float:
    """The share of a heat flux into the front face that reaches the first cells; a Robin surface loses the rest.

    With the conductance G = 2 alpha/dz between the surface and the cell, the flux q is split at the surface:
    q = h T_s + G (T_s - T), so that the cell gets q G/(G + h) - T h G/(G + h).
    """
    if boundary.front == "adiabatic" or boundary.robin == "cell":
        return 1.0
    return 1 / (1 + h_front * grid.spacing[0] / (2 * alpha[0]))


def face_sinks(alpha: Tensor, h_front: Tensor, h_back: Tensor, grid: Grid, boundary: Boundary) -> Tensor:
    """Return the loss rates of the front and the back layer of cells, (2, y, x), in 1/time.

    Args:
        alpha: diffusivity along z, (z, y, x).
        h_front: heat loss coefficient of the front, a scalar or (y, x); not used on an adiabatic face.
        h_back: the same for the back.
        grid: the cells.
        boundary: which faces lose heat, and where the loss acts.
    """
    dz = grid.spacing[0]
    rates = []
    for kind, h, layer in ((boundary.front, h_front, alpha[0]), (boundary.back, h_back, alpha[-1])):
        if kind == "adiabatic":
            rates.append(torch.zeros_like(layer))
        else:
            rates.append(surface_loss(h, layer, dz, boundary.robin))
    return torch.stack(rates)


def in_all_cells(sinks: Tensor, alpha: Tensor) -> Tensor:
    """Sinks of all cells (z, y, x), from those of front and back (2, y, x), or as they are."""
    if len(sinks) == len(alpha) != 2:
        return sinks
    front, back = sinks
    layer = torch.arange(len(alpha), device=alpha.device)[:, None, None]
    return (layer == 0) * front + (layer == len(alpha) - 1) * back


def surface_loss(h: Tensor, alpha: Tensor, spacing: float, robin: str) -> Tensor:
    """Rate in 1/time at which cells lose heat through a face of theirs: 1/(1/h + d/(2 alpha))/d, or h/d of the cell."""
    if robin == "surface":
        return h / (1 + h * spacing / (2 * alpha)) / spacing
    return (h / spacing).expand_as(alpha)


def spectral_bound(faces: Tensor, sinks: Tensor, capacity: Tensor | None = None) -> float:
    """An upper bound of the largest eigenvalue of -L, by Gershgorin's discs: max over cells of (2 sum g + sink)/C.

    Args:
        faces: conductances (3, z, y, x); resistances and open holes only lower them.
        sinks: of front and back (2, y, x), or of all cells (z, y, x).
        capacity: C, (z, y, x); C^(-1) L has the eigenvalues of C^(-1/2) L C^(-1/2). 1 if not given.
    """
    with torch.no_grad():
        total = sum(faces[a] + faces[a].roll(-1, a) for a in range(3))
        assert isinstance(total, Tensor)
        total = 2 * total
        if len(sinks) == len(total) != 2:
            total = total + sinks
        else:
            total[0] += sinks[0]
            total[-1] += sinks[1]
        if capacity is not None:
            total = total / capacity
        return float(total.max())
