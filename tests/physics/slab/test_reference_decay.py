import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.physics.slab.reference_decay import reference_decay
from nefty.physics.slab.slab import Slab


def test_it_is_the_formula_with_many_terms():
    alpha, thickness, heat = 4.5e-7, 1.3e-3, 0.02
    times = np.geomspace(1e-3, 60, 40)
    n = np.arange(1, 400)[:, None]
    series = 1 + 2 * np.exp(-(n**2) * thickness**2 / (alpha * times)).sum(axis=0)
    expected = heat / np.sqrt(np.pi * alpha * times) * series
    np.testing.assert_allclose(reference_decay(times, alpha, thickness, heat), expected, rtol=1e-12)


def test_it_is_the_front_of_the_slab_in_thin_cells():
    times = np.array([0.05, 0.2, 0.5, 1.0, 3.0])
    thin = Slab(alpha=1.0, thickness=1.0, layers=2000).flash(times)[:, 0]
    np.testing.assert_allclose(reference_decay(times, 1.0, 1.0), thin, rtol=1e-6)


def test_early_it_is_a_half_space_and_late_the_plateau():
    assert reference_decay([1e-3], 1.0, 1.0)[0] == pytest.approx(1 / np.sqrt(np.pi * 1e-3))
    assert reference_decay([1e-3], 1.0)[0] == pytest.approx(1 / np.sqrt(np.pi * 1e-3))
    assert reference_decay([50.0], 1.0, 2.0, heat=6.0)[0] == pytest.approx(3.0)


@pytest.mark.parametrize("times", [[0.0, 1.0], [np.nan], [[1.0]]])
def test_times_that_are_none_are_refused(times):
    with pytest.raises(InputError, match="above 0"):
        reference_decay(times, 1.0)
