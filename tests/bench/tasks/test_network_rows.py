"""Trained networks as rows: there or not, bound to their weights, refused on another grid."""

import numpy as np
import pytest
import torch

from nefty.bench.suites.load import load_suite
from nefty.bench.suites.presentation.present import present
from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.by_recipe import by_recipe, within_budget
from nefty.bench.tasks.methods import method
from nefty.bench.tasks.simulated import Simulated
from nefty.bench.tasks.task import Task
from nefty.core.errors import InputError, MissingExtraError
from nefty.inversion.recipe import load_recipe
from nefty.supervised.network import VolumeNetwork, network_record, save_network, state_arrays
from nefty.supervised.predict import volume
from nefty.supervised.settings import training_settings
from nefty.supervised.shelf import VARIABLE, network_path, shelved_network
from nefty.supervised.specimens import Scene

SMALL = Simulated(shape=(8, 16, 16), frames=12)
ROWS = {
    "name": "rows",
    "title": "Rows",
    "data": {"small": {"shape": [8, 16, 16], "frames": 12, "seeds": "0", "kinds": ["homogeneous"]}},
    "methods": [{"method": "unet-full"}],
}


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "shelf"))
    return tmp_path / "shelf"


def put(shelf, name="unet-full", seed=0, shape=(8, 16, 16), about=None):
    """An untrained network on the shelf."""
    torch.manual_seed(seed)
    settings = training_settings({"levels": (8, 8), "input.slices": shape[0]})
    recording = SMALL.sequence("homogeneous", 0)
    assert recording.size is not None
    network = VolumeNetwork(settings, Scene(shape, recording.size, recording.times, "periodic"), start=0.12)
    save_network(shelf / name / "result.h5", network_record(network, state_arrays(network), about or {}))
    return network


def test_a_row_is_left_out_until_its_network_is_trained(shelf):
    row = method("unet-full")
    assert not row.installed
    assert f"nefty train unet --data FOLDER --out {shelf / 'unet-full'}" in row.remedy
    assert "nefty train swin-unetr" in method("swin-unetr").remedy
    suite = load_suite(ROWS)
    assert [r.method for r in suite.absent()] == ["unet-full"]
    assert suite.entries() == []
    with pytest.raises(MissingExtraError, match="U-Net \\(Full\\) is not trained"):
        row.run(SMALL.sequence("homogeneous", 0), {}, Budget())
    put(shelf)
    assert row.installed
    assert len(load_suite(ROWS).entries()) == 1


def test_a_result_belongs_to_the_weights(shelf):
    put(shelf)
    before = load_suite(ROWS).entries()[0].task
    put(shelf, seed=1)
    after = load_suite(ROWS).entries()[0].task
    assert before.key != after.key
    given = SMALL.sequence("homogeneous", 0)
    with pytest.raises(InputError, match="is another than the one the task was made for"):
        method("unet-full").run(given, before.settings, Budget())


def test_its_volume_is_judged_like_any_other(shelf):
    from nefty.bench.tasks.task import perform

    trained = {"homogeneous": 5, "layered": 3}
    about = {"data": {"trained": trained}, "history": {"loss": np.array([0.2, 0.1])}, "seconds": 61.0}
    network = put(shelf, about=about)
    entry = load_suite(ROWS).entries()[0]
    done = perform(Task.from_dict(entry.task.as_dict()))
    words = "trained on 5 homogeneous and 3 layered recordings, 2 epochs in 61 s"
    assert done.facts["training"] == words
    assert words in " ".join(present(load_suite(ROWS), [(entry, done)], []).notes)
    assert done.facts["unknowns"] == network.unknowns
    assert done.scores["iou"] is not None
    assert done.scores["simulated_psnr"] == done.scores["surface_psnr"]


def test_warm_begins_with_it(shelf):
    network = put(shelf)
    budget = Budget(iterations=3)
    settings = method("warm").settings({}, budget)
    given = SMALL.sequence("homogeneous", 0)
    found = method("warm").run(given, settings, budget)
    assert len(found.history["misfit"]) == 3
    assert found.recipe["name"] == "warm"
    # The same from a volume of its own, and another from none.
    recipe = within_budget(load_recipe("warm"), budget)
    again = by_recipe(given, recipe, budget, start=volume(given, network))
    cold = by_recipe(given, recipe, budget)
    np.testing.assert_array_equal(found.alpha, again.alpha)
    assert found.history["misfit"][0] != cold.history["misfit"][0]


def test_the_recipe_that_goes_on_is_part_of_the_key(shelf):
    put(shelf)
    keys = []
    for voids in (20.0, 30.0):
        recipe = load_recipe("warm", {"stages.0.weights.voids": voids}).model_dump(mode="json")
        changed = {**ROWS, "methods": [{"method": "warm", "set": {"recipe": recipe}}]}
        keys.append(load_suite(changed).entries()[0].task.key)
    assert keys[0] != keys[1]


def test_a_specimen_that_it_was_trained_on_is_refused(shelf):
    put(shelf, about={"data": {"seeds": {"homogeneous": [0, 7], "layered": [1]}}})
    settings = method("unet-full").settings({}, Budget())
    with pytest.raises(InputError, match="trained on the homogeneous specimen of seed 0"):
        method("unet-full").run(SMALL.sequence("homogeneous", 0), settings, Budget())
    method("unet-full").run(SMALL.sequence("homogeneous", 1), settings, Budget())


def test_another_grid_and_unknown_settings(shelf):
    put(shelf, shape=(8, 16, 32))
    given = SMALL.sequence("homogeneous", 0)
    with pytest.raises(InputError, match=r"8 x 16 x 16 cells .* instead of \(8, 16, 32\)"):
        method("unet-full").run(given, method("unet-full").settings({}, Budget()), Budget())
    with pytest.raises(InputError, match="resample"):
        method("unet-full").settings({"resampled": True}, Budget())
    with pytest.raises(InputError, match="recipe"):
        method("warm").settings({"recipe": "hot"}, Budget())


def test_a_network_is_found_by_name_folder_and_file_and_read_again_when_it_changes(shelf):
    put(shelf)
    file = shelf / "unet-full" / "result.h5"
    assert network_path("unet-full") == network_path(shelf / "unet-full") == network_path(file) == file
    first = shelved_network("unet-full")[0]
    assert shelved_network("unet-full")[0] is first
    put(shelf, seed=1)
    assert shelved_network("unet-full")[0].digest() != first.digest()
    with pytest.raises(InputError, match="there is no file"):
        shelved_network("none")
    assert np.isfinite(first.unknowns)
