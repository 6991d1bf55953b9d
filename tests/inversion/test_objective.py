"""What is minimised: misfit and penalties, independent of units, with its gradient."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from nefty import Boundary, GaussianFlash, Grid, HeatModel
from nefty.fields.heads import LogBox
from nefty.fields.voxel import VoxelField
from nefty.inversion.objective import Objective
from nefty.inversion.penalties import SparseAnomaly, StrataVariation, TotalVariation, Trial, VoidWell, WeightedPenalty
from nefty.testing import taylor_order

GRID = Grid((4, 6, 5), (1.0, 2.0, 2.0))
TIMES = np.array([0.2, 0.5, 1.0, 2.0])
FLASH = GaussianFlash(50.0, 1.0, 0.3)
LAYERS = np.array([0.1, 0.2, 0.15, 0.12])
ON = ["alpha", "log", "log-ratio"]


@pytest.fixture
def alpha(rng):
    return LAYERS[:, None, None] * rng.uniform(0.2, 1.0, GRID.shape)


@pytest.fixture
def frames(rng):
    model = HeatModel(GRID, TIMES, FLASH, dtype="float64")
    return model(np.full(GRID.shape, 0.14)).numpy() + 0.1 * rng.standard_normal((4, 6, 5))


def build(
    seen,
    frames,
    on="log-ratio",
    grid=GRID,
    times=TIMES,
    flash=FLASH,
    background=LAYERS,
    dtype="float64",
    share: Any = 1.0,
    **more,
):
    model = HeatModel(grid, times, flash, dtype=dtype)
    made = seen(frames, grid, times, **more)
    return Objective(model, made, background, weighted(on, tv=2.0, voids=5.0), share=share)


def variation(on):
    return TotalVariation.model_validate({"on": on, "smoothing": 0.1, "back": "sound", "depth_gain": 1.0})


def weighted(on="log-ratio", tv=0.0, voids=0.0, sparse=0.0):
    terms = (variation(on), tv), (VoidWell(), voids), (SparseAnomaly(), sparse)
    return [WeightedPenalty(*term) for term in terms]


def trial_of(alpha, lateral="periodic"):
    return Trial(torch.from_numpy(alpha), GRID, lateral, torch.from_numpy(np.log(LAYERS))[:, None, None])


def terms_of(objective, alpha):
    return objective(lambda: torch.from_numpy(alpha))


def test_raw_units_are_the_plain_sum_of_squares(seen, frames, alpha):
    objective = build(seen, frames, raw=True)
    terms = terms_of(objective, alpha)
    residual = objective.model(alpha).numpy() - frames
    assert terms.data == pytest.approx(np.sum(residual**2), rel=1e-12)
    assert terms_of(build(seen, frames), alpha).data == pytest.approx(
        build(seen, frames).seen.scale * terms.data, rel=1e-12
    )


@pytest.mark.parametrize("on", ON)
def test_it_is_the_weighted_sum_of_its_terms(seen, frames, alpha, on):
    objective = build(seen, frames, on)
    terms = terms_of(objective, alpha)
    trial = trial_of(alpha)
    want = {"tv": float(variation(on)(trial)), "voids": float(VoidWell()(trial)), "sparse": 0.0}
    assert terms.penalties == pytest.approx(want, rel=1e-12)
    assert float(terms.value) == pytest.approx(terms.data + 2 * want["tv"] + 5 * want["voids"], rel=1e-12)
    objective.penalties = weighted(on)
    alone = terms_of(objective, alpha)
    assert float(alone.value) == alone.data == terms.data
    assert alone.penalties == {"tv": 0.0, "voids": 0.0, "sparse": 0.0}  # what does not count is not evaluated


def test_units_of_temperature_length_and_time_do_not_matter(seen, frames, alpha):
    """The same part in millikelvin, inches and minutes."""
    here = terms_of(build(seen, frames), alpha)
    inches = Grid(GRID.shape, tuple(s / 25.4 for s in GRID.size))  # pyright: ignore[reportArgumentType]
    flash = GaussianFlash(1000 * FLASH.amplitude, FLASH.width / 25.4, FLASH.depth / 25.4)
    faster = 60 / 25.4**2
    there = terms_of(
        build(seen, 1000 * frames, grid=inches, times=TIMES / 60, flash=flash, background=faster * LAYERS),
        faster * alpha,
    )
    assert there.data == pytest.approx(here.data, rel=1e-9)
    assert there.penalties == pytest.approx(here.penalties, rel=1e-9)
    assert float(there.value) == pytest.approx(float(here.value), rel=1e-9)


def test_the_frame_rate_does_not_matter(seen, alpha):
    """Twice as many frames of the same cooling cost the same, but for what happens between them."""
    costs = []
    for count in (200, 400):
        times = np.linspace(0, 2, count + 1)[1:]
        frames = HeatModel(GRID, times, FLASH, dtype="float64")(np.full(GRID.shape, 0.14)).numpy()
        made = build(seen, frames, times=times)
        # the peak is that of the first frame, which comes earlier the more there are
        costs.append(terms_of(made, alpha).data * made.seen.peak**2)
    assert costs[1] == pytest.approx(costs[0], rel=0.01)


def test_what_does_not_count_changes_nothing(seen, frames, alpha, rng):
    counted = rng.random(frames.shape) < 0.6
    results = []
    for hidden in (0.0, 77.0):
        field = torch.from_numpy(alpha).requires_grad_()
        values = np.where(counted, frames, hidden)
        terms = build(seen, values, counted=counted)(lambda f=field: f)
        results.append((float(terms.value.detach()), torch.autograd.grad(terms.value, field)[0]))
    assert results[0][0] == results[1][0]
    assert torch.equal(results[0][1], results[1][1])
    made = build(seen, frames, counted=counted)
    residual = (made.model(alpha).numpy() - frames)[counted]
    assert terms_of(made, alpha).data == pytest.approx(made.seen.scale * np.sum(residual**2), rel=1e-12)


def assert_gradient_is_exact(objective, alpha, rng):
    """By the order of the remainder of a Taylor expansion."""
    point = torch.from_numpy(alpha)
    at = point.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(objective(lambda: at).value, at)
    direction = point * torch.from_numpy(rng.standard_normal(GRID.shape))
    check = taylor_order(lambda a: objective(lambda: a).value, gradient, point, direction)
    assert check.passed, check


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("masked", [False, True])
def test_its_gradient_is_exact(seen, frames, alpha, rng, on, masked):
    more = {"counted": rng.random(frames.shape) < 0.6} if masked else {}
    objective = build(seen, frames, on, **more)
    assert_gradient_is_exact(objective, alpha, rng)


def test_single_precision_agrees_with_double(seen, frames, alpha):
    double = terms_of(build(seen, frames), alpha)
    single = terms_of(build(seen, frames, dtype="float32"), alpha.astype(np.float32))
    assert single.value.dtype == torch.float64
    assert float(single.value) == pytest.approx(float(double.value), rel=1e-4)


def test_penalties_are_those_of_the_ratio_to_the_background(seen, frames, alpha):
    moved = terms_of(build(seen, frames, background=2 * LAYERS), 2 * alpha)
    assert moved.penalties == pytest.approx(terms_of(build(seen, frames), alpha).penalties, rel=1e-12)


def test_the_sides_of_the_model_are_those_of_the_penalty(seen, frames, alpha):
    objective = build(seen, frames, "alpha")
    objective.model = HeatModel(GRID, TIMES, FLASH, Boundary("adiabatic"), dtype="float64")
    want = float(variation("alpha")(trial_of(alpha, "adiabatic")))
    assert terms_of(objective, alpha).penalties["tv"] == pytest.approx(want, rel=1e-12)


def test_the_recording_is_not_changed(seen, frames, alpha):
    objective = build(seen, frames)
    kept = objective.seen.frames.copy()
    terms_of(objective, alpha)
    assert np.array_equal(kept, objective.seen.frames)
    assert dataclasses.is_dataclass(objective.seen)


GAINS = [{"gain_spread": 0.05}, {"gain_spread": 0.05, "early_spread": 0.02}, {"gain_spread": 10.0, "early_spread": 3.0}]

EQUAL = np.ones((1, 1, 1))


def gain_of(objective):
    """Gain of each pixel at the last evaluation, (y, x)."""
    assert objective.gain is not None
    return objective.gain.numpy()[0].copy()


def least_over_gains(objective, predicted, share=EQUAL):
    """Minimum over gain (and early deviation) of each pixel of the misfit with its priors, by least squares."""
    seen = objective.seen
    early = (seen.times[0] / seen.times) ** seen.early_fall
    value, gains = 0.0, np.ones(predicted.shape[1:])
    for y, x in np.ndindex(*gains.shape):
        root = np.sqrt(np.broadcast_to(seen.weights * share, predicted.shape)[:, y, x])
        columns, rows, right = [np.ones(len(early))], [[1 / seen.gain_spread]], [1 / seen.gain_spread]
        if seen.early_spread:
            columns.append(early)
            rows, right = [[1 / seen.gain_spread, 0], [0, 1 / seen.early_spread]], [1 / seen.gain_spread, 0]
        shapes = np.stack(columns, axis=1) * (root * predicted[:, y, x])[:, None]
        matrix = np.vstack([shapes, np.sqrt(seen.unit) * np.array(rows)])
        wanted = np.concatenate([root * seen.frames[:, y, x], np.sqrt(seen.unit) * np.array(right)])
        found = np.linalg.lstsq(matrix, wanted)[0]
        value += np.sum((matrix @ found - wanted) ** 2)
        gains[y, x] = found[0]
    return value, gains


@pytest.mark.parametrize("more", GAINS)
@pytest.mark.parametrize("masked", [False, True])
def test_unknown_gains_cost_what_the_best_of_them_do(seen, frames, alpha, rng, more, masked):
    counted = {"counted": rng.random(frames.shape) < 0.7} if masked else {}
    uneven = frames * rng.normal(1, 0.05, GRID.shape[1:])
    objective = build(seen, uneven, noise=np.array([0.4, 0.3, 0.2, 0.1])[:, None, None], **more, **counted)
    value, gains = least_over_gains(objective, objective.model(alpha).numpy())
    assert terms_of(objective, alpha).data == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(gain_of(objective), gains, rtol=1e-9)
    assert objective.factor is not None
    shared = objective.seen.weights * (objective.factor.numpy() * objective.model(alpha).numpy() - uneven) ** 2
    assert shared.sum() < value


def test_no_other_gain_costs_less(seen, frames, alpha, rng):
    """The formula of the docstring, by brute force over one pixel's gain."""
    objective = build(seen, frames * 1.04, gain_spread=0.05)
    best, predicted = terms_of(objective, alpha).data, objective.model(alpha).numpy()
    kept = gain_of(objective)
    stiffness = objective.seen.unit / 0.05**2

    def cost(gain):
        misfit = objective.seen.weights * (gain * predicted - 1.04 * frames) ** 2
        return misfit.sum() + stiffness * np.sum((gain - 1) ** 2)

    assert cost(kept) == pytest.approx(best, rel=1e-12)
    for change in np.linspace(-0.2, 0.2, 41):
        other = kept.copy()
        other[3, 2] += change
        assert cost(other) >= best * (1 - 1e-12)


