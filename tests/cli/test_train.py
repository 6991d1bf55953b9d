"""``nefty train`` and ``nefty reconstruct --network``."""

import os
import signal

import pytest

from nefty.cli import train as command
from nefty.supervised.network import load_network
from nefty.synth.data_set import DataPlan, DataSet
from nefty.synth.data_writer import write_data_set
from support.small_specimens import SMALL

QUICK = ["--set", "levels=[8, 8]", "--set", "input.slices=8", "--set", "batch=2", "--epochs", 2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("train") / "homogeneous"
    write_data_set(path, range(4), DataPlan("homogeneous", setup=SMALL), processes=1)
    return path


def test_it_leaves_a_network_its_curves_and_a_start_for_reconstructions(folder, tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("train", "unet", "--data", folder, *QUICK)
    assert code == 0
    assert "all epochs were done. 2 epochs, validation" in out
    assert "step 1 of 4" in err
    network, about = load_network("networks/unet")
    assert network.settings.levels == (8, 8)
    assert len(about["history"]["loss"]) == 2
    page = (tmp_path / "networks" / "unet" / command.PAGE).read_text()
    assert "Learning curves" in page
    assert "3 homogeneous" in page

    file = folder / DataSet.open(folder).entries[0].name
    few = [word for stage in range(3) for word in ("--set", f"stages.{stage}.iterations=1")]
    cells = ["--set", "model.layers=8"]
    code, out, err = call("reconstruct", file, "--network", "networks/unet", *few, *cells, "--out", "warm")
    assert code == 0, err
    assert "Ask the network" in err
    code, _, err = call("reconstruct", file, "--network", "networks/none", "--out", "cold")
    assert code == 2
    assert "there is no file" in err


def test_ctrl_c_pauses_and_the_same_command_goes_on(folder, tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noted = command.TrainingProgress.__call__

    def stop(self, done, *rest):
        noted(self, done, *rest)
        if done == 1:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(command.TrainingProgress, "__call__", stop)
    code, out, _ = call("train", "unet", "--data", folder, *QUICK)
    assert code == 130
    assert "No epoch is finished yet" in out
    monkeypatch.setattr(command.TrainingProgress, "__call__", noted)
    code, out, _ = call("train", "unet", "--data", folder, *QUICK)
    assert code == 0
    assert "2 epochs" in out


def test_what_is_not_known_is_refused(folder, tmp_path, call):
    for words, said in (
        (["train", "u-net", "--data", folder], "unet"),
        (["train", "unet", "--data", tmp_path], "no index.json"),
        (["train", "unet", "--data", folder, "--set", "epoch=3"], "epochs"),
        (["train", "unet", "--data", folder, "--set", "architecture=unet"], "argument NETWORK"),
    ):
        code, _, err = call(*words, "--out", tmp_path / "run")
        assert code == 2
        assert said in err
