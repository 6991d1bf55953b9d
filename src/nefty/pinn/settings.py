"""What decides a PINN reconstruction, by name; the defaults are the paper's (appendix F.1), where it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from nefty.core.configuration import Part, dotted, explain, nested
from nefty.core.errors import InputError

Positive = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class Temperature(Part):
    """The network of the temperature: hidden layers, units in each, and features.

    rank: products of a separable network. hard: whether features keep periodic sides and adiabatic faces exactly; else
    a loss asks for them. harmonics: sines and cosines of each axis. cooling: whether the logarithm of time is a feature
    besides time, since most happens right after the flash.
    """

    depth: Count = 5
    width: Count = 128
    rank: Count = 64
    hard: bool = True
    harmonics: Count = 1
    cooling: bool = True


class Diffusivity(Part):
    """The network of the diffusivity: NeFTY's, with its bounded head. See ``nefty.fields.neural.NeuralField``.

    wrap: along which of z, y, x the ends are one place, as far as the sides are periodic. start: "bulk", the
    diffusivity that fits the mean decay of the surface best, or "network", what the random weights give. spread: factor
    on the output weights of a start at the bulk. opening: share of the run over which the bands of the encoding open,
    once the diffusivity learns.
    """

    low: Positive = 0.003
    high: Positive = 0.25
    depth: Count = 10
    width: Count = 512
    bands: int = Field(default=12, ge=0)
    skip: int | None = 4
    activation: Literal["relu", "sine", "silu", "tanh"] = "relu"
    wrap: tuple[bool, bool, bool] = (True, True, True)
    opening: Share = 0.25
    start: Literal["bulk", "network"] = "bulk"
    spread: Weight = 0.1

    @model_validator(mode="after")
    def _consistent(self) -> Diffusivity:
        if self.high < 1.5 * self.low:
            raise ValueError(f"high={self.high:g} must be at least 1.5 times low={self.low:g}")
        return self


class Points(Part):
    """How many points an iteration sees: of the equation, of the frames, of the initial temperature, of each side.

    axes: of a separable network, along t, z, y, x, in all as many; its frames are seen whole. redraw: iterations
    between new points.
    """

    collocation: Count = 24576
    data: Count = 8192
    initial: Count = 4096
    sides: Count = 1024
    axes: tuple[Count, Count, Count, Count] = (12, 8, 16, 16)
    redraw: Count = 1


class Weights(Part):
    """Of the losses, all of which are without dimension; tv: of the total variation of the diffusivity."""

    data: Weight = 1.0
    pde: Weight = 1.0
    ic: Weight = 1.0
    sides: Weight = 1.0
    tv: Weight = 1e-4


class Rates(Part):
    """Adam's learning rates. final: of the last iteration over the first, geometrically between. hold: share of the
    run in which only the temperature learns.
    """

    temperature: Positive = 1e-3
    diffusivity: Positive = 1e-3
    final: Positive = 1.0
    hold: Annotated[float, Field(ge=0, lt=1)] = 0.0


class GradNorm(Part):
    """exponent: a of the relative training rates. rate: learning rate of the weights."""

    exponent: Positive = 1.0
    rate: Positive = 0.025


class Causal(Part):
    """chunks: of time. steepness: eps of each stage. settled: least weight that ends one, looked at every so often."""

    chunks: Annotated[int, Field(ge=2)] = 32
    steepness: tuple[Positive, ...] = Field(default=(1e-2, 1e-1, 1.0, 10.0, 100.0), min_length=1)
    settled: Annotated[float, Field(gt=0, lt=1)] = 0.99
    every: Count = 1000


class Settings(Part):
    """A complete description of a run.

    size: what the other defaults are; "paper" those of the paper, "small" ones for a processor, see ``OF_SIZE``.
    rule: of DCGD. layers: of cells along z, where the recording has no truth to compare with. seconds: of wall clock,
    preparation included.
    """

    variant: Literal["gradnorm", "spinn", "causal", "dcgd"]
    size: Literal["paper", "small"] = "paper"
    rule: Literal["center", "projection", "average"] = "center"
    iterations: Count = 22000
    seconds: Positive | None = None
    seed: int = Field(default=0, ge=0)
    layers: Annotated[int, Field(ge=2)] = 16
    temperature: Temperature = Temperature()
    diffusivity: Diffusivity = Diffusivity()
    points: Points = Points()
    weights: Weights = Weights()
    rates: Rates = Rates()
    gradnorm: GradNorm = GradNorm()
    causal: Causal = Causal()


#: What the authors of a variant use where the paper has nothing to say. Decays of 0.9 per 5000 and per 1000 iterations
#: over 22,000 of them are 0.63 and 0.1.
OF_VARIANT: dict[str, dict[str, Any]] = {
    "gradnorm": {},
    "spinn": {"temperature.depth": 4, "temperature.width": 64, "points.redraw": 100},
    "causal": {"rates.final": 0.63},
    "dcgd": {"rates.final": 0.1},
}

#: Networks and points with which a minute on one core means thousands of iterations, chosen on one specimen that no
#: table shows. The diffusivity waits at the bulk until the temperature resembles a decay: where both learn from the
#: first step, T = const solves the equation best with alpha at its lower end, from which it does not come back.
OF_SIZE: dict[str, dict[str, Any]] = {
    "paper": {},
    "small": {
        "temperature.depth": 4,
        "temperature.width": 64,
        "diffusivity.depth": 4,
        "diffusivity.width": 64,
        "diffusivity.bands": 6,
        "diffusivity.skip": 2,
        "diffusivity.wrap": (False, True, True),
        "points.collocation": 1024,
        "points.data": 1024,
        "points.initial": 512,
        "points.axes": (24, 12, 16, 16),
        "points.redraw": 1,
        "rates.temperature": 3e-3,
        "rates.final": 0.1,
        "rates.hold": 0.3,
    },
}


def resolve(changes: Mapping[str, Any]) -> Settings:
    """Checked settings.

    Args:
        changes: dotted keys such as ``"rates.temperature"``, or sections, and their values; ``variant`` at least.
    """
    variant, size = str(changes.get("variant")), str(changes.get("size", "paper"))
    values = nested({**OF_VARIANT.get(variant, {}), **OF_SIZE.get(size, {}), **dotted(changes)})
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise InputError(f"settings of the PINN {variant!r}: {explain(error, Settings)}") from None


def settings(changes: Mapping[str, Any]) -> dict[str, Any]:
    """All settings as plain values, with ``changes`` applied; unknown ones are refused. See ``resolve``."""
    return resolve(changes).model_dump(mode="json")
