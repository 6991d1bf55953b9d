"""The penalties, against values worked out by hand; and their derivatives, over all there are."""

import math

import numpy as np
import pytest
import torch

from nefty import Grid
from nefty.inversion.penalties import PENALTIES, SparseAnomaly, TotalVariation, Trial, VoidWell
from nefty.testing import taylor_order

# Two layers of 2 x 2 cells with edges dz = 1, dy = 2, dx = 0.5; a cell measures 1.
TINY = Grid((2, 2, 2), (2.0, 4.0, 1.0))
GRID = Grid((3, 4, 5), (0.9, 2.0, 3.0))
RULES = [
    (lateral, back, gain) for lateral in ("periodic", "adiabatic") for back in ("free", "sound") for gain in (0, 3)
]


LAYERS = torch.tensor([0.1, 0.2, 0.15], dtype=torch.float64)[:, None, None]
SOUND = SparseAnomaly().smoothing


def total_variation(field, grid, *, lateral="periodic", unit=1.0, **settings):
    """Of plain values; settings are not checked, so that eps may be 0."""
    return TotalVariation.model_construct(**{"smoothing": 1e-6, **settings}).of(field, grid, lateral, unit=unit)


def of_ratio(penalty, log_ratio, grid):
    """A penalty at log(alpha/background), in plain units of the grid's length."""
    trial = Trial(log_ratio.exp(), grid, log_background=torch.zeros(grid.shape[0], 1, 1, dtype=log_ratio.dtype))
    return penalty(trial) * grid.size[0] ** 3


def void_well(log_ratio, grid):
    return of_ratio(VoidWell(), log_ratio, grid)


def anomaly(log_ratio, grid):
    return of_ratio(SparseAnomaly(), log_ratio, grid)


def tiny(value: float = 2.0) -> torch.Tensor:
    """One cell, at the front, row 0, column 0."""
    field = torch.zeros(TINY.shape, dtype=torch.float64)
    field[0, 0, 0] = value
    return field


def test_periodic_by_hand():
    """A lone cell of 2: at itself steps of 2 in z, y and x; seen from the row and the column before it, which wrap."""
    at_itself = math.sqrt((2 / 1) ** 2 + (2 / 2) ** 2 + (2 / 0.5) ** 2)
    row_before, column_before = 2 / 2, 2 / 0.5
    got = total_variation(tiny(), TINY, smoothing=0.0)
    assert float(got) == pytest.approx(at_itself + row_before + column_before, rel=1e-14)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_steps_along_the_depth_can_count_for_themselves(share):
    """The lone cell of 2 again: its step in z beside those in y and x, or all under one root."""
    together = math.sqrt(2**2 + 1**2 + 4**2)
    apart = 2 + math.sqrt(1**2 + 4**2)
    got = total_variation(tiny(), TINY, smoothing=0.0, depth_apart=share)
    assert float(got) == pytest.approx((1 - share) * together + share * apart + 1 + 4, rel=1e-14)


def test_adiabatic_by_hand():
    """No step across the sides: only the cell itself sees one."""
    got = total_variation(tiny(), TINY, smoothing=0.0, lateral="adiabatic")
    assert float(got) == pytest.approx(math.sqrt(4 + 1 + 16), rel=1e-14)
    far = tiny().flip(1, 2)  # now in the last row and column, which have no forward step
    got = total_variation(far, TINY, smoothing=0.0, lateral="adiabatic")
    assert float(got) == pytest.approx(2 / 1 + 2 / 2 + 2 / 0.5, rel=1e-14)


def test_the_last_layer_has_no_step_unless_what_lies_beyond_is_sound():
    deep = tiny().flip(0)
    lateral = math.sqrt(1 + 16) + 1 + 4
    above = 2.0  # the step from the layer before
    assert float(total_variation(deep, TINY, smoothing=0.0)) == pytest.approx(lateral + above, rel=1e-14)
    sound = math.sqrt(4 + 1 + 16) + 1 + 4 + above
    assert float(total_variation(deep, TINY, smoothing=0.0, back="sound")) == pytest.approx(sound, rel=1e-14)


