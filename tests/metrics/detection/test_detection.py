"""Probability of detection: published fits, brute force, closed forms, coverage, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import expit
from scipy.stats import norm

from nefty.core.errors import InputError
from nefty.metrics.detection import hit_miss, signal_response

#: Bliss (1935), beetles killed by carbon disulphide: log10 dose, beetles, killed. Dobson's textbook example.
DOSE = (1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839)
BEETLES = (59, 60, 62, 56, 63, 59, 62, 60)
KILLED = (6, 13, 18, 28, 52, 53, 61, 60)
#: Space shuttle O-rings: temperature at launch in F, and whether one was damaged.
LAUNCH = (66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58)
DAMAGED = (0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1)
F = {"logit": expit, "probit": norm.cdf}
Z = norm.ppf(0.95)


def simulated(seed=0, targets=80, link="logit"):
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.uniform(math.log(0.5), math.log(10), targets))
    return sizes, rng.random(targets) < F[link](-2 + 2.5 * np.log(sizes))


def naive(parameters, g, hits, link):
    """Minus the log-likelihood, as it is written in books."""
    pod = F[link](parameters[0] + parameters[1] * g)
    with np.errstate(divide="ignore"):  # infinite far from the maximum
        return -np.sum(np.where(hits, np.log(pod), np.log1p(-pod)))


def zoomed(function, centre, width, shots=24):
    """The least value on finer and finer grids, and where."""
    centre, width = np.array(centre, dtype=float), np.array(width, dtype=float)
    for _ in range(shots):
        axes = [np.linspace(c - w, c + w, 9) for c, w in zip(centre, width, strict=True)]
        points = np.stack([m.ravel() for m in np.meshgrid(*axes)], axis=1)
        values = [function(p) for p in points]
        centre, width = points[int(np.argmin(values))], width / 2
    return centre, function(centre)


def test_a_published_logit_and_probit_fit():
    sizes = np.repeat(DOSE, BEETLES)
    hits = np.concatenate([np.arange(n) < k for n, k in zip(BEETLES, KILLED, strict=True)])
    logit = hit_miss(sizes, hits, transform="linear")
    np.testing.assert_allclose(logit.parameters, (-60.717, 34.270), atol=6e-4)
    np.testing.assert_allclose(np.sqrt(np.diag(logit.covariance)), (5.181, 2.912), atol=6e-4)
    probit = hit_miss(sizes, hits, link="probit", transform="linear")
    np.testing.assert_allclose(probit.parameters, (-34.935, 19.728), atol=6e-4)
    np.testing.assert_allclose(np.sqrt(np.diag(probit.covariance)), (2.648, 1.487), atol=6e-4)
    assert logit.notes == ()


def test_another_published_fit():
    pod = hit_miss(100 - np.array(LAUNCH), DAMAGED, transform="linear")
    assert pod.slope == pytest.approx(0.2322, abs=5e-5)
    assert pod.intercept + 100 * pod.slope == pytest.approx(15.0429, abs=5e-4)
    assert math.sqrt(pod.covariance[1, 1]) == pytest.approx(0.1082, abs=5e-5)
    assert -2 * pod.log_likelihood == pytest.approx(20.315, abs=5e-4)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("transform", ["log", "linear"])
def test_the_maximum_is_the_one_of_brute_force(link, transform):
    sizes, hits = simulated(link=link)
    g = np.log(sizes) if transform == "log" else sizes
    pod = hit_miss(sizes, hits, link=link, transform=transform)
    best, value = zoomed(lambda p: naive(p, g, hits, link), (-1.0, 1.0), (4.0, 4.0))
    np.testing.assert_allclose(pod.parameters, best, rtol=1e-5)
    assert pod.log_likelihood == pytest.approx(-value, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a90_95_agrees_with_a_reference_logistic_regression(seed):
    sizes, hits = simulated(seed)
    g = np.log(sizes)
    found = optimize.minimize(naive, (0.0, 1.0), args=(g, hits, "logit"), method="BFGS", options={"gtol": 1e-7})
    p = expit(found.x[0] + found.x[1] * g)
    x = np.stack([np.ones_like(g), g], axis=1)
    covariance = np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))

    def log_a90(b):
        return (math.log(9) - b[0]) / b[1]

    steps = 1e-6 * np.eye(2)
    slope = np.array([(log_a90(found.x + s) - log_a90(found.x - s)) / 2e-6 for s in steps])
    bound = math.exp(log_a90(found.x) + Z * math.sqrt(slope @ covariance @ slope))
    pod = hit_miss(sizes, hits)
    assert pod.a90 == pytest.approx(math.exp(log_a90(found.x)), rel=1e-5)
    assert pod.a90_wald == pytest.approx(bound, rel=1e-5)
    np.testing.assert_allclose(pod.covariance, covariance, rtol=1e-4)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_the_likelihood_bound_is_where_the_profile_says(link):
    sizes, hits = simulated(3, link=link)
    g, level = np.log(sizes), float(norm.ppf(0.9) if link == "probit" else math.log(9))
    pod = hit_miss(sizes, hits, link=link)

    def profile(size):
        of_slope = lambda b: naive((level - b * math.log(size), b), g, hits, link)  # noqa: E731
        best = optimize.minimize_scalar(of_slope, bounds=(0.01, 10), method="bounded", options={"xatol": 1e-10})
        return best.fun  # pyright: ignore[reportAttributeAccessIssue]

    lowest = naive(pod.parameters, g, hits, link)
    assert 2 * (profile(pod.a90_likelihood) - lowest) == pytest.approx(Z**2, rel=1e-5)
    assert 2 * (profile(0.97 * pod.a90_likelihood) - lowest) < Z**2 < 2 * (profile(1.03 * pod.a90_likelihood) - lowest)
    assert pod.a90 < pod.a90_likelihood


@pytest.mark.parametrize("transform", ["log", "linear"])
def test_sizes_and_probabilities_belong_together(transform):
    pod = hit_miss(*simulated(), transform=transform)
    for p in (0.1, 0.5, 0.9, 0.99):
        assert pod([pod.size(p)])[0] == pytest.approx(p)
        assert pod.size_bound(p) > pod.size(p)
    assert (pod.a50, pod.a90) == (pod.size(0.5), pod.size(0.9))
    assert (np.diff(pod(np.linspace(0.1, 20, 50))) > 0).all()
    assert pod(np.ones((2, 3))).shape == (2, 3)


@given(st.floats(1e-4, 1e4), st.sampled_from(["log", "linear"]))
@settings(max_examples=6)
def test_the_unit_of_the_sizes_does_not_matter(unit, transform):
    sizes, hits = simulated(targets=40)
    here, there = (hit_miss(s, hits, transform=transform, asymptote="one") for s in (sizes, unit * sizes))
    for name in ("a50", "a90", "a90_wald", "a90_likelihood"):
        assert getattr(there, name) == pytest.approx(unit * getattr(here, name), rel=1e-6)


def test_more_confidence_asks_for_more():
    sizes, hits = simulated()
    bounds = [hit_miss(sizes, hits, confidence=c).a90_wald for c in (0.6, 0.9, 0.95, 0.99)]
    assert hit_miss(sizes, hits).a90 < bounds[0]
    assert bounds == sorted(bounds)


def test_coverage_of_both_bounds():
    """Of 100 simulated trials 95 % shall have a bound above the true a90; both methods are asymptotic, 240 targets."""
    rng, trials = np.random.default_rng(7), 100
    sizes = np.exp(np.linspace(math.log(0.5), math.log(8), 240))
    true = math.exp((math.log(9) + 2) / 2.5)
    chances = expit(-2 + 2.5 * np.log(sizes))
    covered = np.zeros(2)
    for _ in range(trials):
        pod = hit_miss(sizes, rng.random(240) < chances, asymptote="one")
        covered += (pod.a90_wald >= true, pod.a90_likelihood >= true)
    tolerance = 3 * math.sqrt(0.95 * 0.05 / trials)
    assert (np.abs(covered / trials - 0.95) < tolerance).all()


def test_separated_data_are_named_and_firth_helps():
    sizes, hits = np.arange(1.0, 21.0), np.arange(1, 21) > 12
    with pytest.raises(InputError, match=r'separated by size.*of 12 to 13 was found.*penalty="firth"'):
        hit_miss(sizes, hits)
    with pytest.raises(InputError, match="separated"):  # both at 12: any steepness fits still
        hit_miss([*sizes, 12.0], [*hits, True])
    with pytest.raises(InputError, match="separated"):
        hit_miss(sizes, ~hits)
    pod = hit_miss(sizes, hits, penalty="firth")
    assert 12 < pod.a50 < 13
    assert pod.a90 < pod.a90_wald < pod.a90_likelihood < math.inf
    assert any("Firth" in note for note in pod.notes)
    overlapping = np.where(sizes == 14, False, hits)
    overlapping[9] = True
    assert hit_miss(sizes, overlapping).a90 > 12


def test_firth_on_two_sizes_adds_half_a_target_to_each_cell():
    """The closed form of a saturated logit model."""
    sizes, hits = np.repeat([1.0, 2.0], [12, 9]), np.arange(21) % 12 < np.repeat([3, 9], [12, 9])
    found = [hits[sizes == a].sum() for a in (1, 2)]
    odds = [(k + 0.5) / (n - k + 0.5) for k, n in zip(found, (12, 9), strict=True)]
    pod = hit_miss(sizes, hits, penalty="firth", transform="linear")
    assert pod.slope == pytest.approx(math.log(odds[1] / odds[0]), rel=1e-7)
    assert pod.intercept + pod.slope == pytest.approx(math.log(odds[0]), rel=1e-7)


def test_a_probability_that_hardly_depends_on_size_has_no_bound():
    hits = [1, 0, 1, 0, 1, 0, 1, 0, 1, 1]
    pod = hit_miss(np.arange(1.0, 11.0), hits)
    assert pod.a90_likelihood == math.inf
    assert any("does not depend on size" in note for note in pod.notes)
    assert any("extrapolated" in note for note in pod.notes)
    assert any("10 targets; MIL-HDBK-1823A asks for at least 60" in note for note in pod.notes)


def test_text_and_dictionary_say_the_same():
    pod = hit_miss(*simulated(targets=30))
    told = pod.as_dict()
    assert (told["a90"], told["a90_wald"], told["targets"]) == (pod.a90, pod.a90_wald, 30)
    text = str(pod)
    assert f"a90/95 {pod.a90_wald:.4g} (Wald), {pod.a90_likelihood:.4g} (likelihood ratio)" in text
    assert "30 targets; MIL-HDBK-1823A" in text
    assert "pass" not in text


def echoes(seed=0, targets=60):
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.uniform(math.log(0.4), math.log(6), targets))
    return sizes, np.exp(0.2 + 1.1 * np.log(sizes) + 0.35 * rng.normal(size=targets))


def test_without_censoring_it_is_least_squares():
    sizes, signals = echoes()
    g, y, n = np.log(sizes), np.log(signals), len(sizes)
    x = np.stack([np.ones(n), g], axis=1)
    beta, rss = np.linalg.lstsq(x, y, rcond=None)[:2]
    tau = math.sqrt(rss[0] / n)
    covariance = tau**2 * np.linalg.inv(x.T @ x)
    pod = signal_response(sizes, signals, 1.5)
    np.testing.assert_allclose(pod.parameters, [beta[0] / tau, beta[1] / tau, 1 / tau], rtol=1e-8)
    z90 = norm.ppf(0.9)
    g90 = (math.log(1.5) + z90 * tau - beta[0]) / beta[1]
    slope = np.array([-1.0, -g90]) / beta[1]
    variance = slope @ covariance @ slope + (z90 / beta[1]) ** 2 * tau**2 / (2 * n)
    assert pod.a90 == pytest.approx(math.exp(g90), rel=1e-9)
    assert pod.a90_wald == pytest.approx(math.exp(g90 + Z * math.sqrt(variance)), rel=1e-7)
    assert pod([2.0])[0] == pytest.approx(norm.cdf((beta @ [1, math.log(2)] - math.log(1.5)) / tau))


def censored(parameters, sizes, signals, low, high):
    """Minus the log-likelihood of (beta0, beta1, log tau), as it is written in books."""
    beta0, beta1, tau = parameters[0], parameters[1], math.exp(parameters[2])
    mean = beta0 + beta1 * np.log(sizes)
    at = np.select([signals <= low, signals >= high], [math.log(low), math.log(high)], np.log(signals))
    terms = np.select(
        [signals <= low, signals >= high],
        [norm.logcdf(at, mean, tau), norm.logsf(at, mean, tau)],
        norm.logpdf(at, mean, tau),
    )
    return -terms.sum()


def test_censored_signals_have_the_maximum_of_brute_force_and_its_bound():
    sizes, signals = echoes(1)
    low, high, threshold = 0.9, 4.0, 1.6
    assert (signals < low).sum() > 3
    assert (signals > high).sum() > 3
    pod = signal_response(sizes, signals, threshold, low=low, high=high)
    found = optimize.minimize(
        censored, (0.0, 1.0, -1.0), args=(sizes, signals, low, high), method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-10},
    )  # fmt: skip
    beta0, beta1, tau = found.x[0], found.x[1], math.exp(found.x[2])
    np.testing.assert_allclose(pod.parameters, [beta0 / tau, beta1 / tau, 1 / tau], rtol=1e-5)
    assert pod.log_likelihood == pytest.approx(-found.fun, abs=1e-8)

    # The bound: covariance of (beta0, beta1, log tau) from differences, then the delta method.
    h = 1e-4 * np.eye(3)
    of = lambda p: censored(p, sizes, signals, low, high)  # noqa: E731
    hessian = np.array(
        [
            [(of(found.x + a + b) - of(found.x + a - b) - of(found.x - a + b) + of(found.x - a - b)) / 4e-8 for a in h]
            for b in h
        ]
    )
    g90 = (math.log(threshold) + norm.ppf(0.9) * tau - beta0) / beta1
    slope = np.array([-1, -g90, norm.ppf(0.9) * tau]) / beta1
    bound = math.exp(g90 + Z * math.sqrt(slope @ np.linalg.inv(hessian) @ slope))
    assert pod.a90_wald == pytest.approx(bound, rel=1e-4)


def test_the_likelihood_bound_of_censored_signals_is_where_the_profile_says():
    sizes, signals = echoes(2)
    low, high, threshold = 0.9, 4.0, 1.6
    pod = signal_response(sizes, signals, threshold, low=low, high=high)

    def held(p):  # (beta1, log tau) with POD 0.9 at the bound
        beta0 = math.log(threshold) + norm.ppf(0.9) * math.exp(p[1]) - p[0] * math.log(pod.a90_likelihood)
        return censored((beta0, *p), sizes, signals, low, high)

    lowest = optimize.minimize(held, (1.0, -1.0), method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-8}).fun
    assert 2 * (lowest + pod.log_likelihood) == pytest.approx(Z**2, rel=1e-5)


def test_censoring_what_one_knows_widens_the_bound_and_keeps_the_estimate():
    sizes, signals = echoes(4, 400)
    whole = signal_response(sizes, signals, 1.5)
    cut = signal_response(sizes, signals, 1.5, low=1.2, high=3.0)
    assert cut.a90 == pytest.approx(whole.a90, rel=0.05)
    assert cut.a90 == pytest.approx(math.exp((math.log(1.5) + norm.ppf(0.9) * 0.35 - 0.2) / 1.1), rel=0.06)
    assert cut.a90_wald / cut.a90 > whole.a90_wald / whole.a90
    clipped = signal_response(sizes, np.clip(signals, 1.2, 3.0), 1.5, low=1.2, high=3.0)
    np.testing.assert_allclose(clipped.parameters, cut.parameters, rtol=1e-9)  # beyond a limit, only the side counts


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.sampled_from(["log", "linear"]))
@settings(max_examples=6)
def test_units_of_sizes_and_signals_do_not_matter(unit, gain, kind):
    sizes, signals = echoes(5, 30)
    options = {"transform": kind, "signal_transform": kind}
    here = signal_response(sizes, signals, 1.6, low=0.8, high=5.0, **options)
    there = signal_response(unit * sizes, gain * signals, gain * 1.6, low=gain * 0.8, high=gain * 5.0, **options)
    for name in ("a90", "a90_wald", "a90_likelihood"):
        assert getattr(there, name) == pytest.approx(unit * getattr(here, name), rel=1e-5)


def test_a_higher_threshold_needs_larger_defects():
    sizes, signals = echoes()
    bounds = [signal_response(sizes, signals, t).a90_wald for t in (1.0, 1.5, 2.0)]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize(
    ("sizes", "hits", "options", "message"),
    [
        ([1, 2, 3], [1, 0], {}, "3 sizes and 2 hits"),
        ([1, 2, 3], [1, 0, 2], {}, r"hits\[2\]=2 must be 0 \(missed\) or 1 \(found\)"),
        ([1, 2, math.nan], [1, 0, 1], {}, r"sizes\[2\]=nan is not finite"),
        ([1, 2, -3], [1, 0, 1], {}, "sizes hold -3, which has no logarithm"),
        ([[1, 2]], [1, 0], {}, r"shape \(1, 2\)"),
        ([], [], {}, "shape"),
        (["a"], [1], {}, "sizes must be numbers"),
        ([2, 2, 2], [1, 0, 1], {}, "1 different value"),
        ([1, 2, 3], [1, 1, 1], {}, "all 3 targets were found.*add smaller"),
        ([1, 2, 3], [0, 0, 0], {}, "all 3 targets were missed.*add larger"),
        ([1, 2, 3, 4], [1, 0, 1, 0], {}, "POD falls with size"),
        ([1, 2, 3, 4], [0, 1, 0, 1], {"link": "logti"}, r"link='logti'.*'logit'"),
        ([1, 2, 3, 4], [0, 1, 0, 1], {"transform": "ln"}, "transform='ln'"),
        ([1, 2, 3, 4], [0, 1, 0, 1], {"penalty": "frith"}, "penalty='frith'.*'firth'"),
        ([1, 2, 3, 4], [0, 1, 0, 1], {"confidence": 95}, "confidence=95"),
    ],
)
def test_bad_hits_are_named(sizes, hits, options, message):
    with pytest.raises(InputError, match=message):
        hit_miss(sizes, hits, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": 0.5, "low": 0.8}, "threshold=0.5 must lie between low=0.8"),
        ({"threshold": 5.0, "high": 4.0}, "threshold=5 must lie between .* high=4"),
        ({"low": 1.5, "high": 1.5}, "must lie between"),
        ({"low": 1.4, "high": 1.6}, "0 signals of 0 different sizes lie between"),
        ({"signals": [1.0, 2.0, 3.0, math.nan]}, r"signals\[3\]=nan"),
        ({"signals": [1.0, 2.0, 3.0, 0.0]}, "signals hold 0, which has no logarithm"),
        ({"signals": [1.0, 2.0, 3.0, 4.0]}, "line without scatter"),
        ({"signals": [4.0, 2.0, 3.0, 1.0]}, "signals fall with size"),
        ({"signals": [4.0, 2.0]}, "4 sizes and 2 signals"),
        ({"threshold": math.nan}, "threshold=nan"),
        ({"signal_transform": "square"}, "transform='square'"),
    ],
)
def test_bad_signals_are_named(change, message):
    given = {"sizes": [1.0, 2.0, 3.0, 4.0], "signals": [1.0, 2.2, 2.9, 4.1], "threshold": 1.5, **change}
    with pytest.raises(InputError, match=message):
        signal_response(**given)


def test_bad_questions_are_named():
    pod = hit_miss(*simulated())
    with pytest.raises(InputError, match="pod=90"):
        pod.size(90)
    with pytest.raises(InputError, match="by='score'"):
        pod.size_bound(0.9, "score")
    with pytest.raises(InputError, match="no logarithm"):
        pod([0.0])


def reweighted(g, hits, link):
    """The fit of a generalised linear model as statistics packages do it: least squares, reweighted until it stands."""
    x = np.stack([np.ones_like(g), g], axis=1)
    beta, weight = np.zeros(2), np.ones_like(g)
    for _ in range(60):
        eta = x @ beta
        mean = F[link](eta)
        slope = mean * (1 - mean) if link == "logit" else norm.pdf(eta)
        weight = slope**2 / (mean * (1 - mean))
        working = eta + (hits - mean) / slope
        beta = np.linalg.solve(x.T @ (weight[:, None] * x), x.T @ (weight * working))
    return beta, np.linalg.inv(x.T @ (weight[:, None] * x))


@pytest.mark.parametrize(("link", "transform"), [("logit", "log"), ("logit", "linear"), ("probit", "log")])
@pytest.mark.parametrize("seed", range(3))
def test_a90_95_agrees_with_reweighted_least_squares(seed, link, transform):
    sizes, hits = simulated(10 + seed, targets=120, link=link)
    g, back = (np.log(sizes), np.exp) if transform == "log" else (sizes, float)
    (b0, b1), covariance = reweighted(g, hits, link)
    level = float(norm.ppf(0.9)) if link == "probit" else math.log(9)
    g90 = (level - b0) / b1
    slope = np.array([-1 / b1, -g90 / b1])
    pod = hit_miss(sizes, hits, link=link, transform=transform, asymptote="one")
    assert pod.a90 == pytest.approx(back(g90), rel=1e-6)
    assert pod.a90_wald == pytest.approx(back(g90 + Z * math.sqrt(slope @ covariance @ slope)), rel=1e-6)
