"""The forward model: diffusivity in, surface frames out, differentiable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nefty.core.checks import frame_times, number, one_of
from nefty.core.errors import InputError, unknown_name
from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary
from nefty.physics.chebyshev import Chebyshev
from nefty.physics.conductance import FACE_MEANS, face_conductances, face_sinks, spectral_bound
from nefty.physics.kernels import KERNELS, Kernel, get_kernel
from nefty.physics.linear_solver import Status
from nefty.physics.problem import Inputs, Integrator, Problem, Run
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from nefty.physics.stepping import SDIRK2, ImplicitEuler
from nefty.physics.trajectory import Memory, Reversed, memory_policy

INTEGRATORS = {"chebyshev": Chebyshev, "sdirk2": SDIRK2, "implicit-euler": ImplicitEuler}
OBSERVED = ("front", "back", "both", "volume")
DTYPES = {"float32": torch.float32, "float64": torch.float64}


class HeatModel:
    """Heat conduction du/dt = div(alpha grad u) in a slab after a flash, seen by a camera.

    ``model(alpha)`` returns the frames, a tensor (t, y, x) of the temperature rise of the front layer of cells; it is
    differentiable with respect to alpha, the initial temperature, the heat losses and the amplitude of the heating.

    Args:
        grid: the cells, axis order (z, y, x).
        times: of the frames, increasing, counted from the flash.
        initial: the temperature rise at t = 0 as an array (z, y, x); or ``GaussianFlash``, ``UniformFlash``; or
            ``TopHatPulse``, which starts from 0 and heats the front.
        boundary: conditions on the six sides.
        face_mean: ``"harmonic"`` (the paper's), ``"arithmetic"`` or ``"min"``.
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        observe: ``"front"``, ``"back"``: frames (t, y, x); ``"both"``: (2, t, y, x), front first;
            ``"volume"``: (t, z, y, x).
        integrator: ``"chebyshev"`` (default), ``"sdirk2"``, ``"implicit-euler"``, or an object of these classes.
        kernel: ``"numba"`` (CPU), ``"torch"`` (any device), or ``"auto"``.
        dtype: ``"float32"`` or ``"float64"``.
        derivative: ``"adjoint"``, or ``"autograd"`` to let torch record every operation (needs ``kernel="torch"``).
        memory: how the adjoint gets the states back: ``"stored"``, ``"checkpointed"``, ``"reversed"``, or an object of
            these classes; by default ``"reversed"`` for Chebyshev and ``"stored"`` for implicit steps.

    Attributes:
        status: what the last call did: operator applications, iterations, residuals.
    """

    def __init__(
        self,
        grid: Grid,
        times: Any,
        initial: Any,
        boundary: Boundary | None = None,
        *,
        face_mean: str = "harmonic",
        anisotropy: tuple[float, float] = (1.0, 1.0),
        observe: str = "front",
        integrator: str | Integrator = "chebyshev",
        kernel: str = "auto",
        dtype: str = "float32",
        derivative: str = "adjoint",
        memory: str | Memory | None = None,
    ) -> None:
        if not isinstance(grid, Grid):
            raise InputError(f"grid={grid!r} must be a nefty.Grid(shape=(z, y, x), size=(z, y, x)).")
        if boundary is not None and not isinstance(boundary, Boundary):
            raise InputError(f"boundary={boundary!r} must be a nefty.Boundary(...).")
        self.grid = grid
        self.times = frame_times(times)
        self.boundary = boundary or Boundary()
        self.face_mean = one_of("face_mean", face_mean, FACE_MEANS)
        self.anisotropy = _ratios(anisotropy)
        self.observe = one_of("observe", observe, OBSERVED)
        self.integrator = _integrator(integrator)
        self.kernel = one_of("kernel", kernel, KERNELS)
        self.dtype = DTYPES[one_of("dtype", dtype, DTYPES)]
        self.derivative = one_of("derivative", derivative, ("adjoint", "autograd"))
        if derivative == "autograd" and kernel != "torch":
            raise InputError(f'derivative="autograd" needs kernel="torch", got kernel={kernel!r}.')
        if memory is None:
            memory = Reversed() if isinstance(self.integrator, Chebyshev) else "stored"
        self.memory = memory_policy(memory)
        if isinstance(self.memory, Reversed) and not isinstance(self.integrator, Chebyshev):
            raise InputError(
                'memory="reversed" needs integrator="chebyshev": an implicit step cannot be run backwards. '
                'Use memory="checkpointed".'
            )
        self.initial = initial
        self.amplitude, self._flash, self._heating = self._sources(initial)
        self.status = Status()

    def _sources(self, initial: Any) -> tuple[float, Tensor | None, Tensor | None]:
        """Amplitude, and for amplitude 1 the initial temperature or the heating rate of the front cells."""
        if isinstance(initial, (GaussianFlash, UniformFlash)):
            return initial.amplitude, torch.from_numpy(initial.shape(self.grid)).to(self.dtype), None
        if isinstance(initial, TopHatPulse):
            return initial.amplitude, None, torch.from_numpy(initial.shape(self.grid)).to(self.dtype)
        return 1.0, self._volume("initial", initial), None

    def _volume(self, what: str, given: Any) -> Tensor:
        """``given`` as a finite tensor (z, y, x) of the model's precision, without leaving the graph."""
        try:
            value = given if isinstance(given, Tensor) else torch.from_numpy(np.asarray(given, dtype=np.float64))
        except (TypeError, ValueError):
            raise InputError(f"{what} must be an array (z, y, x) or a flash, got {type(given).__name__}.") from None
        if tuple(value.shape) != self.grid.shape:
            raise InputError(
                f"{what} has shape {tuple(value.shape)}, the grid has {self.grid.shape} (z, y, x); "
                "check the axis order, or resample it."
            )
        if not bool(torch.isfinite(value.detach()).all()):
            raise InputError(f"{what} holds NaN or infinity; nothing can be computed from it.")
        return value.to(self.dtype)

    def _diffusivity(self, given: Any) -> Tensor:
        alpha = self._volume("alpha", given)
        low = float(alpha.detach().min())
        if low <= 0:
            where = tuple(int(i) for i in np.unravel_index(int(alpha.detach().argmin()), self.grid.shape))
            raise InputError(
                f"alpha={low:g} at cell {where} (z, y, x) must be above 0; bound the field, for air use a small "
                "value such as 1e-4 of the bulk."
            )
        return alpha

    def _loss(self, face: str, given: Any, like: Tensor) -> Tensor:
        """h of a face as a tensor, scalar or (y, x)."""
        kind = getattr(self.boundary, face)
        if given is None:
            given = getattr(self.boundary, f"h_{face}")
        elif kind == "adiabatic":
            raise InputError(f'h_{face} was given but the {face} is adiabatic; use Boundary({face}="robin").')
        h = torch.as_tensor(given, dtype=self.dtype, device=like.device)
        if h.ndim and tuple(h.shape) != self.grid.shape[1:]:
            raise InputError(
                f"h_{face} has shape {tuple(h.shape)}; give a number or a map of {self.grid.shape[1:]} (y, x)."
            )
        low = float(h.detach().min())
        if not low >= 0:
            raise InputError(f"h_{face}={low:g} must be at least 0: a face loses heat, it does not gain it.")
        return h

    def _inputs(self, alpha: Tensor, initial: Any, h_front: Any, h_back: Any, amplitude: Any) -> Inputs:
        """The conductances and sources as differentiable tensors."""
        faces = face_conductances(alpha, self.grid, self.boundary.lateral, self.face_mean, self.anisotropy)
        h_front, h_back = self._loss("front", h_front, alpha), self._loss("back", h_back, alpha)
        sinks = face_sinks(alpha, h_front, h_back, self.grid, self.boundary)
        if amplitude is None:
            amplitude = self.amplitude
        else:
            number("amplitude", float(torch.as_tensor(amplitude).detach()))
        start, heating = self._flash, self._heating
        if initial is not None:
            if heating is not None:
                raise InputError("initial was given but the model is heated by a TopHatPulse; give amplitude.")
            start = self._volume("initial", initial)
            amplitude = 1.0
        start = None if start is None else start.to(alpha.device) * amplitude
        heating = None if heating is None else heating.to(alpha.device) * amplitude
        return Inputs(faces, sinks, start, heating)

    @property
    def _problem(self) -> Problem:
        nz = self.grid.shape[0]
        layers = {"front": (0,), "back": (nz - 1,), "both": (0, nz - 1), "volume": tuple(range(nz))}[self.observe]
        pulse = self.initial
        window = (pulse.start, pulse.start + pulse.duration) if isinstance(pulse, TopHatPulse) else None
        return Problem(self.grid, self.times, layers, window)

    def _run(self, inputs: Inputs, kernel: Kernel, arrays: Inputs, memory: Memory | None) -> Run:
        bound = spectral_bound(inputs.faces.detach(), inputs.sinks.detach())
        name = "float32" if self.dtype == torch.float32 else "float64"
        run = self.integrator.run(self._problem, kernel, arrays, bound, name, memory)
        self.status = run.status
        return run

    def __call__(
        self,
        alpha: Any,
        *,
        initial: Any = None,
        h_front: Any = None,
        h_back: Any = None,
        amplitude: Any = None,
    ) -> Tensor:
        """Return the frames for a diffusivity (z, y, x).

        Any argument may be a tensor that requires a gradient. Those not given are the model's own.

        Args:
            alpha: diffusivity along z, above 0.
            initial: initial temperature (z, y, x), in place of the model's.
            h_front: heat loss of the front, a number or a map (y, x); the face must be ``"robin"``.
            h_back: the same for the back.
            amplitude: of the flash or pulse, in place of its own.
        """
        inputs = self._inputs(self._diffusivity(alpha), initial, h_front, h_back, amplitude)
        kernel = get_kernel(self.kernel, inputs.faces.device.type)
        if self.derivative == "autograd":
            frames = self._run(inputs, kernel, inputs, None).frames
        else:
            wanted = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in inputs)
            frames = _Adjoint.apply(self, kernel, self.memory if wanted else None, *inputs)
        return self._arrange(frames)

    def _arrange(self, frames: Any) -> Tensor:
        """(t, layer, y, x) to what ``observe`` promises."""
        if self.observe in ("front", "back"):
            return frames[:, 0]
        return frames.transpose(0, 1) if self.observe == "both" else frames

    def _gather(self, frames: Tensor) -> Tensor:
        """The inverse of ``_arrange``."""
        if self.observe in ("front", "back"):
            return frames[:, None]
        return frames.transpose(0, 1) if self.observe == "both" else frames

    def linearize(self, alpha: Any, **inputs: Any) -> Linearization:
        """Solve once at ``alpha`` and return J and J^T as functions, for Gauss-Newton.

        Args:
            alpha: diffusivity (z, y, x).
            **inputs: as for a call of the model.
        """
        if self.derivative == "autograd":
            raise InputError('linearize needs derivative="adjoint".')
        alpha = self._diffusivity(alpha).detach()
        known = {"initial": None, "h_front": None, "h_back": None, "amplitude": None}
        for name in inputs:
            if name not in known:
                raise unknown_name("input", name, known)
        known.update(inputs)

        def to_inputs(alpha: Tensor) -> Inputs:
            return self._inputs(alpha, **known)

        values = to_inputs(alpha)
        kernel = get_kernel(self.kernel, alpha.device.type)
        arrays = Inputs(*(None if t is None else kernel.array(t) for t in values))
        run = self._run(values, kernel, arrays, self.memory)
        return Linearization(self, alpha, kernel, run, to_inputs)