def test_what_sticks_to_the_back_costs_as_much_as_what_does_not():
    inside, at_back = torch.zeros(2, *GRID.shape, dtype=torch.float64)
    inside[1, 1:3, 1:3] = at_back[2, 1:3, 1:3] = -3.0
    floated, stuck = (float(total_variation(f, GRID, smoothing=1e-3, back="sound")) for f in (inside, at_back))
    assert stuck == pytest.approx(floated, rel=1e-12)
    assert float(total_variation(at_back, GRID, smoothing=1e-3)) < 0.95 * floated


def test_epsilon_is_what_a_constant_costs():
    flat = torch.full(TINY.shape, 0.7, dtype=torch.float64)
    assert float(total_variation(flat, TINY, smoothing=0.25)) == pytest.approx(8 * 0.25, rel=1e-14)
    got = total_variation(tiny(), TINY, smoothing=0.5, lateral="adiabatic")
    assert float(got) == pytest.approx(math.sqrt(4 + 1 + 16 + 0.25) + 7 * 0.5, rel=1e-14)


def test_depth_weighs_as_one_plus_gain_times_depth_squared():
    """Centres of the two layers lie at 1/4 and 3/4 of the thickness."""
    got = total_variation(tiny(), TINY, smoothing=0.0, lateral="adiabatic", depth_gain=8.0)
    assert float(got) == pytest.approx(math.sqrt(21) * (1 + 8 / 16), rel=1e-14)
    flat = torch.zeros(TINY.shape, dtype=torch.float64)
    got = total_variation(flat, TINY, smoothing=1.0, depth_gain=8.0)
    assert float(got) == pytest.approx(4 * (1 + 8 / 16) + 4 * (1 + 8 * 9 / 16), rel=1e-14)


@pytest.mark.parametrize(("lateral", "back", "gain"), RULES)
def test_its_gradient_is_that_of_finite_differences(rng, lateral, back, gain):
    point = torch.from_numpy(rng.standard_normal(GRID.shape))

    def cost(field):
        return total_variation(field, GRID, smoothing=0.1, lateral=lateral, back=back, depth_gain=gain, unit=0.9)

    at = point.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(cost(at), at)
    for index in [(0, 0, 0), (1, 3, 4), (2, 2, 0), (2, 3, 4)]:
        step = torch.zeros_like(point)
        step[index] = 1e-6
        difference = float(cost(point + step) - cost(point - step)) / 2e-6
        assert float(gradient[index]) == pytest.approx(difference, rel=1e-6, abs=1e-9)
    check = taylor_order(cost, gradient, point, torch.from_numpy(rng.standard_normal(GRID.shape)))
    assert check.passed, check


def test_a_constant_field_has_no_gradient():
    flat = torch.full(GRID.shape, 0.3, requires_grad=True)
    (gradient,) = torch.autograd.grad(total_variation(flat, GRID), flat)
    assert bool(torch.isfinite(gradient).all())
    assert float(gradient.abs().max()) == 0


@pytest.fixture
def alpha(rng):
    """Between void and a little better than sound."""
    return LAYERS * torch.from_numpy(rng.uniform(0.05, 1.1, GRID.shape))


@pytest.mark.parametrize("name", [name for name in PENALTIES if name != "strata"])
@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
def test_the_gradient_of_every_penalty_is_exact(rng, alpha, name, lateral):
    def cost(at):
        return PENALTIES[name]()(Trial(at, GRID, lateral, LAYERS.log()))

    at = alpha.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(cost(at), at)
    assert float(gradient.abs().max()) > 0
    check = taylor_order(cost, gradient, alpha, 0.1 * alpha * torch.from_numpy(rng.standard_normal(GRID.shape)))
    assert check.passed, check


