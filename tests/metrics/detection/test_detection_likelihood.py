"""Likelihoods of detection: derivatives against differences, tails, and a maximum that is not there."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from nefty.core.errors import ConvergenceError
from nefty.metrics.detection.likelihood import CensoredLine, HitMiss, maximum


def cases(rng):
    g = rng.normal(size=25)
    hits = rng.random(25) < 0.5
    y = 0.3 + 1.2 * g + rng.normal(size=25)
    at = np.array([0.2, 0.7])
    for link in ("logit", "probit"):
        for firth in (False, True):
            yield HitMiss(g, hits, link, firth), at
    yield CensoredLine(g, np.clip(y, -0.5, 1.5), y < -0.5, y > 1.5, 0.4), np.array([0.2, 0.9, 1.3])


def test_gradients_are_those_of_the_value(rng):
    for likelihood, at in cases(rng):
        h = 1e-6 * np.eye(len(at))
        slope = [(likelihood(at + e)[0] - likelihood(at - e)[0]) / 2e-6 for e in h]
        np.testing.assert_allclose(likelihood(at)[1], slope, rtol=1e-6, atol=1e-7)


def test_the_curvature_is_minus_the_hessian(rng):
    for likelihood, at in cases(rng):
        if isinstance(likelihood, HitMiss) and (not likelihood.firth) and likelihood.link == "probit":
            continue  # it steps by the expected one
        h = 1e-6 * np.eye(len(at))
        hessian = [(likelihood(at + e)[1] - likelihood(at - e)[1]) / 2e-6 for e in h]
        np.testing.assert_allclose(likelihood(at)[2], -np.array(hessian), rtol=1e-5, atol=1e-5)


def test_the_information_of_the_probit_is_the_mean_hessian(rng):
    """Over the hits that the model itself expects: a weighted sum of both outcomes for each target."""
    g, at, h = rng.normal(size=6), np.array([0.2, 0.7]), 1e-6 * np.eye(2)
    expected = np.zeros((2, 2))
    for target in g:
        for hit, chance in ((True, norm.cdf(at @ [1, target])), (False, norm.sf(at @ [1, target]))):
            one = HitMiss(np.array([target]), np.array([hit]), "probit")
            expected -= chance * np.array([(one(at + e)[1] - one(at - e)[1]) / 2e-6 for e in h])
    np.testing.assert_allclose(HitMiss(g, np.ones(6, bool), "probit").information(at), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_far_out_nothing_overflows(link):
    likelihood = HitMiss(np.array([-1.0, 1.0]), np.array([True, False]), link)
    value, gradient, information = likelihood(np.array([0.0, 300.0]))
    assert np.isfinite([value, *gradient, *information.ravel()]).all()
    assert value == pytest.approx(-600 if link == "logit" else 2 * norm.logsf(300), rel=1e-12)


def test_a_line_without_spread_is_impossible():
    line = CensoredLine(np.zeros(1), np.zeros(1), np.zeros(1, bool), np.zeros(1, bool), 0.0)
    assert line(np.array([0.0, 0.0, -1.0]))[0] == -math.inf


def test_no_maximum_is_said():
    class Slope:  # rises for ever
        def design(self, g):
            return np.array([1.0, g])

        def __call__(self, parameters):
            return float(parameters.sum()), np.ones(2), np.eye(2)

        def information(self, parameters):
            return np.eye(2)

    with pytest.raises(ConvergenceError, match="no maximum within reach"):
        maximum(Slope(), np.zeros(2), np.eye(2))


def test_the_maximum_on_a_line_is_the_best_point_of_it(rng):
    likelihood = HitMiss(rng.normal(size=30), rng.random(30) < 0.5, "logit")
    start, direction = np.array([0.5, -1.0]), np.array([[1.0], [2.0]])
    at, value = maximum(likelihood, start, direction)
    along = [likelihood(start + direction[:, 0] * u)[0] for u in np.linspace(-3, 3, 1201)]
    assert value == pytest.approx(max(along), abs=1e-3)
    assert value >= max(along)
    assert np.cross(np.array([*direction[:, 0], 0]), np.array([*(at - start), 0]))[2] == pytest.approx(0, abs=1e-9)
