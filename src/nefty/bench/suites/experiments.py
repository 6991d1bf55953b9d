"""Experiments that are not made of specimens and methods, by name, with options that are checked before they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from nefty.bench.solver.solvers import EFFICIENCY_TABLE, SOLVERS
from nefty.bench.tables.results import Results
from nefty.core.checks import one_of
from nefty.core.configuration import Part, explain
from nefty.core.errors import InputError
from nefty.core.tell import Tell, say_nothing
from nefty.inversion.evidence.settings import MOST_FALSE_CALLS

Count = Annotated[int, Field(ge=1)]
Rate = Annotated[float, BeforeValidator(float), Field(gt=0, le=MOST_FALSE_CALLS)]
Patience = Annotated[float, Field(ge=0)]


def _shape(given: Any) -> Any:
    """``"16x64x64"`` as (z, y, x)."""
    if not isinstance(given, str):
        return given
    parts = [part.strip() for part in given.lower().split("x")]
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        raise ValueError(f"{given!r} must be three whole numbers along z, y, x, such as 16x64x64")
    return tuple(int(part) for part in parts)


def _words(given: Any) -> Any:
    """``"am,chebyshev"`` as its words; a number by itself is one."""
    if isinstance(given, (int, float)):
        return (given,)
    return tuple(word.strip() for word in given.split(",") if word.strip()) if isinstance(given, str) else given


def _solvers(given: Any) -> Any:
    """Names; ``"all"`` are those of all solvers."""
    return tuple(SOLVERS) if given == "all" else _words(given)


Shape = Annotated[tuple[Count, Count, Count], BeforeValidator(_shape)]
Shapes = Annotated[tuple[Shape, ...], BeforeValidator(_words), Field(min_length=1)]
Solvers = Annotated[tuple[str, ...], BeforeValidator(_solvers), Field(min_length=1)]
Seeds = Annotated[str, BeforeValidator(str)]  # a single seed is read as a number
Variant = Literal["PINN", "SPINN", "Causal-PINN", "DCGD, center", "DCGD, projection", "DCGD, average"]


class SolverOptions(Part):
    """Of ``nefty.bench.solver.efficiency``.

    solvers: names out of ``nefty.bench.solver.solvers``, or "all". shape: cells (z, y, x). frames: how many. repeats:
    timed runs of each. patience: seconds per solver to wait while other programs are busy.
    """

    solvers: Solvers = EFFICIENCY_TABLE
    shape: Shape = (16, 64, 64)
    frames: Count = 100
    repeats: Count = 5
    patience: Patience = 60.0


class ContrastOptions(SolverOptions):
    """Of ``nefty.bench.solver.contrast``; see ``SolverOptions``."""

    solvers: Solvers = ("chebyshev", "sdirk2", "am")
    repeats: Count = 1


class GrowthOptions(Part):
    """Of ``nefty.bench.solver.growth``.

    shapes: grids (z, y, x); its ``SHAPES`` if not given. box: "fixed", one slab resolved ever finer; "grows", ever more
    equal cells. The others as in ``SolverOptions``.
    """

    solvers: Solvers = ("chebyshev", "sdirk2")
    shapes: Shapes | None = None
    frames: Count = 200
    repeats: Count = 3
    box: Literal["fixed", "grows"] = "fixed"
    patience: Patience = 60.0


class MemoryOptions(Part):
    """Of ``nefty.bench.solver.memory``.

    steps: time steps of autograd against adjoint. frames: of stored, recomputed or reversed states. The others as in
    ``SolverOptions``.
    """

    shape: Shape = (16, 64, 64)
    steps: Count = 50
    frames: Count = 400
    repeats: Count = 3
    patience: Patience = 60.0


class ProfileOptions(Part):
    """Of ``nefty.bench.solver.profile``; ``repeats``: timed calls of each part."""

    shape: Shape = (16, 64, 64)
    frames: Count = 100
    repeats: Count = 30


class ValidationOptions(Part):
    """Of ``nefty.bench.solver.validation``; the slab of ``validation.Experiment`` if nothing is given."""

    shape: Shape | None = None
    frames: Count | None = None
    dt: float | None = Field(default=None, gt=0)


class IllposednessOptions(Part):
    """Of ``nefty.bench.illposedness.study``."""

    shape: Shape = (8, 16, 16)
    frames: Count = 40


class OptimumOptions(Part):
    """Of ``nefty.bench.studies.optimum``; ``iterations``: of the recipe, all if not given."""

    recipe: str = "fast"
    kinds: Annotated[tuple[str, ...], BeforeValidator(_words), Field(min_length=1)] = ("homogeneous", "layered")
    seeds: Seeds = "600:604"
    shape: Shape = (16, 64, 64)
    frames: Count = 100
    noise: float = Field(default=0.0, ge=0, lt=1)
    iterations: Count | None = None


class WrongFactsOptions(Part):
    """Of ``nefty.bench.studies.wrong_facts``."""

    recipe: str = "fast"
    seeds: str = "0:4"
    shape: Shape = (16, 64, 64)
    frames: Count = 100
    noise: float = Field(default=1e-3, ge=0, lt=1)


class ImplantsOptions(Part):
    """Of ``nefty.bench.studies.implants``; ``pixels``: along a side of the frame; ``seeds``: of the sound parts."""

    pixels: Annotated[int, Field(ge=24)] = 64
    seeds: Seeds = "0:17"


class FalseRatesOptions(Part):
    """Of ``nefty.bench.studies.false_rates``.

    seeds: of the sound parts. rates: false indications per sound part. pixels: along a side of the frame; drawn if not
    given.
    """

    seeds: Seeds = "0:60"
    rates: Annotated[tuple[Rate, ...], BeforeValidator(_words), Field(min_length=1)] = (0.05, 0.2, 1.0)
    pixels: Annotated[int, Field(ge=24)] | None = None


class ReliabilityOptions(Part):
    """Of ``nefty.bench.studies.reliability``.

    kind: of the parts, "drawn", "sound" or "flawed". members: of the ensembles. pixels: along a side of the frame.
    root: folder in which every part is kept once it is counted; a temporary one if empty.
    """

    kind: Literal["drawn", "sound", "flawed"] = "drawn"
    seeds: Seeds = "0:48"
    pixels: Annotated[int, Field(ge=24)] = 64
    members: Annotated[int, Field(ge=2)] = 8
    root: str = ""


class HeatingsOptions(Part):
    """Of ``nefty.bench.parts.heatings``; ``pixels``: along a side of the frame; ``seeds``: of camera and noise."""

    pixels: Annotated[int, Field(ge=16)] = 32
    seeds: str = "0:1"


class ScaleOptions(Part):
    """Of ``nefty.bench.studies.scale``.

    shapes: grids (z, y, x), the smallest first. frames: of each recording. more_frames: once more on the first grid
    with so many; 0 leaves it out. iterations: of the recipe, all if not given.
    """

    recipe: str = "fast"
    kinds: Annotated[tuple[str, ...], BeforeValidator(_words), Field(min_length=1)] = ("homogeneous", "layered")
    seeds: Seeds = "700:702"
    shapes: Shapes = ((16, 64, 64), (24, 128, 128), (32, 256, 256))
    frames: Count = 100
    more_frames: int = Field(default=400, ge=0)
    iterations: Count | None = None


class TilesOptions(Part):
    """Of ``nefty.bench.studies.tiles``.

    shapes: cells (z, y, x), the smallest first. workers: numbers of processes. compared: pixels of the largest panel
    that is solved with each number of workers, larger ones with the most. pixels: of a tile with its rims. iterations:
    of each stage of the recipe, all if not given.
    """

    shapes: Shapes = ((24, 128, 160), (24, 192, 256), (24, 256, 320), (24, 512, 640))
    workers: tuple[Count, ...] = (1, 2)
    compared: Count = 192 * 256
    frames: Count = 60
    pixels: Count = 112 * 112
    iterations: Count | None = None


class ForwardOptions(Part):
    """Of ``nefty.bench.solver.pinn_forward``."""

    iterations: Count = 6000
    variants: tuple[Variant, ...] = (
        "PINN",
        "SPINN",
        "Causal-PINN",
        "DCGD, center",
        "DCGD, projection",
        "DCGD, average",
    )


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Args:
        model: of its options.
        start: with checked options and somebody to tell.
        quick: options with which it takes seconds: to see that it works, not to quote.
    """

    model: type[Part]
    start: Callable[[Any, Tell], Results]
    quick: Mapping[str, Any] = field(default_factory=dict)

    def options(self, given: Mapping[str, Any]) -> Any:
        """The options, checked."""
        try:
            found = self.model.model_validate(given)
        except ValidationError as error:
            raise InputError(f"options of an experiment: {explain(error, self.model)}") from None
        for name in getattr(found, "solvers", ()):
            one_of("solver", name, SOLVERS)
        return found

    def run(self, given: Mapping[str, Any], tell: Tell = say_nothing) -> Results:
        """Do it."""
        return self.start(self.options(given), tell)


