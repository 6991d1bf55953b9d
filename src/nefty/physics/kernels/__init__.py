"""The few operations that all the work goes into, once in Numba and once in torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from nefty.core.errors import InputError

KERNELS = ("auto", "numba", "torch")
Array = Any  # numpy.ndarray in the Numba kernel, torch.Tensor in the torch kernel


class Sweep(Protocol):
    """The recurrence of ``physics.chebyshev`` in one call, see ``kernels.chebyshev_sweep.ChebyshevSweep``."""

    planes: Array

    def backward(self, said: Sequence[Array]) -> list[tuple[Array, Array, Array]]:
        """Derivatives by faces, sinks and start of sum_k <said_k, planes_k>, for each ``said``."""
        ...

    def tangents(self, moves: Sequence[tuple[Array, Array, Array | None]]) -> Array:
        """How the planes move, (move, k, layer, y, x), when faces, sinks and start do."""
        ...


class Kernel(Protocol):
    """What an integrator needs of a kernel. ``op`` is the operator L, made by ``operator``."""

    name: str

    def array(self, tensor: Tensor) -> Array:
        """The tensor as the kernel's array, cut from the graph, sharing memory."""
        ...

    def tensor(self, array: Array) -> Tensor:
        """The kernel's array as a tensor, sharing memory."""
        ...

    def constant(self, values: np.ndarray, like: Array) -> Array:
        """``values`` in the precision and on the device of ``like``."""
        ...

    def zeros(self, shape: tuple[int, ...], like: Array) -> Array:
        """Zeros in the precision and on the device of ``like``."""
        ...

    def stack(self, arrays: list[Array]) -> Array:
        """Stack along a new first axis."""
        ...

    def layers(self, u: Array, layers: tuple[int, ...]) -> Array:
        """A copy of some layers of ``u``, (layer, y, x)."""
        ...

    def contract(self, coefficients: Array, planes: Array) -> Array:
        """sum_k C[t, k] planes[k]."""
        ...

    def operator(self, faces: Array, sinks: Array) -> Any:
        """L from the conductances of faces (3, z, y, x) and sinks (2, y, x); see ``physics.conductance``."""
        ...

    def combine(self, op: Any, u: Array, a: float, v: Array, b: float, c: float, out: Array | None = None) -> Array:
        """Return a u + b v + c L u; ``out`` may offer memory for it, which must be neither u's nor v's."""
        ...

    def sweep(self, op: Any, q: float, start: Array, degree: int, layers: tuple[int, ...]) -> Sweep | None:
        """All terms w_0 ... w_degree at once; None where the integrator must go from term to term by ``combine``."""
        ...

    def accumulate(self, gradient: Any, lam: Array, u: Array, weight: float) -> None:
        """Add ``weight`` d(lam^T L u)/d(conductances) to the operator ``gradient``, in place."""
        ...

    def line_factors(self, op: Any, s: float) -> Any:
        """Factor the z-lines of I - s L, the preconditioner of ``conjugate_gradients``."""
        ...

    def conjugate_gradients(
        self, op: Any, s: float, factors: Any, rhs: Array, guess: Array, tolerance: float, most: int
    ) -> tuple[Array, int, float]:
        """Solve (I - s L) x = rhs; return x, the iterations and the relative residual |rhs - (I - s L) x|/|rhs|."""
        ...

    def jacobi_factors(self, op: Any, s: float) -> Any:
        """What ``jacobi`` needs of I - s L, to be made once."""
        ...

    def jacobi(self, op: Any, s: float, rhs: Array, guess: Array, sweeps: int, factors: Any = None) -> Array:
        """A fixed number of Jacobi sweeps for (I - s L) x = rhs (paper, eq. jacobi_iter); ``factors`` if they exist."""
        ...

    def relative_residual(self, op: Any, s: float, rhs: Array, x: Array) -> float:
        """|rhs - (I - s L) x|/|rhs|."""
        ...


def get_kernel(name: str, device_type: str) -> Kernel:
    """Return the kernel for tensors on a device; ``"auto"`` is Numba on the CPU and torch elsewhere."""
    if name == "torch" or (name == "auto" and device_type != "cpu"):
        from nefty.physics.kernels.torch_kernel import TorchKernel

        return TorchKernel()
    if device_type != "cpu":
        raise InputError(f'kernel="numba" runs on the CPU, alpha is on {device_type!r}; use kernel="torch" or "auto".')
    from nefty.physics.kernels.numba_kernel import NumbaKernel

    return NumbaKernel()
