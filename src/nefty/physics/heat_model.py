"""The forward model: diffusivity in, surface frames out, differentiable."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from nefty.core.checks import anisotropy_ratios, frame_times, one_of
from nefty.core.errors import InputError, unknown_name
from nefty.core.grid import Grid
from nefty.physics.arguments import Arguments
from nefty.physics.boundary import Boundary
from nefty.physics.cell_properties import CellProperties
from nefty.physics.chebyshev import Chebyshev
from nefty.physics.conductance import (
    FACE_MEANS,
    face_conductances,
    face_sinks,
    in_all_cells,
    spectral_bound,
    surface_share,
)
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.heating_history import HeatingHistory
from nefty.physics.kernels import KERNELS, Kernel, get_kernel
from nefty.physics.kernels.harmonic_faces import gershgorin, harmonic_faces
from nefty.physics.linearization import Linearization
from nefty.physics.problem import Inputs, Integrator, Job, Problem, Pulse, Run
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from nefty.physics.status import Status
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
            ``TopHatPulse`` or ``HeatingCurve``, which start from 0 and heat the front.
        boundary: conditions on the six sides.
        face_mean: ``"harmonic"`` (the paper's), ``"arithmetic"`` or ``"min"``.
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        observe: ``"front"``, ``"back"``: frames (t, y, x); ``"both"``: (2, t, y, x), front first;
            ``"volume"``: (t, z, y, x).
        integrator: ``"chebyshev"`` (default), ``"sdirk2"``, ``"implicit-euler"``, or an object of these classes.
        kernel: ``"numba"`` (CPU), ``"torch"`` (any device), or ``"auto"``.
        dtype: ``"float32"`` or ``"float64"``, or torch's name of it.
        derivative: ``"adjoint"``, or ``"autograd"`` to let torch record every operation (needs ``kernel="torch"``;
            linear solves are then differentiated iteration by iteration).
        capacity: heat capacity rho c of each cell over that of the background, (z, y, x); alpha is then the cell's
            conductivity over rho c of the background, and C dT/dt = div(alpha grad T). 1 if not given.
        open_cells: cells (z, y, x), true or false, that are air of holes open to the back: nothing is conducted into
            them, and each face between one and a solid cell loses heat with h_back. None if not given.
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
        dtype: str | torch.dtype = "float32",
        derivative: str = "adjoint",
        memory: str | Memory | None = None,
        capacity: Any = None,
        open_cells: Any = None,
    ) -> None:
        if not isinstance(grid, Grid):
            raise InputError(f"grid={grid!r} must be a nefty.Grid(shape=(z, y, x), size=(z, y, x)).")
        if boundary is not None and not isinstance(boundary, Boundary):
            raise InputError(f"boundary={boundary!r} must be a nefty.Boundary(...).")
        self.grid = grid
        self.times = frame_times(times)
        self.boundary = boundary or Boundary()
        self.face_mean = one_of("face_mean", face_mean, FACE_MEANS)
        self.anisotropy = anisotropy_ratios(anisotropy)
        self.observe = one_of("observe", observe, OBSERVED)
        self.integrator = _integrator(integrator)
        self.kernel = one_of("kernel", kernel, KERNELS)
        self.dtype = _dtype(dtype)
        self.derivative = one_of("derivative", derivative, ("adjoint", "autograd"))
        if derivative == "autograd" and kernel != "torch":
            raise InputError(f'derivative="autograd" needs kernel="torch", got kernel={kernel!r}.')
        if derivative == "autograd" and memory is not None:
            raise InputError(f'memory={memory!r} has no effect with derivative="autograd", which keeps everything.')
        if memory is None:
            memory = Reversed() if isinstance(self.integrator, Chebyshev) else "stored"
        self.memory = memory_policy(memory)
        if isinstance(self.memory, Reversed) and not isinstance(self.integrator, Chebyshev):
            raise InputError(
                'memory="reversed" needs integrator="chebyshev": an implicit step cannot be run backwards. '
                'Use memory="checkpointed".'
            )
        self._given = Arguments(grid, self.boundary, self.dtype)
        self._cells = CellProperties(grid, capacity, open_cells)
        self.initial = initial
        self.amplitude, self._flash, self._heating = self._sources(initial)
        self._problem = self._fixed()
        self.status = Status()

    def replaced(
        self,
        *,
        grid: Grid | None = None,
        times: Any = None,
        initial: Any = None,
        boundary: Boundary | None = None,
    ) -> HeatModel:
        """The same model with other cells, times, sides or another excitation."""
        return HeatModel(
            grid or self.grid,
            self.times if times is None else times,
            self.initial if initial is None else initial,
            boundary or self.boundary,
            face_mean=self.face_mean,
            anisotropy=self.anisotropy,
            observe=self.observe,
            integrator=self.integrator,
            kernel=self.kernel,
            dtype=self.dtype,
            derivative=self.derivative,
            memory=None if self.derivative == "autograd" else self.memory,
            capacity=self._cells.capacity,
            open_cells=self._cells.open_cells,
        )

    @property
    def observed_layers(self) -> tuple[int, ...]:
        """Layers of cells whose temperature the frames show, in the order of the frames."""
        return self._problem.layers

    @property
    def plain_cells(self) -> bool:
        """Whether no cell has a heat capacity of its own or is open."""
        return self._cells.plain

    @property
    def heating_window(self) -> tuple[float, float] | None:
        """When the pulse begins and ends; ``None`` for a flash or an initial temperature."""
        pulse = self._problem.pulse
        return (pulse.start, pulse.end) if isinstance(pulse, HeatingHistory) else pulse

    @property
    def heating(self) -> Pulse:
        """The course of the heating: from when to when, or its history; ``None`` as ``heating_window``."""
        return self._problem.pulse

    @property
    def source(self) -> Tensor:
        """The initial temperature (z, y, x), or for a pulse the heating rate of the front cells (y, x); a copy."""
        return self._initial(None, None, torch.device("cpu"))

    def _sources(self, initial: Any) -> tuple[float, Tensor | None, Tensor | None]:
        """Amplitude, and for amplitude 1 the initial temperature or the heating rate of the front cells."""
        if isinstance(initial, (GaussianFlash, UniformFlash)):
            return initial.amplitude, torch.from_numpy(initial.shape(self.grid)), None
        if isinstance(initial, (TopHatPulse, HeatingCurve)):
            return initial.amplitude, None, torch.from_numpy(initial.shape(self.grid))
        return 1.0, self._given.volume("initial", initial), None

    def _fixed(self) -> Problem:
        nz, pulse = self.grid.shape[0], self.initial
        layers = {"front": (0,), "back": (nz - 1,), "both": (0, nz - 1), "volume": tuple(range(nz))}[self.observe]
        course: Pulse = (pulse.start, pulse.start + pulse.duration) if isinstance(pulse, TopHatPulse) else None
        if isinstance(pulse, HeatingCurve):
            course = pulse.history
        return Problem(self.grid, self.times, layers, course)

    def _inputs(
        self,
        alpha: Tensor,
        initial: Any = None,
        h_front: Any = None,
        h_back: Any = None,
        amplitude: Any = None,
        resistance: Any = None,
        losses: Any = None,
        *,
        differentiable_twice: bool = False,
    ) -> Inputs:
        """The conductances and sources as differentiable tensors, compiled where the first derivative is enough."""
        cells, lateral = self._cells, self.boundary.lateral
        if resistance is None and self.face_mean == "harmonic" and self._compiled(alpha) and not differentiable_twice:
            faces = harmonic_faces(alpha, self.grid, lateral, self.anisotropy)
        else:
            through = None if resistance is None else self._given.resistances(resistance, alpha)
            faces = face_conductances(alpha, self.grid, lateral, self.face_mean, self.anisotropy, through)
        faces = cells.faces(faces, lateral)
        h_front, h_back = self._given.loss("front", h_front, alpha), self._given.loss("back", h_back, alpha)
        sinks = face_sinks(alpha, h_front, h_back, self.grid, self.boundary)
        sinks = cells.sinks(sinks, alpha, h_back, self.boundary, self.anisotropy)
        if losses is not None:
            sinks = in_all_cells(sinks, alpha) + self._given.losses(losses, alpha)
        source = self._initial(initial, amplitude, alpha.device)
        if self._flash is not None:
            return Inputs(faces, sinks, cells.start(source), None)
        heating = source * surface_share(alpha, h_front, self.grid, self.boundary)
        return Inputs(faces, sinks, None, cells.heating(heating))

    def _initial(self, initial: Any, amplitude: Any, device: torch.device) -> Tensor:
        """The initial temperature (z, y, x), or for a pulse the heating rate of the front cells (y, x); a copy."""
        if initial is None:
            shape = self._flash if self._flash is not None else self._heating
            assert shape is not None
            factor = self._given.number("amplitude", self.amplitude if amplitude is None else amplitude, device)
            if factor.numel() != 1:
                raise InputError(f"amplitude has shape {tuple(factor.shape)}; give one number.")
            return shape.to(device, self.dtype) * factor.reshape(())
        if self._heating is not None:
            kind = type(self.initial).__name__
            raise InputError(f"initial was given but the model is heated by a {kind}; give amplitude.")
        if amplitude is not None:
            raise InputError("initial and amplitude were both given; scale the initial temperature instead.")
        return self._given.volume("initial", initial).to(device, self.dtype).clone()

    def _run(self, inputs: Inputs, kernel: Kernel, arrays: Inputs, memory: Memory | None) -> Run:
        capacity = self._cells.capacity
        if self._cells.plain and len(inputs.sinks) == 2 and self._compiled(inputs.faces):
            bound = gershgorin(inputs.faces, inputs.sinks)
        else:
            own = None if capacity is None else torch.from_numpy(capacity).to(inputs.faces)
            bound = spectral_bound(inputs.faces.detach(), inputs.sinks.detach(), own)
        if not bound < float("inf"):
            raise InputError(f"the operator's spectral bound is {bound}; check alpha, h and the grid's spacing.")
        precision = "float32" if self.dtype == torch.float32 else "float64"
        run = self.integrator.run(Job(self._problem, kernel, arrays, bound, precision, memory))
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
        resistance: Any = None,
        losses: Any = None,
    ) -> Tensor:
        """Return the frames for a diffusivity (z, y, x).

        Any argument may be a tensor that requires a gradient. Those not given are the model's own.

        Args:
            alpha: diffusivity along z, above 0.
            initial: initial temperature (z, y, x), in place of the model's.
            h_front: heat loss of the front, a number or a map (y, x); the face must be ``"robin"``.
            h_back: the same for the back.
            amplitude: of the flash or pulse, in place of its own.
            resistance: R of the faces between layers of cells, (z - 1, y, x), at least 0: films and gaps thinner than a
                cell; none if not given. Through a face flows (T1 - T2)/(dz/alpha + R), so that R has the unit of
                dz/alpha, s/m: a resistance in m2K/W times rho c of the background.
            losses: rate at which each cell loses heat to the ambient besides, (z, y, x) in 1/s, at least 0, such as
                h/dz of cells at the wall of a hole; none if not given.
        """
        inputs = self._inputs(self._given.diffusivity(alpha), initial, h_front, h_back, amplitude, resistance, losses)
        kernel = self._kernel_for(inputs)
        if self.derivative == "autograd":
            frames = self._run(inputs, kernel, inputs, None).frames
        else:
            wanted = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in inputs)
            frames = _Adjoint.apply(self, kernel, self.memory if wanted else None, *inputs)
        return self._arrange(frames)

    def _arrange(self, frames: Tensor, back: bool = False) -> Tensor:
        """States (t, layer, y, x) to the temperatures that ``observe`` promises, or the transpose of that, ``back``."""
        if not back:
            frames = self._cells.shown(frames, self.observed_layers)
        if self.observe in ("front", "back"):
            frames = frames[:, None] if back else frames[:, 0]
        elif self.observe == "both":
            frames = frames.transpose(0, 1)
        return self._cells.shown(frames, self.observed_layers) if back else frames

    def _compiled(self, like: Tensor) -> bool:
        """Whether Numba does the work."""
        return self.kernel != "torch" and like.device.type == "cpu"

    def _kernel_for(self, inputs: Inputs) -> Kernel:
        faces = inputs.faces
        everywhere = len(inputs.sinks) == len(faces[0]) != 2
        return self._cells.kernel(get_kernel(self.kernel, faces.device.type), faces, everywhere=everywhere)

    def linearize(
        self,
        alpha: Any,
        *,
        initial: Any = None,
        h_front: Any = None,
        h_back: Any = None,
        amplitude: Any = None,
        resistance: Any = None,
        losses: Any = None,
    ) -> Linearization:
        """Solve once and return the frames with their Jacobian, for Gauss-Newton.

        The arguments are those of a call of the model.
        """
        if self.derivative == "autograd":
            raise InputError('linearize needs derivative="adjoint".')
        alpha = self._given.diffusivity(alpha).detach().clone()
        point = {"alpha": alpha}
        source = self._initial(initial, amplitude, alpha.device).detach()
        if self._flash is not None:
            point["initial"] = source
        else:
            given = self.amplitude if amplitude is None else amplitude
            point["amplitude"] = self._given.number("amplitude", given, alpha.device).detach().clone().reshape(())
        for face, h in (("front", h_front), ("back", h_back)):
            value = self._given.loss(face, h, alpha).detach().clone()
            if getattr(self.boundary, face) == "robin":
                point[f"h_{face}"] = value
        if resistance is not None:
            point["resistance"] = self._given.resistances(resistance, alpha).detach().clone()
        if losses is not None:
            point["losses"] = self._given.losses(losses, alpha).detach().clone()
        values = self._inputs(**point)
        kernel = self._kernel_for(values)
        arrays = Inputs(*(None if t is None else kernel.array(t) for t in values))
        return Linearization(self, point, kernel, self._run(values, kernel, arrays, self.memory))


class _Adjoint(torch.autograd.Function):
    """The solve as one node of the graph: frames forwards, the discrete adjoint backwards."""

    @staticmethod
    def forward(ctx: Any, model: HeatModel, kernel: Kernel, memory: Memory | None, *tensors: Tensor | None) -> Any:
        inputs = Inputs(*tensors)
        arrays = Inputs(*(None if t is None else kernel.array(t) for t in tensors))
        run = model._run(inputs, kernel, arrays, memory)
        # The run rides on a saved tensor, so that torch frees its trajectory after backward, like any saved tensor.
        carrier = torch.empty(0)
        carrier.run = run  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(carrier)
        ctx.kernel = kernel
        return kernel.tensor(run.frames)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        (cotangent,) = grad_outputs
        (carrier,) = ctx.saved_tensors
        kernel = ctx.kernel
        gradient = carrier.run.pullback(kernel.array(cotangent.contiguous()))
        parts = (None if g is None else kernel.tensor(g) for g in gradient)
        needed = ctx.needs_input_grad[3:]
        return None, None, None, *(g if n else None for g, n in zip(parts, needed, strict=True))


def _dtype(given: Any) -> torch.dtype:
    return given if given in DTYPES.values() else DTYPES[one_of("dtype", given, DTYPES)]


def _integrator(given: Any) -> Integrator:
    if isinstance(given, tuple(INTEGRATORS.values())):
        return given
    if isinstance(given, str) and given in INTEGRATORS:
        return INTEGRATORS[given]()
    raise unknown_name("integrator", given, INTEGRATORS)