def _solver(options: SolverOptions, tell: Tell) -> Results:
    from nefty.bench.solver import efficiency
    from nefty.bench.solver.case import Case

    case = Case(shape=options.shape, frames=options.frames)
    return efficiency.run(case, tell=tell, **options.model_dump(exclude={"shape", "frames"}))


def _contrast(options: ContrastOptions, tell: Tell) -> Results:
    from nefty.bench.solver import contrast

    return contrast.run(tell=tell, **options.model_dump())


def _growth(options: GrowthOptions, tell: Tell) -> Results:
    from nefty.bench.solver import growth

    return growth.run(tell=tell, **options.model_dump(exclude_none=True))


def _memory(options: MemoryOptions, tell: Tell) -> Results:
    from nefty.bench.solver import memory

    return memory.run(tell=tell, **options.model_dump())


def _profile(options: ProfileOptions, tell: Tell) -> Results:
    from nefty.bench.solver import profile
    from nefty.bench.solver.case import Case

    return profile.run(Case(shape=options.shape, frames=options.frames), repeats=options.repeats, tell=tell)


def _validation(options: ValidationOptions, tell: Tell) -> Results:
    from nefty.bench.solver import validation

    return validation.run(validation.Experiment(**options.model_dump(exclude_none=True)), tell=tell)


