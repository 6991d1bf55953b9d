"""Our own reconstructions as rows of the benchmark: a recipe, cut to a budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nefty.bench.tasks.budget import Budget
from nefty.inversion.recipe import Recipe, limited

if TYPE_CHECKING:
    import numpy as np

    from nefty.data.sequence import Sequence
    from nefty.result.reconstruction import Reconstruction


def within_budget(recipe: Recipe, budget: Budget) -> dict[str, Any]:
    """All values of a recipe that keeps to a budget."""
    if budget.iterations is not None:
        recipe = limited(recipe, budget.iterations)
    if budget.seconds is not None:
        seconds = min(budget.seconds, recipe.stop.seconds or budget.seconds)
        recipe = recipe.model_copy(update={"stop": recipe.stop.model_copy(update={"seconds": seconds})})
    return recipe.model_dump(mode="json")


def by_recipe(
    sequence: Sequence, settings: Mapping[str, Any], budget: Budget, start: np.ndarray | None = None
) -> Reconstruction:
    """Our own reconstruction, on the cells of the truth, so that it can be compared; the recipe holds the budget."""
    from nefty.inversion.reconstruct import reconstruct

    cells = {} if sequence.truth is None else {"model.layers": sequence.truth.shape[0]}
    return reconstruct(sequence, recipe=settings, overrides=cells, start=start)
