"""Recipes: everything that decides a reconstruction, by name, complete, and refusing what it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from nefty.core.configuration import Part, Shelf, explain
from nefty.core.errors import InputError
from nefty.inversion.calibration.settings import CalibrationSettings
from nefty.inversion.ensemble.settings import EnsembleSettings
from nefty.inversion.evidence.settings import EvidenceSettings
from nefty.inversion.penalties import PENALTIES
from nefty.inversion.recipe_sections import (
    FieldChoice,
    Model,
    MoveSettings,
    Noise,
    PenaltySettings,
    Stage,
    Stop,
    Weight,
)
from nefty.inversion.suspects.settings import SuspectSettings

RECIPES = Shelf("recipe", "nefty.inversion", "recipes")
MOVED = {
    "variation": "the section is [penalties.tv] now",
    "voids": "write weights = { voids = ... } in the stage",
    "sparse": "write weights = { sparse = ... } in the stage",
}
"""Keys of earlier versions, and what to write instead."""


class Recipe(Part):
    """A complete description of a reconstruction.

    name: of the recipe. summary: what it is, in a sentence. rule: by which regions of the volume become indications.
    seed: of the random numbers, those of a network's first weights and of the probes. field: what the unknown is made
    of. cells: what it is made of in stages that say ``unknown = "cells"``. suspects: which facts look wrong.
    """

    name: str
    summary: str = ""
    rule: Literal["evidence", "default", "faint"] = "default"
    seed: int = Field(default=0, ge=0)
    model: Model = Model()
    noise: Noise = Noise()
    calibration: CalibrationSettings = CalibrationSettings()
    field: FieldChoice = FieldChoice()
    cells: FieldChoice = FieldChoice()
    weight: Weight = Weight()
    penalties: PenaltySettings = PenaltySettings()
    moves: MoveSettings = MoveSettings()
    stages: tuple[Stage, ...] = Field(min_length=1)
    stop: Stop = Stop()
    evidence: EvidenceSettings = EvidenceSettings()
    ensemble: EnsembleSettings = EnsembleSettings()
    suspects: SuspectSettings = SuspectSettings()

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
        if self.evidence.regions == "sheets" and choice.background != "part":
            raise ValueError("evidence.regions=sheets needs calibration.background to be part; take volume")
        for section, field in (("field", self.field), ("cells", self.cells)):
            if field.preconditioner.kind != "none" and not (
                field.kind == "voxel" and field.head == "log-box" and field.scaling == "sensitivity"
            ):
                raise ValueError(
                    f"{section}.preconditioner.kind={field.preconditioner.kind} needs voxels with the head log-box and "
                    f"{section}.scaling=sensitivity; set it to none"
                )
        self._consistent_unknowns()
        for stage in self.stages:
            field = self.field_of(stage)
            if stage.high is not None and not (field.kind == "voxel" and "box" in field.head):
                raise ValueError(f"stage {stage.name!r} sets high, which only voxels with a box head can change")
            if stage.optimiser == "lbfgs" and field.kind == "neural" and field.horizon:
                raise ValueError(
                    f"stage {stage.name!r} uses lbfgs, which cannot follow bands that open one by one "
                    f"(field.horizon={field.horizon}); set field.horizon to 0, or optimiser to adam"
                )
            of_logs = field.kind == "voxel" and field.relative and field.head == "log-box"
            if stage.move_bottoms and not (of_logs and stage.optimiser == "lbfgs"):
                raise ValueError(
                    f"stage {stage.name!r} moves bottoms, which needs voxels of log(alpha/background) and lbfgs; set "
                    "move_bottoms to false"
                )
            if stage.buried and not (field.kind == "voxel" and field.relative):
                raise ValueError(
                    f"stage {stage.name!r} sets buried, which only voxels relative to a background can keep"
                )
            unfounded = [name for name, kind in PENALTIES.items() if kind.needs_background and stage.weights.of(name)]
            if unfounded and self.calibration.background == "none":
                raise ValueError(
                    f"stage {stage.name!r} weighs {' and '.join(unfounded)}, which needs a background; calibrate one"
                )
        return self

    def _consistent_unknowns(self) -> None:
        """Cells come first, and a network that can begin with them afterwards."""
        of_cells = [stage.unknown == "cells" for stage in self.stages]
        if not any(of_cells):
            return
        if self.field.kind != "neural" or self.field.head not in ("sigmoid", "log") or self.cells.kind != "voxel":
            raise ValueError(
                "stages with unknown=cells need field.kind to be neural, field.head to be sigmoid or log, and "
                "cells.kind to be voxel"
            )
        if self.field.relative != self.cells.relative:
            raise ValueError("field.relative and cells.relative must be the same: one goes on where the other ended")
        if of_cells != sorted(of_cells, reverse=True) or all(of_cells):
            raise ValueError("stages with unknown=cells come first, and at least one of the field follows them")

    def field_of(self, stage: Stage) -> FieldChoice:
        """What the unknown is made of in a stage."""
        return self.cells if stage.unknown == "cells" else self.field


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
        raise InputError(f"recipe {values.get('name', '')!r}: {_explained(error)}") from None


def _explained(error: ValidationError) -> str:
    """What is wrong with a recipe, and of a key that has moved where it is now."""
    found = error.errors()[0]
    last = str(found["loc"][-1]) if found["loc"] else ""
    if found["type"] == "extra_forbidden" and last in MOVED:
        return f"key {'.'.join(str(part) for part in found['loc'])!r} is unknown; {MOVED[last]}."
    return explain(error, Recipe)


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
