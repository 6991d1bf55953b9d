import numpy as np
import pytest

from nefty.bench.solver.case import Case
from nefty.bench.solver.reference import (
    converged,
    extrapolated_explicit,
    matrix_exponential,
    relative_error,
    surface_rmse,
)

SMALL = Case(shape=(6, 10, 12), frames=6)


def test_three_routes_lead_to_the_same_frames():
    frames = converged(SMALL).frames
    assert surface_rmse(matrix_exponential(SMALL), frames) == pytest.approx(0, abs=1e-9)
    assert surface_rmse(extrapolated_explicit(SMALL), frames) == pytest.approx(0, abs=1e-2)


def test_the_gradient_vanishes_where_the_data_fit():
    frames = converged(SMALL).frames
    fitting, other = converged(SMALL, frames), converged(SMALL, 0 * frames)
    assert np.abs(fitting.gradient).max() < 1e-8 * np.abs(other.gradient).max()


def test_errors_of_nothing_are_nothing():
    assert surface_rmse(None, np.ones(3)) is None
    assert relative_error(None, np.ones(3)) is None
    assert relative_error(2 * np.ones(3), np.ones(3)) == pytest.approx(1)