@dataclass(frozen=True)
class Linearization:
    """The model at one diffusivity: its frames, and products with its Jacobian.

    Args:
        model: whose Jacobian it is.
        alpha: where it was taken.
        kernel: where the work is done.
        run: the solve.
        to_inputs: alpha to the solver's inputs.
    """

    model: HeatModel
    alpha: Tensor
    kernel: Kernel
    run: Run
    to_inputs: Any

    @property
    def frames(self) -> Tensor:
        """The frames at ``alpha``."""
        return self.model._arrange(self.kernel.tensor(self.run.frames))

    def jvp(self, direction: Tensor) -> Tensor:
        """J ``direction``: how the frames move when alpha moves by ``direction`` (z, y, x)."""
        direction = self.model._volume("direction", direction)

        def conductances(alpha: Tensor) -> tuple[Tensor, Tensor]:
            inputs = self.to_inputs(alpha)
            return inputs.faces, inputs.sinks

        _, (faces, sinks) = torch.func.jvp(conductances, (self.alpha,), (direction,))
        array = self.kernel.array
        tangent = Inputs(array(faces), array(sinks), None, None)
        return self.model._arrange(self.kernel.tensor(self.run.pushforward(tangent)))

    def vjp(self, cotangent: Tensor) -> Tensor:
        """J^T ``cotangent``: the gradient (z, y, x) of <cotangent, frames> with respect to alpha."""
        gathered = self.model._gather(torch.as_tensor(cotangent, dtype=self.model.dtype, device=self.alpha.device))
        gradient = self.run.pullback(self.kernel.array(gathered.contiguous()))
        alpha = self.alpha.clone().requires_grad_()
        inputs = self.to_inputs(alpha)
        outputs = [inputs.faces, inputs.sinks]
        values = [self.kernel.tensor(gradient.faces), self.kernel.tensor(gradient.sinks)]
        pairs = [(o, v) for o, v in zip(outputs, values, strict=True) if o.requires_grad]
        (result,) = torch.autograd.grad([o for o, _ in pairs], alpha, [v for _, v in pairs])
        return result


