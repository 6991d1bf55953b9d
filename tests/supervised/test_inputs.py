"""What a network sees of a recording."""

import dataclasses

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.supervised.inputs import filled, prepared, slicing
from nefty.supervised.settings import Input

TIMES = np.linspace(0.1, 5.0, 50)
CHOICES = [Input(slices=8, spacing=s, values=v) for s in ("depth", "time") for v in ("contrast", "frames")]


@pytest.fixture
def recording(rng):
    decay = TIMES[:, None, None] ** -0.5
    return Sequence(frames=100 * decay * rng.uniform(0.9, 1.1, (50, 6, 5)), times=TIMES, size=(1.0, 6.0, 5.0))


@pytest.mark.parametrize("spacing", ["depth", "time"])
def test_slices_are_means_of_the_interpolated_recording(spacing):
    matrix = slicing(TIMES, Input(slices=8, spacing=spacing))
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-12)
    assert (matrix >= 0).all()
    power = {"depth": 2, "time": 1}[spacing]
    edges = np.linspace(0, 1, 9)  # of a line in t, the mean over a slice is known
    mean = (edges[1:] ** (power + 1) - edges[:-1] ** (power + 1)) / (power + 1) * 8
    # Eight points are the midpoint rule, off by h^2/24 f'' with h = 1/64 and f'' = 2.
    np.testing.assert_allclose(matrix @ TIMES, TIMES[0] + (TIMES[-1] - TIMES[0]) * mean, atol=5 * 2 / 64**2 / 24 * 1.01)


@pytest.mark.parametrize("choice", CHOICES)
def test_shape_channels_and_strength_of_the_flash(recording, choice):
    given = prepared(recording, choice)
    assert given.shape == (choice.channels, 8, 6, 5)
    assert given.dtype == np.float32
    stronger = dataclasses.replace(recording, frames=recording.frames * 7)
    np.testing.assert_allclose(prepared(stronger, choice), given, atol=1e-5)


def test_heat_held_back_is_positive_and_sound_pixels_are_zero():
    frames = np.broadcast_to(TIMES[:, None, None] ** -0.5, (50, 4, 4)).copy()
    frames[20:, 1, 2] *= 1.3
    contrast, decay = prepared(Sequence(frames=frames, times=TIMES), Input(slices=8))
    assert contrast[-1, 1, 2] == pytest.approx(4 * np.log(1.3), rel=1e-5)
    assert np.abs(np.delete(contrast.reshape(8, -1), 6, axis=1)).max() < 1e-6
    assert (np.diff(decay[:, 0, 0]) < 0).all()


def test_missing_values_are_the_middle_of_their_frame(recording):
    frames = recording.frames.copy()
    frames[3, 2, 2] = np.nan
    repaired = filled(dataclasses.replace(recording, frames=frames))
    assert repaired[3, 2, 2] == pytest.approx(np.nanmedian(frames[3]))
    assert np.isfinite(prepared(dataclasses.replace(recording, frames=frames), Input())).all()


def test_what_cannot_be_prepared_is_refused(recording):
    with pytest.raises(InputError, match="does not rise above ambient"):
        prepared(dataclasses.replace(recording, frames=-recording.frames), Input())
    with pytest.raises(InputError, match="observe='back'"):
        prepared(dataclasses.replace(recording, observe="back"), Input())
    frames = recording.frames.copy()
    frames[3, 0, 0] = np.nan
    only = np.zeros((6, 5), bool)
    only[0, 0] = True
    with pytest.raises(InputError, match="no value that counts"):
        prepared(dataclasses.replace(recording, frames=frames, mask=only), Input())
