"""The file of a network: whole, safe, and refused where it does not fit."""

import numpy as np
import pytest
import torch

from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import write_hdf5
from nefty.supervised.network import VolumeNetwork, load_network, network_record, save_network, state_arrays
from nefty.supervised.settings import training_settings
from nefty.supervised.specimens import Scene

SCENE = Scene((8, 16, 16), (1.0, 10.0, 10.0), np.linspace(0.2, 4.0, 20), "periodic")


@pytest.fixture
def network(quick):
    torch.manual_seed(0)
    return VolumeNetwork(quick(), SCENE, start=0.1)


def test_a_file_gives_the_network_back(network, tmp_path):
    save_network(tmp_path / "n.h5", network_record(network, state_arrays(network), {"best_epoch": 3}))
    again, about = load_network(tmp_path / "n.h5")
    given = torch.randn(1, 2, 8, 16, 16)
    with torch.no_grad():
        assert torch.equal(again(given), network.eval()(given))
    assert about == {"best_epoch": 3}
    assert again.digest() == network.digest()


def test_a_file_from_before_strata_is_read_as_it_was_written(quick, tmp_path):
    old = VolumeNetwork(quick(strata=False), SCENE, start=0.1)
    record = network_record(old, state_arrays(old), {})
    del record["settings"]["strata"]
    save_network(tmp_path / "n.h5", record)
    again = load_network(tmp_path / "n.h5")[0]
    assert again.strata is None
    given = torch.randn(1, 2, 8, 16, 16)
    with torch.no_grad():
        assert torch.equal(again(given), old.eval()(given))


def test_values_stay_within_the_head(network):
    with torch.no_grad():
        alpha = network(1e3 * torch.randn(1, 2, 8, 16, 16))
    assert alpha.min() >= 0.003
    assert alpha.max() <= 0.25


def test_a_grid_that_cannot_be_halved_is_refused(quick):
    scene = Scene((8, 16, 18), SCENE.size, SCENE.times, "periodic")
    with pytest.raises(InputError, match=r"\(8, 16, 18\) must divide by 4"):
        VolumeNetwork(quick(levels=(8, 8, 8)), scene)


def test_files_that_are_no_network(network, tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        load_network(tmp_path / "none.h5")
    with pytest.raises(InputError, match="no trained network yet"):
        load_network(tmp_path)
    (tmp_path / "text.h5").write_text("weights")
    with pytest.raises(InputError, match="no HDF5 file"):
        load_network(tmp_path / "text.h5")
    write_hdf5(tmp_path / "other.h5", {"a": 1}, kind="result")
    with pytest.raises(InputError, match="not a nefty network"):
        load_network(tmp_path / "other.h5")
    torch.save({"weights": torch.zeros(3)}, tmp_path / "torch.pt")
    with pytest.raises(InputError, match="no HDF5 file"):
        load_network(tmp_path / "torch.pt")


@pytest.mark.parametrize("cut", [0.2, 0.6, 0.95])
def test_a_file_that_was_cut_off(network, tmp_path, cut):
    path = save_network(tmp_path / "n.h5", network_record(network, state_arrays(network), {}))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(cut * len(whole))])
    with pytest.raises(InputError, match=r"damaged or cut off|no HDF5 file"):
        load_network(path)


@pytest.mark.parametrize("change", ["missing", "shape", "settings", "unknown"])
def test_weights_that_are_not_those_of_the_settings(network, tmp_path, change):
    record = network_record(network, state_arrays(network), {})
    name = next(iter(record["weights"]))
    if change == "missing":
        del record["weights"][name]
    elif change == "shape":
        record["weights"][name] = np.zeros((2, 2), np.float32)
    elif change == "settings":
        record["settings"]["levels"] = [4, 4]
    else:
        record["settings"]["colour"] = "red"
    save_network(tmp_path / "n.h5", record)
    with pytest.raises(InputError, match="is not the network that its settings describe"):
        load_network(tmp_path / "n.h5")


def test_settings_that_are_not_known():
    with pytest.raises(InputError, match="epochs"):
        training_settings({"epoch": 3})
    with pytest.raises(InputError, match=r"input\.spacing"):
        training_settings({"input.spacing": "depths"})
    with pytest.raises(InputError, match="divide by 12"):
        training_settings({"architecture": "swin-unetr", "features": 20})
    with pytest.raises(InputError, match="must be above"):
        training_settings({"low": 0.3})
