"""A POD that does not reach 1: closed forms, other optimisers, identities at the maximum, coverage, what is said."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import expit, logit
from scipy.stats import chi2, norm

from nefty.core.errors import InputError
from nefty.metrics import hit_miss, signal_response
from nefty.metrics.detection.asymptote import limited
from nefty.metrics.detection.asymptote_likelihood import LimitedHitMiss
from nefty.metrics.detection.likelihood import HitMiss, maximum

F = {"logit": expit, "probit": norm.cdf}
Z2 = float(norm.ppf(0.95)) ** 2
#: A third each of sizes 1, 2, 4, of which 15, 20 and 24 of 40 are found: 0.75 times odds of 1, 2, 4.
CLOSED = (np.repeat([1.0, 2.0, 4.0], 40), np.concatenate([np.arange(40) < k for k in (15, 20, 24)]))


def simulated(seed=0, targets=150, ceiling=0.8, link="logit", line=(-3.0, 4.0), ends=(0.5, 10)):
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.uniform(math.log(ends[0]), math.log(ends[1]), targets))
    return sizes, rng.random(targets) < ceiling * F[link](line[0] + line[1] * np.log(sizes))


def naive(parameters, g, hits, link):
    """Minus the log-likelihood of (P, b0, b1), as it is written in books."""
    p = parameters[0] * F[link](parameters[1] + parameters[2] * g)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = -np.sum(np.where(hits, np.log(p), np.log1p(-p)))
    return value if 0 < parameters[0] <= 1 and np.isfinite(value) else 1e10


def lowest(function, starts):
    """By Nelder and Mead, which knows no derivatives."""
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxfev": 6000, "maxiter": 6000}
    return min((optimize.minimize(function, s, method="Nelder-Mead", options=options) for s in starts), key=_value)


def _value(found):
    return found.fun


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_derivatives_are_those_of_the_value(rng, link):
    likelihood = LimitedHitMiss(rng.normal(size=25), rng.random(25) < 0.5, link)
    for terms, at in ((likelihood, np.array([0.2, 0.7, 0.15])), (likelihood.held(0.7, 0.9), np.array([0.8, 2.9]))):
        steps = 1e-6 * np.eye(len(at))
        slope = [(terms(at + e)[0] - terms(at - e)[0]) / 2e-6 for e in steps]
        bend = [(terms(at + e)[1] - terms(at - e)[1]) / 2e-6 for e in steps]
        np.testing.assert_allclose(terms(at)[1], slope, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(terms(at)[2], -np.array(bend), rtol=1e-5, atol=1e-5)


def test_the_information_is_the_mean_hessian_over_what_the_model_expects(rng):
    g, at, expected = rng.normal(size=5), np.array([0.2, 0.7, 0.2]), np.zeros((3, 3))
    for target in g:
        p = math.exp(-at[2]) * expit(at[0] + at[1] * target)
        for hit, chance in ((True, p), (False, 1 - p)):
            expected += chance * LimitedHitMiss(np.array([target]), np.array([hit]), "logit")(at)[2]
    np.testing.assert_allclose(LimitedHitMiss(g, np.ones(5, bool), "logit").information(at), expected, rtol=1e-9)


def test_three_sizes_have_a_closed_form():
    """Three parameters meet three shares exactly: 0.375, 0.5, 0.6 = 0.75 expit(log a)."""
    pod = hit_miss(*CLOSED, asymptote="free")
    assert pod.ceiling == pytest.approx(0.75, rel=1e-5)
    assert (pod.intercept, pod.slope) == (pytest.approx(0, abs=1e-5), pytest.approx(1, rel=1e-5))
    np.testing.assert_allclose(pod([1, 2, 4]), [0.375, 0.5, 0.6], rtol=1e-6)
    assert pod.size(0.5) == pytest.approx(2, rel=1e-6)
    shares = np.repeat([0.375, 0.5, 0.6], 40)
    exact = np.log(np.where(CLOSED[1], shares, 1 - shares)).sum()
    assert pod.log_likelihood == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("seed", range(3))
def test_the_maximum_is_that_of_another_optimiser(seed, link):
    sizes, hits = simulated(seed, link=link)
    pod = hit_miss(sizes, hits, link=link, asymptote="free")
    starts = [(0.8, -2, 3), (0.95, -1, 1.5), (0.7, -5, 9)]
    other = lowest(lambda p: naive(p, np.log(sizes), hits, link), starts)
    assert pod.log_likelihood == pytest.approx(-other.fun, abs=1e-8)
    np.testing.assert_allclose([pod.ceiling, pod.intercept, pod.slope], other.x, rtol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_at_the_maximum_as_many_are_found_as_expected(seed):
    """Exact for the logit with P < 1: sum of y - p is 0, and so is that of (y - p)/(1 - p).

    The second is dl/dP = 0; dl/db0 = 0 is sum (y - p)(1 - F)/(1 - p) = 0 with (1 - F) = (1 - p - (1 - P))/P. So P is
    not the share found of the large ones: those weigh 1/(1 - p) each, and all have F < 1.
    """
    sizes, hits = simulated(seed)
    pod = hit_miss(sizes, hits, asymptote="free")
    assert pod.ceiling < 1
    p = pod(sizes)
    assert np.sum(hits - p) == pytest.approx(0, abs=1e-4)
    assert np.sum((hits - p) / (1 - p)) == pytest.approx(0, abs=1e-4)
    large = sizes > 6
    assert pod.ceiling > pod(sizes[large]).max()
    assert pod.ceiling == pytest.approx(hits[large].mean(), abs=0.15)


def test_where_the_pod_jumps_the_asymptote_is_the_share_above():
    """All below 3 missed, 32 of 40 above found: the limit of ever steeper curves, P = 0.8 with F = 1 there."""
    sizes = np.concatenate([np.linspace(0.5, 2.9, 30), np.linspace(3, 8, 40)])
    hits = np.concatenate([np.zeros(30, bool), np.arange(40) % 5 != 2])
    pod = hit_miss(sizes, hits)
    assert pod.ceiling == pytest.approx(0.8, abs=1e-6)
    assert pod.log_likelihood == pytest.approx(32 * math.log(0.8) + 8 * math.log(0.2), abs=1e-6)
    assert any("jumps within the sizes 2.9 to 3;" in note for note in pod.notes)
    # and its bounds are those of 32 of 40 alone, as long as the jump fits best
    low, high = pod.asymptote.low, pod.asymptote.high  # pyright: ignore[reportOptionalMemberAccess]
    for p in (low, high):
        assert 2 * (32 * math.log(0.8 / p) + 8 * math.log(0.2 / (1 - p))) == pytest.approx(Z2, abs=2e-3)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_with_nothing_missed_above_it_is_the_fit_without(link):
    sizes, hits = simulated(4, ceiling=1.0, link=link, line=(-4.0, 4.0), ends=(0.5, 20))
    plain, tested, free = (hit_miss(sizes, hits, link=link, asymptote=a) for a in ("one", "test", "free"))
    assert plain.asymptote is None
    for pod in (tested, free):
        assert pod.asymptote is not None
        assert (pod.ceiling, pod.asymptote.p_value, pod.asymptote.high) == (1.0, 1.0, 1.0)
        np.testing.assert_allclose(pod.parameters[:2], plain.parameters, rtol=1e-9)
        assert pod.a90 == plain.a90
    assert (tested.a90_wald, tested.a90_likelihood) == (plain.a90_wald, plain.a90_likelihood)
    assert free.a90_likelihood >= plain.a90_likelihood * (1 - 1e-9)  # more curves are possible


def test_the_p_value_is_half_of_that_of_chi_square():
    sizes, hits = simulated(0, ceiling=0.9)
    one, free = (hit_miss(sizes, hits, asymptote=a) for a in ("one", "free"))
    assert free.asymptote is not None
    gain = 2 * (free.log_likelihood - one.log_likelihood)
    assert free.asymptote.p_value == pytest.approx(0.5 * chi2.sf(gain, 1), rel=1e-6)
    assert hit_miss(sizes, hits).ceiling == (free.ceiling if free.asymptote.p_value < 0.05 else 1.0)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_the_bound_is_where_the_profile_over_all_three_says(link):
    sizes, hits = simulated(2, targets=400, ceiling=0.97, link=link)
    pod = hit_miss(sizes, hits, link=link, asymptote="free")
    g, quantile = np.log(sizes), logit if link == "logit" else norm.ppf
    assert pod.a90 < pod.a90_likelihood < math.inf

    def profile(size):
        """With P F(b0 + b1 log size) = 0.9, over (P, b1)."""

        def held(u):
            if not 0.9 < u[0] <= 1:
                return 1e10
            return naive((u[0], quantile(0.9 / u[0]) - u[1] * math.log(size), u[1]), g, hits, link)

        return lowest(held, [(0.95, 3.0), (0.999, 2.0), (0.92, 5.0)]).fun

    at, above = (2 * (profile(f * pod.a90_likelihood) + pod.log_likelihood) for f in (1, 1.03))
    assert at == pytest.approx(Z2, rel=1e-5)
    assert above > Z2


def test_bounds_of_the_asymptote_are_where_its_profile_says():
    sizes, hits = simulated(1)
    pod = hit_miss(sizes, hits, asymptote="free")
    assert pod.asymptote is not None
    g = np.log(sizes)
    for p in (pod.asymptote.low, pod.asymptote.high):
        found = lowest(lambda b: naive((p, *b), g, hits, "logit"), [(-3, 4), (-2, 2)])  # noqa: B023
        assert 2 * (found.fun + pod.log_likelihood) == pytest.approx(Z2, rel=1e-5)
    assert pod.asymptote.low < pod.ceiling < pod.asymptote.high


@given(st.floats(1e-3, 1e3), st.sampled_from([(0.97, "log"), (0.8, "log"), (0.97, "linear")]))
@settings(max_examples=5, deadline=None)
def test_units_do_not_matter(unit, case):
    ceiling, transform = case
    sizes, hits = simulated(2, targets=200, ceiling=ceiling)
    options = {"transform": transform, "asymptote": "free"}
    here, there = hit_miss(sizes, hits, **options), hit_miss(unit * sizes, hits, **options)
    assert there.ceiling == pytest.approx(here.ceiling, rel=1e-6)
    assert there.size(0.5) == pytest.approx(unit * here.size(0.5), rel=1e-5)
    assert there.a90_likelihood == pytest.approx(unit * here.a90_likelihood, rel=1e-5)


def test_a_power_of_the_sizes_does_not_matter():
    """log a^3 = 3 log a: the same curve with a third of the slope."""
    sizes, hits = simulated(2, targets=200, ceiling=0.97)
    here, there = (hit_miss(s, hits, asymptote="free") for s in (sizes, sizes**3))
    assert there.slope == pytest.approx(here.slope / 3, rel=1e-5)
    assert there.a90_likelihood == pytest.approx(here.a90_likelihood**3, rel=1e-5)


def fitted(g, hits):
    return limited(g, hits, "logit", *maximum(HitMiss(g, hits, "logit"), np.zeros(2), np.eye(2)))


def test_the_bound_of_a90_holds_as_often_as_it_says():
    """P = 0.97: in 95 % of trials the bound lies above the true a90, and the lower bound of P below 0.97."""
    rng, trials = np.random.default_rng(11), 40
    g = np.linspace(math.log(0.5), math.log(30), 480)
    true, held = (logit(0.9 / 0.97) + 3) / 4, np.zeros(2)
    for _ in range(trials):
        fit = fitted(g, rng.random(480) < 0.97 * expit(-3 + 4 * g))
        held += (fit.size_bound(0.9, Z2) >= true, fit.estimate <= 0.97 or fit.deviance(0.97) <= Z2)
    assert (held / trials > 0.95 - 3 * math.sqrt(0.05 * 0.95 / trials)).all()


def test_one_is_refused_as_seldom_as_it_says():
    """P = 1 is true, and refused at 5 % in 5 % of trials: the mixture, not chi-square, which would refuse 2.5 %."""
    rng, trials = np.random.default_rng(12), 300
    g = np.linspace(math.log(0.5), math.log(10), 120)
    values = np.array([fitted(g, rng.random(120) < expit(-2 + 2.5 * g)).p_value for _ in range(trials)])
    assert np.mean(values < 0.05) == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / trials))
    assert 0.4 < np.mean(values == 1) < 0.7  # on the edge in half of them


def test_what_is_not_reached_is_said_in_words():
    pod = hit_miss(*simulated(3, targets=300, ceiling=0.75))
    assert pod.ceiling < 0.9
    with pytest.raises(InputError, match=r"no size has a POD of 0.9: the POD of large defects is 0\.\d+, not above"):
        pod.a90
    assert pod.a90_likelihood == pod.a90_wald == pod.a90_bound == math.inf
    assert pod.as_dict()["a90"] is None
    assert pod.as_dict()["asymptote"]["value"] == pod.ceiling
    text = str(pod)
    assert ", no a90\n" in text
    assert f"no a90/95: the POD of large defects is {pod.ceiling:.3g}, not above 0.9" in text
    assert "P = 1 has p = " in text
    assert any(note.startswith("there is no a90") for note in pod.notes)
    assert pod(1e9) == pytest.approx(pod.ceiling)


def test_a_bound_that_is_not_there_says_why():
    sizes, hits = simulated(5, targets=120, ceiling=0.93)
    pod = hit_miss(sizes, hits, asymptote="free")
    assert pod.reaches(0.9)
    assert pod.a90_bound == math.inf
    assert any("0.9 or less is not excluded" in note for note in pod.notes)


def test_a_kept_one_that_the_data_do_not_show_is_an_assumption():
    sizes, hits = simulated(3, ceiling=0.75)
    pod = hit_miss(sizes, hits)
    assert pod.asymptote is not None
    assert (pod.ceiling, pod.asymptote.fitted) == (1.0, False)
    assert pod.asymptote.p_value > 0.05
    assert any("that large defects are always found is assumed" in note for note in pod.notes)
    assert hit_miss(sizes, hits, asymptote="one").notes == tuple(n for n in pod.notes if "assumed" not in n)


def test_firth_and_an_asymptote_exclude_each_other():
    with pytest.raises(InputError, match=r'penalty="firth" goes with P = 1'):
        hit_miss(*simulated(), penalty="firth", asymptote="free")
    with pytest.raises(InputError, match=r"asymptote='fre'.*'free'"):
        hit_miss(*simulated(), asymptote="fre")


def test_a_line_of_signals_tells_that_it_cannot_have_one():
    rng = np.random.default_rng(0)
    sizes = np.exp(rng.uniform(math.log(0.4), math.log(6), 150))
    signals = np.exp(0.2 + 1.1 * np.log(sizes) + 0.35 * rng.normal(size=150))
    assert not any("line" in note for note in signal_response(sizes, signals, 1.0, low=0.5).notes)
    silent = np.where(rng.random(150) < 0.2, 0.4, signals)
    notes = signal_response(sizes, silent, 1.0, low=0.5).notes
    assert any("which a line with normal scatter cannot have: use hits and misses" in note for note in notes)
