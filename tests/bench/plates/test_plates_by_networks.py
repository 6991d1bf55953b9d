"""Plates in files for methods that know the paper's unitless numbers only: SPINN, and a network that never saw one."""

import numpy as np
import pytest
import torch

from nefty.bench.suites.load import load_suite
from nefty.bench.tasks import task
from nefty.bench.tasks.task import perform
from nefty.supervised.network import VolumeNetwork, network_record, save_network, state_arrays
from nefty.supervised.settings import training_settings
from nefty.supervised.shelf import VARIABLE
from nefty.supervised.specimens import Scene
from nefty.synth.pvc_files import PvcSize, write_pvc
from support.tiny_pinns import TINY


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A shelf with an untrained network of another grid than the plates'."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr(task, "warm_up", lambda: None)
    torch.manual_seed(0)
    scene = Scene((8, 16, 16), (1.0, 10.0, 10.0), 0.25 * np.arange(1, 21), "periodic")
    network = VolumeNetwork(training_settings({"levels": (8, 8), "input.slices": 8}), scene, start=0.12)
    save_network(tmp_path / "swin-unetr" / "result.h5", network_record(network, state_arrays(network), {}))


def test_plates_are_brought_to_what_a_method_knows(shelf, tmp_path):
    write_pvc(tmp_path / "pvc", 1, PvcSize((24, 30), 90, fps=2.0, cell=(2.5e-4, 4e-3)))
    suite = load_suite(
        {
            "name": "tiny-pvc",
            "title": "Tiny plates",
            "tables": ["plates"],
            "plates": {"pvc": {"root": str(tmp_path / "pvc"), "bin": 1, "early": 0.6, "frames": 12}},
            "methods": [{"method": "spinn", "set": {**TINY, "layers": 6}}, {"method": "swin-unetr"}],
        }
    )
    for entry in suite.entries():
        done = perform(entry.task)
        assert done.scores["paper_iou"] is not None
        assert done.maps["mask"].shape == done.maps["true_depth"].shape
        if entry.task.method == "spinn":
            assert done.facts["iterations"] == TINY["iterations"]
