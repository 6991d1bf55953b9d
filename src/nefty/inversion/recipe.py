"""Recipes: everything that decides a reconstruction, by name, complete, and refusing what it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from nefty.core.configuration import Part, Shelf, explain
from nefty.core.errors import InputError

RECIPES = Shelf("recipe", "nefty.inversion", "recipes")
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class Model(Part):
    """The heat model, where it is not given.

    layers: cells along z. integrator, sweeps: implicit Euler with so many Jacobi sweeps is the paper's. face_mean:
    diffusivity between two cells, in place of the one that the recording names.
    """

    layers: Count = 16
    face_mean: Literal["harmonic", "arithmetic", "min"] | None = None
    integrator: Literal["chebyshev", "sdirk2", "implicit-euler"] = "chebyshev"
    sweeps: int = Field(default=0, ge=0)
    dtype: Literal["float32", "float64"] = "float32"


class Noise(Part):
    """sigma: of a value, in place of the estimate. floor: the model's own error, as a share of the peak."""

    sigma: Positive | None = None
    floor: Share = 3e-5


class Calibration(Part):
    """The sound part before the 3D problem: layered, constant, part, or none.

    start: first guess of the diffusivity; strata: how many a layered part may have; flash: fit its amplitude and depth
    as well. "part" is for real recordings: one material, whose diffusivity, losses, amplitude and surroundings are
    calibrated on the sound pixels and again under the defects found. gain: how much the gains of pixels differ, 0 if
    not at all; surroundings: whether heat may flow out of the frame sideways; until: Fourier number alpha t/H^2 of the
    last frame that the volume is fitted to.
    """

    background: Literal["layered", "constant", "part", "none"] = "layered"
    start: Positive | None = None
    strata: Annotated[int, Field(ge=1, le=6)] = 4
    flash: bool = False
    gain: Share = 0.0
    surroundings: bool = True
    until: Positive = 0.5


class FieldChoice(Part):
    """What the unknown is made of. With ``relative``, low and high are ratios to the background.

    scaling: of voxels: by the sensitivity of the frames, by depth, or none.
    """

    kind: Literal["voxel", "neural"] = "voxel"
    relative: bool = False
    head: Literal["sigmoid", "log", "softplus", "relu", "box", "log-box"] = "log-box"
    low: Positive = 0.003
    high: Positive = 0.25
    scaling: Literal["sensitivity", "depth", "none"] = "none"
    depth_power: Share = 1.0
    depth: Count = 10
    width: Count = 512
    bands: int = Field(default=12, ge=0)
    skip: int | None = 4
    activation: Literal["relu", "sine", "silu", "tanh"] = "relu"
    horizon: int = Field(default=2500, ge=0)
    spread: Share = 0.0
    wrap: tuple[bool, bool, bool] = (True, True, True)


class TotalVariation(Part):
    """See ``nefty.inversion.penalties.total_variation``; on alpha, log alpha, or log(alpha/background)."""

    on: Literal["alpha", "log", "log-ratio"] = "log-ratio"
    smoothing: Positive = 1e-2
    back: Literal["free", "sound"] = "free"
    depth_gain: Share = 0.0


class Weight(Part):
    """tv: weight of the total variation, or "auto": from the noise, then by the discrepancy principle between stages.

    units: "relative" (see ``Observation.scale``), or "raw": the plain sum of squares, as in the paper.
    """

    tv: Share | Literal["auto"] = "auto"
    units: Literal["relative", "raw"] = "relative"


class Stage(Part):
    """A stretch of iterations with one optimiser.

    high: upper end of the box, in place of the field's. voids: weight of the double well, as a multiple of that of the
    total variation; sparse: of the anomaly as a whole, likewise. refine_background: Gauss-Newton steps for the layers
    before the stage. buried: layers of cells under the front face that hold no defect.
    """

    name: str
    optimiser: Literal["lbfgs", "adam"] = "lbfgs"
    iterations: Count
    high: Positive | None = None
    voids: Share = 0.0
    sparse: Share = 0.0
    refine_background: int = Field(default=0, ge=0)
    buried: int = Field(default=0, ge=0)
    memory: Count = 30
    learning_rate: Positive = 1e-3
    decay: Positive = 1.0
    decay_every: int = Field(default=0, ge=0)


class Stop(Part):
    """When to end before the last iteration: seconds: of wall clock, preparation included. misfit: chi^2 that is good
    enough, as a multiple of the noise floor. plateau: relative decrease of the objective over 10 iterations that ends a
    stage.
    """

    seconds: Positive | None = None
    misfit: Share = 0.0
    plateau: Share = 0.0


