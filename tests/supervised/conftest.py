"""Small data sets and trainings that take a second."""

import pytest

from nefty.supervised.settings import training_settings
from nefty.synth.data_set import DataPlan
from nefty.synth.data_writer import write_data_set
from support.small_specimens import SMALL


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Six recordings with defects."""
    path = tmp_path_factory.mktemp("specimens") / "homogeneous"
    write_data_set(path, range(6), DataPlan("homogeneous", setup=SMALL), processes=1)
    return path


@pytest.fixture
def quick():
    """Settings of a training of seconds."""

    def settings(**changes):
        usual = {"levels": (8, 16), "input.slices": 8, "epochs": 3, "batch": 2, "held_out": 0.3}
        return training_settings({**usual, **{key.replace("__", "."): value for key, value in changes.items()}})

    return settings
