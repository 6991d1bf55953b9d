"""How a recording is made: everything but the specimen, and the record of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from collections.abc import Sequence as Listing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nefty.core.checks import anisotropy_ratios, count, frame_times, number, one_of
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data import checks
from nefty.data.sequence import FACE_MEANS, OBSERVE, Excitation
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from nefty.synth.camera import Camera
from nefty.synth.engines import ENGINES
from nefty.synth.specimen import PAPER_GRID

PAPER_TIMES = tuple(0.05 * frame for frame in range(1, 101))
PAPER_FLASH = GaussianFlash(amplitude=100.0, width=2.5, depth=0.2)
PAPER_SIDES = Boundary()
EXCITATIONS = {kind.__name__: kind for kind in (GaussianFlash, UniformFlash, TopHatPulse)}


@dataclass(frozen=True, eq=False)
class Setup:
    """How a recording is simulated; by default the paper's slab, flash and frames, without noise.

    Args:
        grid: one pixel per column of cells; the truth is given on it.
        times: of the frames after the flash.
        excitation: the flash or pulse, or the temperature at t = 0 on ``grid``.
        boundary: the sides.
        observe: ``"front"``, ``"back"`` or ``"both"``.
        engine: the simulator: ``"explicit"``, ``"explicit-fine"`` (cells of half the size), ``"phiflow"`` or
            ``"phiflow-harmonic"``.
        refine: simulate the specimen on cells so many times smaller along each axis; the engine's (1, or 2) if not
            given.
        safety: factor of the rule for substeps; the engine's if not given: 16 (see ``simulate_explicit``), where the
            error in time is, as RMS, 0.003 % of the peak, and the paper's 2 for PhiFlow.
        face_mean: diffusivity between two cells in the simulation and in the model that the recording proposes. If not
            given, the simulation takes the engine's (``"min"`` for ``"phiflow"``) and the model ``"harmonic"``, as in
            the paper.
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        camera: noise and gains.
        seed: of noise and gains, together with the specimen's.
        dtype: of the frames, ``"float64"`` or ``"float32"``; the simulation is in float64 always.
    """

    grid: Grid = PAPER_GRID
    times: Listing[float] | np.ndarray = PAPER_TIMES
    excitation: Excitation = PAPER_FLASH
    boundary: Boundary = PAPER_SIDES
    observe: str = "front"
    engine: str = "explicit"
    refine: int | None = None
    safety: float | None = None
    face_mean: str | None = None
    anisotropy: tuple[float, float] = (1.0, 1.0)
    camera: Camera = field(default_factory=Camera)
    seed: int = 0
    dtype: str = "float64"

    def __post_init__(self) -> None:
        for name, kind in (("grid", Grid), ("boundary", Boundary), ("camera", Camera)):
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name}={getattr(self, name)!r} must be a nefty.{kind.__name__}(...).")
        own = ENGINES[one_of("engine", self.engine, ENGINES)]
        one_of("observe", self.observe, OBSERVE)
        one_of("dtype", self.dtype, ("float64", "float32"))
        if self.face_mean is not None:
            one_of("face_mean", self.face_mean, FACE_MEANS)
        if self.excitation is None:
            raise InputError(
                "excitation=None heats nothing; give a flash, a pulse or the temperature (z, y, x) at t = 0."
            )
        values = {
            "excitation": checks.excitation(self.excitation, self.grid.shape[1:]),
            "times": tuple(frame_times(self.times).tolist()),
            "refine": count("refine", own.refine if self.refine is None else self.refine),
            "safety": number("safety", own.safety if self.safety is None else self.safety, at_least=1),
            "anisotropy": anisotropy_ratios(self.anisotropy),
            "seed": count("seed", self.seed, at_least=0),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def data_face_mean(self) -> str:
        """The face mean that the frames are simulated with."""
        return self.face_mean or ENGINES[self.engine].face_mean

    @property
    def model_face_mean(self) -> str:
        """The face mean that the recording proposes to whoever inverts it."""
        return self.face_mean or "harmonic"

    def record(self) -> dict[str, Any]:
        """Everything that is needed to make it again, as plain values and at most one array; see ``from_record``."""
        excitation, array = _excitation_record(self.excitation)
        return {
            "engine": self.engine,
            "grid": dataclasses.asdict(self.grid),
            "times": list(self.times),
            "excitation": excitation,
            **({} if array is None else {"excitation_array": array}),
            "boundary": dataclasses.asdict(self.boundary),
            "observe": self.observe,
            "refine": self.refine,
            "safety": self.safety,
            "face_mean": self.data_face_mean,
            "model_face_mean": self.model_face_mean,
            "anisotropy": list(self.anisotropy),
            "camera": dataclasses.asdict(self.camera),
            "noise": self.camera.noise,
            "seed": self.seed,
            "dtype": self.dtype,
        }

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> Setup:
        """The setup that ``record`` was taken of; further entries are passed over."""
        try:
            same = record["face_mean"] == record["model_face_mean"]
            return Setup(
                grid=Grid(tuple(record["grid"]["shape"]), tuple(record["grid"]["size"])),
                times=record["times"],
                excitation=_excitation(record["excitation"], record.get("excitation_array")),
                boundary=Boundary(**record["boundary"]),
                face_mean=record["face_mean"] if same else None,
                anisotropy=tuple(record["anisotropy"]),
                camera=Camera(**record["camera"]),
                **{name: record[name] for name in ("observe", "engine", "refine", "safety", "seed", "dtype")},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"not the record of a simulation: {error}. It comes with a recording that this version of nefty has "
                "simulated."
            ) from None


def _excitation_record(given: Excitation) -> tuple[dict[str, Any], np.ndarray | None]:
    """A flash or pulse as plain values, and its array if it has one."""
    if isinstance(given, np.ndarray):
        return {"kind": "array"}, given
    fields = {f.name: getattr(given, f.name) for f in dataclasses.fields(given)}
    array = fields.pop("profile", None)
    return {"kind": type(given).__name__, **fields}, None if array is None else np.asarray(array)


def _excitation(record: Mapping[str, Any], array: np.ndarray | None) -> Excitation:
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
    kind: str = fields.pop("kind")
    if kind == "array":
        if array is None:
            raise KeyError("excitation_array")
        return array
    if array is not None:
        fields["profile"] = array
    return EXCITATIONS[kind](**fields)