def test_strata_cost_the_variation_along_depth_of_a_part_without_defects(rng, alpha):
    """Of free layers alone: the size of their steps times the area of the front face, in squares of the thickness."""
    layers = torch.from_numpy(rng.uniform(-2, -1, GRID.shape[0]))
    area = GRID.size[1] * GRID.size[2] / GRID.size[0] ** 2
    sharp = PENALTIES["strata"].model_validate({"smoothing": 1e-6})
    found = float(sharp(Trial(alpha, GRID, "periodic", LAYERS.log(), layers)))
    assert found == pytest.approx(area * float(layers.diff().abs().sum()), rel=1e-6)
    assert float(sharp(Trial(alpha, GRID, "periodic", LAYERS.log()))) == 0.0


@pytest.mark.parametrize("name", PENALTIES)
def test_the_unit_of_length_does_not_matter(alpha, name):
    inches = Grid(GRID.shape, tuple(25.4 * s for s in GRID.size))  # pyright: ignore[reportArgumentType]
    here, there = (float(PENALTIES[name]()(Trial(alpha, g, log_background=LAYERS.log()))) for g in (GRID, inches))
    assert there == pytest.approx(here, rel=1e-12)


@pytest.mark.parametrize("name", PENALTIES)
def test_the_unit_of_diffusivity_does_not_matter(alpha, name):
    one, other = (float(PENALTIES[name]()(Trial(f * alpha, GRID, log_background=(f * LAYERS).log()))) for f in (1, 60))
    assert other == pytest.approx(one, rel=1e-9)


@pytest.mark.parametrize("name", PENALTIES)
def test_every_penalty_says_its_name_and_its_equation(name):
    assert PENALTIES[name].name == name
    assert (" = A/H^2 sum" if name == "strata" else " = dx dy dz sum") in (PENALTIES[name].__doc__ or "")


@pytest.mark.parametrize(("ratio", "value"), [(1.0, 0.0), (0.5, 0.25), (0.25, 3 / 16), (1e-12, 0.0), (1.5, 0.0)])
def test_the_well_has_its_two_bottoms_at_sound_and_void(ratio, value):
    """u (1 - u) of the deficit u = 1 - ratio; better than sound costs nothing."""
    log_ratio = torch.full(TINY.shape, math.log(ratio), dtype=torch.float64)
    assert float(void_well(log_ratio, TINY)) == pytest.approx(8 * value, abs=1e-10)


def test_the_well_counts_volume(rng):
    log_ratio = torch.from_numpy(rng.uniform(-4, -0.01, GRID.shape))
    deficit = 1 - np.exp(log_ratio.numpy())
    assert float(void_well(log_ratio, GRID)) == pytest.approx(np.sum(deficit * (1 - deficit)) * np.prod(GRID.spacing))


def test_the_anomaly_by_hand():
    """Cells of volume 1: |log ratio| of those that differ, rounded off below eps; nothing where all is sound."""
    field = torch.zeros(TINY.shape, dtype=torch.float64)
    assert float(anomaly(field, TINY)) == 0
    field[0, 0, 0], field[1, 1, 0] = math.log(0.1), 0.5
    expected = sum(math.hypot(v, SOUND) - SOUND for v in (math.log(0.1), 0.5))
    assert float(anomaly(field, TINY)) == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(math.log(10) + 0.5, abs=2 * SOUND)


def test_the_same_resistance_costs_less_as_a_thin_layer():
    """1/alpha summed over the depth is the same in both."""
    thin, thick = torch.zeros(2, *GRID.shape, dtype=torch.float64)
    thin[1], thick[:] = -math.log(13.0), -math.log(5.0)  # 1 + 13 + 1 = 5 + 5 + 5
    assert float(anomaly(thin, GRID)) < 0.6 * float(anomaly(thick, GRID))


def test_a_little_scatter_costs_its_square():
    small = torch.full(GRID.shape, 1e-3 * SOUND, dtype=torch.float64)
    volume = math.prod(GRID.size)
    assert float(anomaly(small, GRID)) == pytest.approx(volume * (1e-3 * SOUND) ** 2 / (2 * SOUND), rel=1e-3)
