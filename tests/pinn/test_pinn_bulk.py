import dataclasses

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.physics.pulses import GaussianFlash
from nefty.physics.slab.slab import Slab
from nefty.pinn.bulk import mean_decay_fit


def slab_recording(alpha):
    times = np.linspace(0.05, 5, 40)
    decay = Slab(alpha, 1.0, 8).gaussian_flash(times, 0.2)[:, 0]
    lateral = np.linspace(0.5, 1.5, 6)[:, None] * np.ones(5)
    return Sequence(
        frames=100 * decay[:, None, None] * lateral,
        times=times,
        size=(1.0, 6.0, 5.0),
        excitation=GaussianFlash(100.0, 2.5, 0.2),
    )


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.2])
def test_the_diffusivity_of_one_material_is_found(alpha):
    assert mean_decay_fit(slab_recording(alpha), 8, 0.003, 0.25) == pytest.approx(alpha, rel=1e-3)


def test_missing_values_do_not_matter_much():
    recording = slab_recording(0.1)
    frames = recording.frames.copy()
    frames[:, 2, 3] = np.nan
    frames[7, :, 1:] = np.nan
    frames[7, 1:] = np.nan
    assert mean_decay_fit(dataclasses.replace(recording, frames=frames), 8, 0.003, 0.25) == pytest.approx(0.1, rel=1e-3)


def test_the_fit_stays_within_the_bracket():
    assert 0.003 < mean_decay_fit(slab_recording(0.1), 8, 0.003, 0.05) < 0.05


def test_a_bracket_in_other_units_is_refused():
    with pytest.raises(InputError, match=r"cools like a part of diffusivity 0\.\d+, far from .*low=1e-08"):
        mean_decay_fit(slab_recording(0.1), 8, 1e-8, 1e-6)
