"""Experiments that are not made of specimens and methods, by name, with options that are checked before they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from nefty.bench.solver.measure import Tell, say_nothing
from nefty.bench.solver.solvers import EFFICIENCY_TABLE, METHODS
from nefty.bench.tables.results import Results
from nefty.core.checks import one_of
from nefty.core.configuration import Part, explain
from nefty.core.errors import InputError

Count = Annotated[int, Field(ge=1)]
Shape = tuple[Count, Count, Count]


class SolverOptions(Part):
    """Of ``nefty.bench.solver.efficiency``."""

    methods: tuple[str, ...] = EFFICIENCY_TABLE
    shape: Shape = (16, 64, 64)
    frames: Count = 100
    repeats: Count = 5
    patience: float = Field(default=60.0, ge=0)


class ContrastOptions(Part):
    """Of ``nefty.bench.solver.contrast``."""

    methods: tuple[str, ...] = ("chebyshev", "sdirk2", "am")
    shape: Shape = (16, 64, 64)
    frames: Count = 100
    repeats: Count = 1
    patience: float = Field(default=60.0, ge=0)


class ValidationOptions(Part):
    """Of ``nefty.bench.solver.validate``; the slab of ``validate.Experiment`` if nothing is given."""

    shape: Shape | None = None
    frames: Count | None = None
    dt: float | None = Field(default=None, gt=0)


class IllposednessOptions(Part):
    """Of ``nefty.bench.illposedness.study``."""

    shape: Shape = (8, 16, 16)
    frames: Count = 40


class ForwardOptions(Part):
    """Of ``nefty.bench.suites.forward``."""

    iterations: Count = 6000
    variants: tuple[
        Literal["PINN", "SPINN", "Causal-PINN", "DCGD, center", "DCGD, projection", "DCGD, average"], ...
    ] = ("PINN", "SPINN", "Causal-PINN", "DCGD, center", "DCGD, projection", "DCGD, average")


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Args:
        model: of its options.
        start: with checked options and somebody to tell.
    """

    model: type[Part]
    start: Callable[[Any, Tell], Results]

    def options(self, given: Mapping[str, Any]) -> Any:
        """The options, checked."""
        try:
            found = self.model.model_validate(given)
        except ValidationError as error:
            raise InputError(f"options of an experiment: {explain(error, self.model)}") from None
        for name in getattr(found, "methods", ()):
            one_of("method", name, METHODS)
        return found

    def run(self, given: Mapping[str, Any], tell: Tell = say_nothing) -> Results:
        """Do it."""
        return self.start(self.options(given), tell)


def _solver(options: SolverOptions, tell: Tell) -> Results:
    from nefty.bench.solver import efficiency as solver
    from nefty.bench.solver.case import Case

    case = Case(shape=options.shape, frames=options.frames)
    return solver.run(case, methods=options.methods, repeats=options.repeats, patience=options.patience, tell=tell)


def _contrast(options: ContrastOptions, tell: Tell) -> Results:
    from nefty.bench.solver import contrast

    return contrast.run(tell=tell, **options.model_dump())


def _validation(options: ValidationOptions, tell: Tell) -> Results:
    from nefty.bench.solver import validate

    return validate.run(validate.Experiment(**options.model_dump(exclude_none=True)), tell=tell)


def _illposedness(options: IllposednessOptions, tell: Tell) -> Results:
    from nefty.bench.illposedness import study as illposedness

    return illposedness.run(**options.model_dump(), tell=tell)


def _forward(options: ForwardOptions, tell: Tell) -> Results:
    from nefty.bench.suites import forward

    return forward.run(**options.model_dump(), tell=tell)


EXPERIMENTS = {
    "solver": Experiment(SolverOptions, _solver),
    "contrast": Experiment(ContrastOptions, _contrast),
    "validation": Experiment(ValidationOptions, _validation),
    "illposedness": Experiment(IllposednessOptions, _illposedness),
    "forward": Experiment(ForwardOptions, _forward),
}