def _illposedness(options: IllposednessOptions, tell: Tell) -> Results:
    from nefty.bench.illposedness import study

    return study.run(**options.model_dump(), tell=tell)


def _optimum(options: OptimumOptions, tell: Tell) -> Results:
    from nefty.bench.studies import optimum

    return optimum.run(**options.model_dump(), tell=tell)


def _wrong_facts(options: WrongFactsOptions, tell: Tell) -> Results:
    from nefty.bench.studies import wrong_facts

    return wrong_facts.run(**options.model_dump(), tell=tell)


def _implants(options: ImplantsOptions, tell: Tell) -> Results:
    from nefty.bench.studies import implants

    return implants.run(**options.model_dump(), tell=tell)


def _false_rates(options: FalseRatesOptions, tell: Tell) -> Results:
    from nefty.bench.studies import false_rates

    return false_rates.run(**options.model_dump(), tell=tell)


def _reliability(options: ReliabilityOptions, tell: Tell) -> Results:
    from nefty.bench.studies import reliability

    return reliability.run(**options.model_dump(), tell=tell)


def _heatings(options: HeatingsOptions, tell: Tell) -> Results:
    from nefty.bench.parts import heatings

    return heatings.run(**options.model_dump(), tell=tell)


def _scale(options: ScaleOptions, tell: Tell) -> Results:
    from nefty.bench.studies import scale

    return scale.run(**options.model_dump(), tell=tell)


def _tiles(options: TilesOptions, tell: Tell) -> Results:
    from nefty.bench.studies import tiles

    return tiles.run(**options.model_dump(), tell=tell)


def _forward(options: ForwardOptions, tell: Tell) -> Results:
    from nefty.bench.solver import pinn_forward

    return pinn_forward.run(**options.model_dump(), tell=tell)


_SMALL = {"shape": (8, 32, 32), "frames": 20}

EXPERIMENTS = {
    "solver": Experiment(SolverOptions, _solver, {**_SMALL, "repeats": 2}),
    "contrast": Experiment(ContrastOptions, _contrast, _SMALL),
    "growth": Experiment(GrowthOptions, _growth, {"shapes": ((8, 32, 32), (16, 64, 64)), "frames": 20, "repeats": 1}),
    "memory": Experiment(MemoryOptions, _memory, {"shape": (8, 32, 32), "steps": 10, "frames": 40, "repeats": 1}),
    "profile": Experiment(ProfileOptions, _profile, {**_SMALL, "repeats": 5}),
    "validation": Experiment(ValidationOptions, _validation, {"shape": (8, 64, 64), "frames": 40, "dt": 0.1}),
    "illposedness": Experiment(IllposednessOptions, _illposedness, {"shape": (4, 6, 6), "frames": 10}),
    "optimum": Experiment(
        OptimumOptions, _optimum, {"shape": (8, 16, 16), "frames": 20, "seeds": "600:601", "iterations": 20}
    ),
    "wrong-facts": Experiment(WrongFactsOptions, _wrong_facts, {"shape": (8, 24, 24), "frames": 30, "seeds": "0:1"}),
    "implants": Experiment(ImplantsOptions, _implants, {"pixels": 32, "seeds": "0:1"}),
    "false-rates": Experiment(FalseRatesOptions, _false_rates, {"pixels": 32, "seeds": "0:2"}),
    "reliability": Experiment(ReliabilityOptions, _reliability, {"pixels": 32, "seeds": "0:1", "members": 4}),
    "heatings": Experiment(HeatingsOptions, _heatings, {"pixels": 16}),
    "scale": Experiment(
        ScaleOptions,
        _scale,
        {"shapes": ((8, 16, 16), (8, 24, 24)), "frames": 20, "more_frames": 40, "seeds": "700:701", "iterations": 10},
    ),
    "tiles": Experiment(
        TilesOptions,
        _tiles,
        {"shapes": ((8, 48, 64),), "workers": (1,), "frames": 30, "pixels": 40 * 40, "iterations": 3},
    ),
    "forward": Experiment(ForwardOptions, _forward, {"iterations": 100}),
}
