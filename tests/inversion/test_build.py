"""From a recipe to the box of a stage: its own upper end, and layers that are kept sound."""

import numpy as np
import pytest
import torch

from nefty import Grid, HeatModel, InputError, UniformFlash
from nefty.fields.voxel import VoxelField
from nefty.inversion.build import build_field, build_optimiser
from nefty.inversion.recipe import load_recipe

SLAB = Grid((6, 4, 5), (1.0, 2.0, 2.5))
LAYERS = np.linspace(0.1, 0.2, 6)


@pytest.fixture(params=["lbfgs", "adam"])
def box_of(request, quick):
    """Diffusivity over background at the sides of a stage's box, (z, y, x); voxels of uneven scale."""

    def make(buried, high=None):
        recipe = load_recipe(quick, {"stages.0.buried": buried, "stages.0.optimiser": request.param})
        recipe = load_recipe(recipe, {} if high is None else {"stages.0.high": high})
        scale = np.random.default_rng(2).uniform(0.3, 3.0, SLAB.shape)
        field = build_field(recipe, HeatModel(SLAB, [0.5, 1.0], UniformFlash()), LAYERS, scale)
        assert isinstance(field, VoxelField)
        optimiser = build_optimiser(recipe.stages[0], recipe, field, torch.zeros(SLAB.cells))
        assert optimiser.low is not None
        assert optimiser.high is not None
        ratios = [
            field.head(side.reshape(SLAB.shape) * field.scale).numpy() for side in (optimiser.low, optimiser.high)
        ]
        return *ratios, field

    return make


@pytest.mark.parametrize("buried", [0, 1, 3, 5])
def test_buried_layers_are_kept_at_or_above_the_background(box_of, buried):
    low, high, _ = box_of(buried)
    assert (low[:buried] == 1).all()
    np.testing.assert_allclose(low[buried:], 0.02, rtol=1e-5)
    np.testing.assert_allclose(high, 1.05, rtol=1e-5)


@pytest.mark.parametrize("buried", [6, 9])
def test_some_layer_must_stay_free(box_of, buried):
    with pytest.raises(InputError, match=f"buried={buried} leaves none of the 6 layers free"):
        box_of(buried)


def test_the_upper_end_of_the_box_is_the_stages(box_of):
    low, high, _ = box_of(2, high=1.3)
    np.testing.assert_allclose(high, 1.3, rtol=1e-5)
    assert (low[:2] == 1).all()


def test_the_field_itself_stays(box_of):
    """The sides of the box are copies: what is buried in one stage is not in the field."""
    _, _, field = box_of(3)
    least = field.head(field.box[0] * field.scale).numpy()
    np.testing.assert_allclose(least, 0.02, rtol=1e-5)
    assert float(field.unknown.detach().abs().max()) < 1e-6