class _Adjoint(torch.autograd.Function):
    """The solve as one node of the graph: frames forwards, the discrete adjoint backwards."""

    @staticmethod
    def forward(ctx: Any, model: HeatModel, kernel: Kernel, memory: Memory | None, *tensors: Tensor | None) -> Any:
        inputs = Inputs(*tensors)
        arrays = Inputs(*(None if t is None else kernel.array(t) for t in tensors))
        ctx.kernel, ctx.run = kernel, model._run(inputs, kernel, arrays, memory)
        return kernel.tensor(ctx.run.frames)

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        kernel = ctx.kernel
        gradient = ctx.run.pullback(kernel.array(cotangent.contiguous()))
        parts = (None if g is None else kernel.tensor(g) for g in gradient)
        needed = ctx.needs_input_grad[3:]
        return None, None, None, *(g if n else None for g, n in zip(parts, needed, strict=True))


def _ratios(given: Any) -> tuple[float, float]:
    try:
        y, x = given
    except (TypeError, ValueError):
        raise InputError(f"anisotropy={given!r} must be two ratios, (alpha_y/alpha_z, alpha_x/alpha_z).") from None
    return number("anisotropy along y", y, above=0), number("anisotropy along x", x, above=0)


def _integrator(given: Any) -> Integrator:
    if isinstance(given, tuple(INTEGRATORS.values())):
        return given
    if isinstance(given, str) and given in INTEGRATORS:
        return INTEGRATORS[given]()
    raise unknown_name("integrator", given, INTEGRATORS)
