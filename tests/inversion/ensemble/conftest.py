"""A small real part over a hole, and its reconstruction, made once."""

from __future__ import annotations

import pytest

from nefty import Reconstruction, Sequence, reconstruct
from nefty.inversion.recipe import Recipe, limited, load_recipe
from support.holed_plate import part


@pytest.fixture(scope="session")
def real() -> Recipe:
    """The recipe for real parts, with few cells and few looks."""
    few = {
        "model.layers": 8,
        "calibration.surroundings": False,
        "evidence.sheet.layers": 10,
        "evidence.sheet.steps": 5,
        "evidence.depths": (0.16, 0.3, 0.5),
        "evidence.widths": (1.3, 2.5, 5.0),
    }
    return limited(load_recipe("real", few), 2)


@pytest.fixture(scope="session")
def plate() -> Sequence:
    return part(0.01)


@pytest.fixture(scope="session")
def first(plate: Sequence, real: Recipe) -> Reconstruction:
    """Of the plate, without an ensemble."""
    return reconstruct(plate, recipe=real)