@pytest.mark.parametrize("more", GAINS)
def test_the_gradient_is_exact_with_unknown_gains(seen, frames, alpha, rng, more):
    objective = build(seen, frames * rng.normal(1, 0.05, GRID.shape[1:]), **more)
    objective.penalties = weighted(tv=2.0, sparse=3.0)
    assert_gradient_is_exact(objective, alpha, rng)


def test_gains_of_the_recording_are_found_where_the_volume_is_right(seen, frames, rng):
    alpha, gain = np.full(GRID.shape, 0.14), rng.normal(1, 0.05, GRID.shape[1:])
    model = HeatModel(GRID, TIMES, FLASH, dtype="float64")
    objective = build(seen, gain * model(alpha).numpy(), noise=1e-6, gain_spread=0.05)
    assert terms_of(objective, alpha).data < 1e-6
    np.testing.assert_allclose(gain_of(objective), gain, rtol=1e-6)


def test_a_small_spread_holds_the_gains_at_one(seen, frames, alpha):
    plain, held = terms_of(build(seen, frames), alpha), terms_of(build(seen, frames, gain_spread=1e-7), alpha)
    assert held.data == pytest.approx(plain.data, rel=1e-6)
    assert terms_of(build(seen, frames, gain_spread=0.1), alpha).data < plain.data