class Recipe(Part):
    """A complete description of a reconstruction; ``rule`` is the one by which its defects are told."""

    name: str
    summary: str = ""
    rule: Literal["default", "faint"] = "default"
    seed: int = Field(default=0, ge=0)
    model: Model = Model()
    noise: Noise = Noise()
    calibration: Calibration = Calibration()
    field: FieldChoice = FieldChoice()
    variation: TotalVariation = TotalVariation()
    weight: Weight = Weight()
    stages: tuple[Stage, ...] = Field(min_length=1)
    stop: Stop = Stop()

    @model_validator(mode="after")
    def _consistent(self) -> Recipe:
        choice = self.calibration
        if choice.gain and choice.background != "part":
            raise ValueError("calibration.gain needs calibration.background to be part, which calibrates the pixels")
        if choice.background == "part" and not (self.field.kind == "voxel" and self.field.relative):
            raise ValueError("calibration.background=part needs a field of voxels relative to it")
        if choice.flash and choice.background == "layered" and choice.strata > 1:
            raise ValueError(
                "calibration.flash would explain strata by the flash; set calibration.background to constant with it"
            )
        for stage in self.stages:
            if stage.high is not None and not (self.field.kind == "voxel" and "box" in self.field.head):
                raise ValueError(f"stage {stage.name!r} sets high, which only voxels with a box head can change")
            if stage.optimiser == "lbfgs" and self.field.kind == "neural" and self.field.horizon:
                raise ValueError(
                    f"stage {stage.name!r} uses lbfgs, which cannot follow bands that open one by one "
                    f"(field.horizon={self.field.horizon}); set field.horizon to 0, or optimiser to adam"
                )
            if stage.buried and not (self.field.kind == "voxel" and self.field.relative):
                raise ValueError(
                    f"stage {stage.name!r} sets buried, which only voxels relative to a background can keep"
                )
            if (stage.voids or stage.sparse) and self.calibration.background == "none":
                raise ValueError(f"stage {stage.name!r} sets voids or sparse, which need a background; calibrate one")
        return self


def limited(recipe: Recipe, iterations: int) -> Recipe:
    """The recipe with no more than so many iterations in all: every stage is cut by the same share."""
    total = sum(stage.iterations for stage in recipe.stages)
    if total <= iterations:
        return recipe
    if iterations < len(recipe.stages):
        raise InputError(
            f"recipe {recipe.name!r} has {len(recipe.stages)} stages, which need more than {iterations} iterations."
        )
    ends = [sum(s.iterations for s in recipe.stages[: i + 1]) * iterations // total for i in range(len(recipe.stages))]
    counts = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    while min(counts) == 0:  # a short stage keeps one iteration of the longest
        counts[counts.index(max(counts))] -= 1
        counts[counts.index(0)] += 1
    stages = [s.model_copy(update={"iterations": n}) for s, n in zip(recipe.stages, counts, strict=True)]
    return recipe.model_copy(update={"stages": tuple(stages)})


def default_recipe(*, in_metres: bool = False, started: bool = False) -> str:
    """The recipe where none is named: ``"warm"`` from a volume, ``"real"`` for recordings in metres, else ``"fast"``.

    Args:
        in_metres: whether the recording is of a real part, or like one.
        started: whether there is a volume to begin with.
    """
    return "warm" if started else "real" if in_metres else "fast"


def recipe_names() -> list[str]:
    """The recipes that come with nefty."""
    return RECIPES.names()


def load_recipe(
    recipe: str | Path | Mapping[str, Any] | Recipe = "fast", overrides: Mapping[str, Any] | None = None
) -> Recipe:
    """Return a checked recipe.

    Args:
        recipe: a name, a .toml file, a mapping, or a recipe.
        overrides: dotted keys and their values, such as ``{"weight.tv": 0.5, "stages.0.iterations": 10}``.
    """
    values = RECIPES.values(recipe.model_dump(mode="json") if isinstance(recipe, Recipe) else recipe)
    for key, value in (overrides or {}).items():
        _set(values, key, value)
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        raise InputError(f"recipe {values.get('name', '')!r}: {explain(error, Recipe)}") from None


def _set(values: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key; whether the last name is known is for the model to say."""
    *path, last = key.split(".")
    inside: Any = values
    for part in path:
        if isinstance(inside, list):
            inside = inside[_index(part, inside, key)]
        elif isinstance(inside, dict):
            inside = inside.setdefault(part, {})
        else:
            raise InputError(f"{key!r}: there is nothing below {part!r}; see the recipe with --show-recipe.")
    if isinstance(inside, list):
        inside[_index(last, inside, key)] = value
    elif isinstance(inside, dict):
        inside[last] = value
    else:
        raise InputError(f"{key!r}: {path[-1]!r} is a value, not a section; see the recipe with --show-recipe.")


def _index(part: str, items: list[Any], key: str) -> int:
    """A stage by its number or its name."""
    names = [str(item.get("name", "")) for item in items if isinstance(item, dict)]
    if part in names:
        return names.index(part)
    if part.isdigit() and int(part) < len(items):
        return int(part)
    raise InputError(f"{key!r}: {part!r} is none of the stages {', '.join(names)} (0 to {len(items) - 1}).")
