"""A network's volume as a reconstruction like any other."""

import dataclasses

import numpy as np
import pytest
import torch

from nefty.core.errors import InputError
from nefty.data.facts import Facts
from nefty.metrics.score import evaluate
from nefty.result.effort import Effort
from nefty.result.reconstruction import Reconstruction
from nefty.supervised.inputs import prepared
from nefty.supervised.network import VolumeNetwork
from nefty.supervised.predict import predict, resampled, volume
from nefty.supervised.specimens import Scene
from nefty.synth.data_set import DataSet


@pytest.fixture
def recording(folder):
    return DataSet.open(folder)[0]


@pytest.fixture
def network(recording, quick):
    torch.manual_seed(0)
    return VolumeNetwork(quick(), Scene.of(recording), start=0.12).eval()


def test_it_is_a_reconstruction_with_all_that_belongs_to_one(recording, network, tmp_path):
    found = predict(recording, network)
    with torch.no_grad():
        alpha = network(torch.from_numpy(prepared(recording, network.settings.input))[None])[0, 0]
    np.testing.assert_allclose(found.alpha, alpha, rtol=1e-6)
    assert np.isfinite(evaluate(found, recording.truth).psnr)
    # The frames are those of the volume: a homogeneous one near the bulk explains most of the recording.
    assert found.rmse < 0.1 * np.abs(recording.frames).max()
    assert found.effort == Effort(evaluations=1, unknowns=network.unknowns)
    again = Reconstruction.load(found.save(tmp_path / "found.h5"))
    np.testing.assert_array_equal(again.alpha, found.alpha)
    assert again.effort == found.effort
    assert found.report(tmp_path / "report.html").stat().st_size > 10_000


def test_another_grid_is_refused_by_name(recording, network):
    late = dataclasses.replace(recording, times=2 * recording.times)
    with pytest.raises(InputError, match=r"the recording has 20 frames at 0\.4\.\.8 instead of 20 frames at 0\.2\.\.4"):
        predict(late, network)
    part = dataclasses.replace(recording.region((0, 8), (0, 16)), truth=None)
    with pytest.raises(InputError, match=r"8 x 8 x 16 cells .* and size .* and adiabatic sides"):
        predict(part, network)


def test_resampling_to_the_same_grid_changes_nothing(recording, network):
    bare = dataclasses.replace(recording, truth=None, facts=Facts())
    np.testing.assert_allclose(volume(bare, network, resample=True), volume(bare, network), rtol=1e-4)


def test_resampling_keeps_what_is_even_in_space_and_linear_in_time(recording, network):
    times = np.linspace(0.1, 5.0, 37)
    frames = np.broadcast_to((10 - times)[:, None, None], (37, 24, 12)).copy()
    other = dataclasses.replace(
        recording, frames=frames, times=times, size=(1.0, 20.0, 10.0), truth=None, facts=Facts()
    )
    seen = resampled(other, network.scene)
    assert seen.frames.shape == (20, 16, 16)
    np.testing.assert_allclose(seen.frames, np.broadcast_to((10 - seen.times)[:, None, None], (20, 16, 16)), rtol=1e-12)
    assert volume(other, network, resample=True).shape == (8, 24, 12)


def test_what_cannot_be_resampled(recording, network):
    thick = dataclasses.replace(recording, size=(2.0, 10.0, 10.0), truth=None)
    with pytest.raises(InputError, match="thickness 1"):
        predict(thick, network, resample=True)
    short = dataclasses.replace(recording, frames=recording.frames[:5], times=recording.times[:5], truth=None)
    with pytest.raises(InputError, match=r"ends at t = 1, the network needs frames until 4"):
        predict(short, network, resample=True)