@pytest.mark.parametrize("more", [{}, *GAINS[:2]])
def test_discounted_values_count_less(seen, frames, alpha, more):
    share = np.array([1.0, 0.5, 0.0, 1.0])[:, None, None]
    objective = build(seen, frames, share=share, **more)
    predicted = objective.model(alpha).numpy()
    if more:
        expected = least_over_gains(objective, predicted, share)[0]
    else:
        expected = np.sum(share * objective.seen.weights * (predicted - frames) ** 2)
    assert terms_of(objective, alpha).data == pytest.approx(expected, rel=1e-9)


def test_the_anomaly_is_added_with_its_weight(seen, frames, alpha):
    objective = build(seen, frames)
    before = terms_of(objective, alpha)
    objective.penalties = weighted(tv=2.0, voids=5.0, sparse=7.0)
    extra = 7 * float(SparseAnomaly()(trial_of(alpha)))
    assert float(terms_of(objective, alpha).value) == pytest.approx(float(before.value) + extra, rel=1e-12)


def test_free_layers_have_the_gradient_of_the_misfit_and_of_their_own_variation(seen, frames, rng):
    """By central differences; penalties of the anomaly do not feel the background that it is relative to."""
    ratio = rng.uniform(0.3, 0.95, GRID.shape)
    field = VoxelField(GRID, LogBox(0.01, 1.05), start=ratio, background=LAYERS, free_layers=True, dtype=torch.float64)
    objective = build(seen, frames)
    objective.penalties = [*weighted(tv=2.0, voids=5.0, sparse=3.0), WeightedPenalty(StrataVariation(), 0.7)]
    assert field.layers is not None
    layers = field.layers.data

    def terms(values):
        layers.copy_(torch.from_numpy(values))
        return objective(field)

    at = rng.uniform(-0.2, 0.2, 4)
    terms(at).value.backward()
    assert field.layers.grad is not None
    slope = field.layers.grad.numpy().copy()
    for k, step in enumerate(1e-5 * np.eye(4)):
        up, down = terms(at + step), terms(at - step)
        assert float((up.value - down.value).detach()) / 2e-5 == pytest.approx(slope[k], rel=1e-5, abs=1e-6)
        for name in ("tv", "voids", "sparse"):
            assert up.penalties[name] == pytest.approx(down.penalties[name], rel=1e-12)


def test_held_layers_are_a_fixed_background(seen, frames, rng):
    ratio = rng.uniform(0.3, 0.95, GRID.shape)
    one, other = (
        VoxelField(GRID, LogBox(0.01, 1.05), start=ratio, background=LAYERS, free_layers=free, dtype=torch.float64)
        for free in (True, False)
    )
    objective = build(seen, frames)
    first, second = objective(one), objective(other)
    assert first.data == pytest.approx(second.data, rel=1e-12)
    assert first.penalties == pytest.approx(second.penalties, rel=1e-12)
    assert one.unknowns == other.unknowns + 4
