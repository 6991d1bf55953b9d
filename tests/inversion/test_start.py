"""A reconstruction that begins with a volume."""

import numpy as np
import pytest

from nefty import InputError, reconstruct
from nefty.fields.heads import LogBox, SigmoidHead
from nefty.inversion.build import build_field, build_model
from nefty.inversion.network_start import within
from nefty.inversion.recipe import load_recipe

LAYERS = {"model.layers": 6}


def test_it_begins_with_the_defects_of_the_volume_in_the_calibrated_sound_part(recording, quick, truth):
    recipe = load_recipe(quick)
    background = np.linspace(0.12, 0.17, 6)
    low = 0.02 * background[:, None, None]
    start = truth * np.linspace(1.0, 1.5, 6)[:, None, None]  # other strata than the calibrated ones
    start[2, 3, 4] = 1e-6
    start[3, 3, 4] *= 0.9  # nearly sound
    field = build_field(recipe, build_model(recording, recipe), background, None, start=start)
    sound = background[:, None, None] * np.ones_like(truth)
    ratio = truth / np.median(truth)
    expected = np.where(ratio < 0.8, ratio, 1.0) * sound
    expected[2, 3, 4] = low[2, 0, 0]
    np.testing.assert_allclose(field().detach(), np.maximum(expected, low), rtol=1e-5)


def test_a_field_that_is_not_relative_takes_the_volume_as_it_is(recording, quick, truth):
    recipe = load_recipe(quick, {"field.relative": False, "field.low": 0.01, "field.high": 0.2})
    start = truth * np.linspace(0.1, 2, truth.size).reshape(truth.shape)
    field = build_field(recipe, build_model(recording, recipe), np.full(6, 0.15), None, start=start)
    np.testing.assert_allclose(field().detach(), np.clip(start, 0.01, 0.2), rtol=1e-5)


def test_the_first_misfit_is_that_of_the_volume(recording, quick, truth):
    one = {"stages.where.iterations": 1, "stages.shape.iterations": 1}
    cold = reconstruct(recording, recipe=quick, overrides=one)
    warm = reconstruct(recording, recipe=quick, overrides=one, start=truth)
    assert warm.history["misfit"][0] < 0.1 * cold.history["misfit"][0]
    assert np.abs(np.log(warm.alpha / truth)).mean() < 0.5 * np.abs(np.log(cold.alpha / truth)).mean()


def test_a_run_with_another_start_is_another_run(recording, quick, truth, tmp_path):
    limit = {"stop.seconds": 1e-9}
    reconstruct(recording, recipe=quick, overrides=limit, start=truth, run=tmp_path / "run")
    with pytest.raises(InputError, match="start is"):
        reconstruct(recording, recipe=quick, overrides=limit, start=truth**1.1, run=tmp_path / "run")
    with pytest.raises(InputError, match="start is"):
        reconstruct(recording, recipe=quick, overrides=limit, run=tmp_path / "run")
    reconstruct(recording, recipe=quick, start=truth, run=tmp_path / "run")


@pytest.mark.parametrize(("head", "ends"), [(LogBox(0.1, 2.0), (0.1, 2.0)), (SigmoidHead(0.1, 2.0), (0.1001, 1.998))])
def test_values_beyond_the_head_are_moved_to_where_it_has_an_inverse(head, ends):
    moved = within(np.array([0.01, 1.0, 9.0]), head)
    np.testing.assert_allclose(moved, [ends[0], 1.0, ends[1]], rtol=1e-12)
    assert head.inverse(moved).isfinite().all()


def test_what_is_no_volume_is_refused(recording, quick, truth):
    with pytest.raises(InputError, match=r"start has shape \(5, 16, 16\), the cells are \(6, 16, 16\)"):
        reconstruct(recording, recipe=quick, start=truth[:5])
    with pytest.raises(InputError, match="no diffusivities"):
        reconstruct(recording, recipe=quick, start=-truth)
    open_head = {"field.kind": "neural", "field.head": "softplus", "field.relative": False, "field.horizon": 0}
    with pytest.raises(InputError, match="cannot begin with a volume"):
        reconstruct(recording, recipe=quick, overrides={**open_head, "stages.1.weights.voids": 0}, start=truth)


def test_a_network_begins_with_the_defects_of_the_volume_too(recording, quick, truth):
    small = {
        "kind": "neural",
        "head": "log",
        "depth": 2,
        "width": 24,
        "bands": 4,
        "skip": None,
        "horizon": 0,
        "fit": 60,
    }
    recipe = load_recipe({**quick, "field": {**quick["field"], **small, "scaling": "none", "activation": "silu"}})
    background = np.linspace(0.12, 0.17, 6)
    field = build_field(recipe, build_model(recording, recipe), background, None, start=truth)
    ratio = field().detach().numpy() / background[:, None, None]
    assert np.array_equal(ratio < 0.3, truth < 0.05)
    assert np.abs(ratio - 1)[truth > 0.05].mean() < 0.03
