"""A recording as a problem without dimensions.

Coordinates run from -1 to 1, temperatures are shares of the flash's amplitude, and the residual is counted in units of
what it would be at the flash if the temperature stood still: the root mean square of alpha lap(T0) over the part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.sequence import Sequence
from nefty.physics.pulses import GaussianFlash, UniformFlash

SAMPLES = 16  # per axis, to tell the scale of the residual

Initial = Callable[[Tensor], Tensor]
"""Initial temperature (n,), over the amplitude, at places (n, 3) in z, y, x from -1 to 1."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What the losses need.

    Args:
        grid: of the diffusivity that is asked for.
        lateral: ``"periodic"`` or ``"adiabatic"`` sides; the faces are adiabatic.
        amplitude: temperature that counts as 1.
        initial: temperature at the flash.
        times: of the frames, (t,), from -1 at the flash to 1 at the last.
        frames: of the surface, (t, y, x); 0 where they do not count. None at all in a forward problem.
        counted: which values count, (t, y, x).
        weights: c_d = (2/L_d)^2 t_end alpha_d/alpha_z, (3,).
        scale: of the residual.
    """

    grid: Grid
    lateral: str
    amplitude: float
    initial: Initial
    times: Tensor
    frames: Tensor
    counted: Tensor
    weights: Tensor
    scale: float

    @property
    def seen(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Coordinates of the frames along t, z, y, x.

        They show the centre of the first layer of cells, as for all our models.
        """
        _, ny, nx = self.frames.shape
        surface = self.times.new_tensor([-1 + 1 / self.grid.shape[0]])
        return self.times, surface, _centres(ny, self.times), _centres(nx, self.times)


def build_problem(sequence: Sequence, layers: int, bulk: float, dtype: torch.dtype = torch.float32) -> Problem:
    """The problem of a recording that begins after its flash.

    Args:
        sequence: the recording.
        layers: of cells along z.
        bulk: typical diffusivity, for the residual's scale.
        dtype: of all numbers.
    """
    check(sequence)
    grid, flash, span = sequence.grid(layers), sequence.excitation, float(sequence.times[-1])
    assert isinstance(flash, (GaussianFlash, UniformFlash))
    counted = torch.from_numpy(sequence.weights())
    frames = torch.from_numpy(sequence.frames).to(dtype) / flash.amplitude
    ratios = (1.0, *sequence.anisotropy)
    weights = torch.tensor([r * (2 / s) ** 2 * span for r, s in zip(ratios, grid.size, strict=True)], dtype=dtype)
    initial = flash_temperature(flash, grid)
    return Problem(
        grid=grid,
        lateral=sequence.boundary.lateral,
        amplitude=flash.amplitude,
        initial=initial,
        times=torch.from_numpy(2 * sequence.times / span - 1).to(dtype),
        frames=torch.where(counted, frames, 0),
        counted=counted,
        weights=weights,
        scale=residual_scale(initial, weights, bulk),
    )


def check(sequence: Sequence) -> None:
    """Refuse recordings that the networks have no place for."""
    if sequence.observe != "front":
        raise InputError(
            f"observe={sequence.observe!r}: the PINNs are fitted to the heated front face; give a recording of it."
        )
    flash = sequence.excitation
    if not isinstance(flash, (GaussianFlash, UniformFlash)):
        given = "nothing" if flash is None else type(flash).__name__
        raise InputError(
            f"excitation={given}: the PINNs need the temperature after the flash as a function of the place; "
            "give a GaussianFlash or a UniformFlash."
        )
    if not flash.amplitude > 0:
        raise InputError(f"flash amplitude={flash.amplitude:g} must be above 0; it is the unit of the temperatures.")
    sides = sequence.boundary
    if sides.front != "adiabatic" or sides.back != "adiabatic":
        raise InputError(
            f"faces front={sides.front!r}, back={sides.back!r}: the PINNs know adiabatic faces only; "
            'give Boundary(front="adiabatic", back="adiabatic").'
        )
    if not sequence.weights().any():
        raise InputError("no value of the recording counts: all are missing or masked.")


def flash_temperature(flash: GaussianFlash | UniformFlash, grid: Grid) -> Initial:
    """The temperature that a flash of amplitude 1 leaves, as a function of the place."""
    size = grid.size

    def initial(place: Tensor) -> Tensor:
        z, y, x = ((place[:, a] + 1) / 2 * size[a] for a in range(3))
        exponent = z**2 / (2 * flash.depth**2)
        if isinstance(flash, GaussianFlash):
            yc, xc = flash.centre if flash.centre is not None else (size[1] / 2, size[2] / 2)
            exponent = exponent + ((y - yc) ** 2 + (x - xc) ** 2) / (2 * flash.width**2)
        return torch.exp(-exponent)

    return initial


def residual_scale(initial: Initial, weights: Tensor, bulk: float) -> float:
    """Root mean square of bulk * sum_d c_d d^2 T0/du_d^2 over the part."""
    axis = _centres(SAMPLES, weights)
    place = torch.cartesian_prod(axis, axis, axis).double().requires_grad_()
    (slope,) = torch.autograd.grad(initial(place).sum(), place, create_graph=True)
    bends = [torch.autograd.grad(slope[:, a].sum(), place, retain_graph=True)[0][:, a] for a in range(3)]
    laplacian = sum(c * bend for c, bend in zip(weights.double(), bends, strict=True))
    scale = bulk * float(torch.as_tensor(laplacian).square().mean().sqrt())
    return scale if scale > 0 else 1.0


def _centres(n: int, like: Tensor) -> Tensor:
    """Centres of n equal cells from -1 to 1."""
    return ((torch.arange(n, dtype=torch.float64) + 0.5) * (2 / n) - 1).to(like)
