"""Recordings with their volumes, and their mirror images."""

import dataclasses

import numpy as np
import pytest
import torch

from nefty.core.errors import InputError
from nefty.physics.pulses import GaussianFlash
from nefty.supervised.inputs import prepared
from nefty.supervised.settings import Input
from nefty.supervised.specimens import MIRRORS, Scene, Specimens, mirrored, open_specimens
from nefty.synth.data_set import DataPlan, DataSet
from nefty.synth.data_writer import write_data_set
from nefty.synth.explicit import simulate_explicit
from support.small_specimens import SMALL


def test_all_recordings_are_either_trained_on_or_held_out(folder, quick):
    training, held = open_specimens([folder], quick())
    seeds = [{entry.seed for _, entry in part.items} for part in (training, held)]
    assert seeds[0] | seeds[1] == set(range(6))
    assert not seeds[0] & seeds[1]
    assert len(held) == 2
    again = open_specimens([folder], quick())
    assert [part.fingerprint() for part in again] == [training.fingerprint(), held.fingerprint()]
    assert open_specimens([folder], quick(seed=1))[0].fingerprint() != training.fingerprint()


def test_recordings_of_one_specimen_stay_on_one_side(folder, quick, tmp_path):
    again = tmp_path / "noisy"
    write_data_set(again, range(4), DataPlan("homogeneous", setup=SMALL), processes=1)
    seeds = [{entry.seed for _, entry in part.items} for part in open_specimens([folder, again], quick())]
    assert seeds[0].isdisjoint(seeds[1])
    assert seeds[0] | seeds[1] == set(range(6))


def test_an_item_is_the_input_and_the_truth(folder, quick):
    training, _ = open_specimens([folder], quick())
    data, entry = training.items[0]
    recording = data.load(entry)
    given, truth = training[0, 0]
    np.testing.assert_array_equal(given, prepared(recording, Input(slices=8)))
    np.testing.assert_array_equal(truth[0], np.asarray(recording.truth, dtype=np.float32))


def test_the_images_are_eight_different_ones_and_the_first_is_the_volume_itself():
    volume = torch.arange(18.0).reshape(2, 3, 3)
    images = [mirrored(volume, m) for m in range(MIRRORS)]
    assert torch.equal(images[0], volume)
    assert len({tuple(i.flatten().tolist()) for i in images}) == MIRRORS


@pytest.mark.parametrize("mirror", range(1, MIRRORS))
def test_the_image_of_a_recording_is_the_recording_of_the_image(folder, mirror):
    recording = DataSet.open(folder)[0]
    grid = recording.grid(8)
    assert isinstance(recording.excitation, GaussianFlash)
    start = recording.excitation.amplitude * recording.excitation.shape(grid)
    record = lambda alpha: simulate_explicit(grid, alpha, recording.times[:4], start, recording.boundary)  # noqa: E731
    image = lambda volume: mirrored(torch.from_numpy(np.array(volume)), mirror).numpy()  # noqa: E731
    np.testing.assert_allclose(image(record(recording.truth)), record(image(recording.truth)), rtol=1e-10)


def test_what_differs_from_the_grid_of_the_training_is_named(folder):
    scene = Scene.of(DataSet.open(folder)[0])
    scene.refuse_other(dataclasses.replace(scene, times=scene.times * (1 + 1e-7)), "it")
    for change, said in (
        ({"shape": (8, 16, 17)}, r"8 x 16 x 17 cells .* instead of \(8, 16, 16\)"),
        ({"size": (1.0, 10.0, 9.0)}, "size .*9.0"),
        ({"times": scene.times[:-1]}, "19 frames .* instead of 20 frames"),
        ({"lateral": "adiabatic"}, "adiabatic sides instead of periodic"),
    ):
        with pytest.raises(InputError, match=said):
            scene.refuse_other(dataclasses.replace(scene, **change), "the recording")


def test_bad_folders(folder, tmp_path, quick):
    with pytest.raises(InputError, match=r"no index\.json"):
        open_specimens([tmp_path], quick())
    with pytest.raises(InputError, match="8 layers"):
        open_specimens([folder], quick(input__slices=16))
    one = tmp_path / "one"
    plan = DataPlan("homogeneous", setup=SMALL)
    write_data_set(one, range(1), plan, processes=1)
    with pytest.raises(InputError, match="1 recordings are too few"):
        open_specimens([one], quick())
    other = Specimens([(DataSet.open(one), DataSet.open(one).entries[0])], _scene(folder, lateral="adiabatic"), Input())
    with pytest.raises(InputError, match="periodic sides instead of adiabatic"):
        other[0, 0]


def _scene(folder, **changes):
    return dataclasses.replace(Scene.of(DataSet.open(folder)[0]), **changes)
