"""The best cut of a part into strata, against trying all by dense least squares."""

from itertools import combinations, pairwise
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.inversion.calibration.strata import best_cut, best_cuts, count_strata

FAR = 1e3  # a reach that does not matter


def problem(layers, seed, profile=None, noise=1.0):
    """J, residual and point of a misfit |r - J (x - point)|^2, with its minimum near ``profile``."""
    random = np.random.default_rng(seed)
    jacobian = random.standard_normal((3 * layers + 2, layers))
    point = random.uniform(-2.5, -1.5, layers)
    profile = random.uniform(-2.5, -1.5, layers) if profile is None else profile
    return jacobian, jacobian @ (profile - point) + noise * random.standard_normal(len(jacobian)), point


def best(jacobian, residual, point, most, reach=FAR):
    return best_cuts(jacobian.T @ jacobian, jacobian.T @ residual, residual @ residual, point, most, reach)


def misfit_of(jacobian, residual, point, log_alpha):
    return np.sum((residual - jacobian @ (log_alpha - point)) ** 2)


def by_least_squares(jacobian, residual, point, places):
    """The minimum for given places of the cuts, as a profile."""
    layers = len(point)
    edges = [0, *places, layers]
    members = np.array([[low <= k < high for low, high in pairwise(edges)] for k in range(layers)])
    return members @ np.linalg.lstsq(jacobian @ members, residual + jacobian @ point, rcond=None)[0]


@given(layers=st.integers(1, 7), most=st.integers(1, 5), seed=st.integers(0, 10_000))
def test_no_other_cut_is_better(layers, most, seed):
    given_problem = problem(layers, seed)
    found = best(*given_problem, most)
    assert len(found) == min(most, layers)
    for strata, cut in enumerate(found, start=1):
        tried = [by_least_squares(*given_problem, c) for c in combinations(range(1, layers), strata - 1)]
        want = min(tried, key=lambda t: misfit_of(*given_problem, t))
        assert cut.strata == strata
        np.testing.assert_allclose(cut.log_alpha, want, atol=1e-6)
        assert cut.misfit == pytest.approx(misfit_of(*given_problem, want), rel=1e-6, abs=1e-6)


@given(layers=st.integers(1, 7), most=st.integers(1, 5), seed=st.integers(0, 10_000), reach=st.floats(0.01, 0.4))
def test_strata_stop_at_the_reach_and_the_misfit_is_that_of_where_they_stop(layers, most, seed, reach):
    given_problem = problem(layers, seed)
    for cut in best(*given_problem, most, reach):
        assert np.abs(cut.log_alpha - given_problem[-1].mean()).max() <= reach + 1e-12
        assert cut.misfit == pytest.approx(misfit_of(*given_problem, cut.log_alpha), rel=1e-6, abs=1e-6)


@given(profile=st.lists(st.sampled_from([-2.4, -2.0, -1.7, -1.5]), min_size=2, max_size=9), seed=st.integers(0, 1000))
def test_a_part_of_few_strata_is_found_with_as_many(profile, seed):
    profile = np.array(profile)
    strata = count_strata(profile)
    *fewer, enough = best(*problem(len(profile), seed, profile, noise=0.0), strata)
    assert enough.strata == strata
    np.testing.assert_allclose(enough.log_alpha, profile, atol=1e-6)
    assert enough.misfit == pytest.approx(0, abs=1e-6)
    assert all(cut.misfit > 1e-3 for cut in fewer)


@given(layers=st.integers(1, 7), strata=st.integers(1, 9), seed=st.integers(0, 10_000))
def test_more_strata_than_layers_are_as_many_as_layers(layers, strata, seed):
    jacobian, residual, point = problem(layers, seed)
    cut = best_cut(jacobian.T @ jacobian, jacobian.T @ residual, residual @ residual, point, strata, FAR)
    assert cut.strata == count_strata(cut.log_alpha) == min(strata, layers)


@given(layers=st.integers(2, 9), seed=st.integers(0, 10_000))
def test_more_strata_never_fit_worse(layers, seed):
    misfits = [cut.misfit for cut in best(*problem(layers, seed), 6)]
    assert all(more <= less * (1 + 1e-6) for less, more in pairwise(misfits))


@given(layers=st.integers(2, 9), seed=st.integers(0, 10_000), shift=st.floats(-20, 20))
def test_the_unit_of_diffusivity_does_not_matter(layers, seed, shift):
    """But for the ridge of 1e-9, times the square of the logarithm."""
    jacobian, residual, point = problem(layers, seed)
    for here, there in zip(best(jacobian, residual, point, 3), best(jacobian, residual, point + shift, 3), strict=True):
        np.testing.assert_allclose(there.log_alpha - shift, here.log_alpha, atol=1e-6)
        assert there.misfit == pytest.approx(here.misfit, abs=1e-4)


def test_the_unit_does_not_matter_to_layers_of_which_the_frames_say_little():
    """The back of a thick part; a diffusivity in m^2/s or in mm^2/s."""
    jacobian, _, point = problem(6, 3)
    jacobian *= np.geomspace(1, 1e-5, 6)
    residual = jacobian @ (np.array([-2.0, -2.0, -2.0, -1.6, -1.6, -1.6]) - point)
    found = [best(jacobian, residual, point + shift, 2)[1].log_alpha - shift for shift in (0.0, -14.0)]
    np.testing.assert_allclose(found[1], found[0], atol=1e-3)


def test_a_stratum_that_would_go_further_stops_at_the_reach():
    profile = np.array([-3.2, -1.6, -1.6, -1.6])
    given_problem = (np.eye(4), profile + 2.0, np.full(4, -2.0))
    assert best(*given_problem, 2)[1].log_alpha == pytest.approx(profile)
    assert best(*given_problem, 2, reach=1.0)[1].log_alpha == pytest.approx([-3.0, -1.6, -1.6, -1.6])


@pytest.mark.parametrize(("layers", "step"), [(24, 1), (25, 2), (40, 2), (48, 2), (60, 3)])
def test_thin_layers_are_bound_together(layers, step):
    began = perf_counter()
    found = best(*problem(layers, 4), 4)
    assert perf_counter() - began < 5  # all ways to cut 60 layers into four are 32 509
    for cut in found:
        places = 1 + np.flatnonzero(np.diff(cut.log_alpha))
        assert len(places) == cut.strata - 1
        assert (places % step == 0).all()


@pytest.mark.parametrize(
    ("profile", "strata"),
    [([0.1], 1), ([0.1, 0.1, 0.1], 1), ([0.1, 0.2, 0.1], 3), ([0.1, 0.1 + 1e-12, 0.2], 2)],
)
def test_strata_are_counted_by_their_steps(profile, strata):
    assert count_strata(np.array(profile)) == strata
