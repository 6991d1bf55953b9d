"""Adam with the paper's step decay, against torch's own parts."""

import numpy as np
import pytest
import torch

from nefty.inversion.adam import Adam

START = torch.linspace(-2, 2, 7)


def bowl(x):
    curvature = torch.linspace(0.1, 10, 7)
    return float((curvature * x * x).sum()), 2 * curvature * x


@pytest.mark.parametrize("decay", [1.0, 0.1])
@pytest.mark.parametrize("decay_every", [4, 1000])
def test_it_is_torchs_adam_with_a_step_schedule(decay, decay_every):
    ours = Adam(START, 5e-2, decay, decay_every)
    unknown = torch.nn.Parameter(START.clone())
    theirs = torch.optim.Adam([unknown], lr=5e-2)
    schedule = torch.optim.lr_scheduler.StepLR(theirs, decay_every, decay)
    for _ in range(15):
        value, unknown.grad = bowl(unknown.detach())
        theirs.step()
        schedule.step()
        ours.step(bowl)
        assert ours.value == value
        np.testing.assert_allclose(ours.x.numpy(), unknown.detach().numpy(), rtol=1e-6, atol=1e-9)


def test_without_decay_every_the_rate_stays():
    plain, decaying = Adam(START, 1e-2), Adam(START, 1e-2, decay=0.1, decay_every=0)
    for _ in range(10):
        assert plain.step(bowl) == decaying.step(bowl)
    assert torch.equal(plain.x, decaying.x)


def test_it_says_how_far_it_went_and_leaves_the_start_alone():
    start = START.clone()
    optimiser = Adam(start, 1e-2)
    before = optimiser.x.clone()
    assert optimiser.step(bowl) == pytest.approx(float((optimiser.x - before).norm()))
    assert torch.equal(start, START)
    assert not optimiser.stuck


@pytest.mark.parametrize("done", [0, 1, 7])
def test_a_state_goes_on_bit_for_bit(done):
    first = Adam(START, 5e-2, 0.5, 3)
    for _ in range(done):
        first.step(bowl)
    second = Adam(torch.zeros(7), 5e-2, 0.5, 3)
    second.restore(first.state())
    for _ in range(10):
        assert first.step(bowl) == second.step(bowl)
        assert torch.equal(first.x, second.x)


def test_a_state_does_not_change_while_the_optimiser_goes_on():
    optimiser = Adam(START, 5e-2)
    optimiser.step(bowl)
    state = optimiser.state()
    kept = state["x"].copy(), {name: moment.copy() for name, moment in state["moments"].items()}
    optimiser.step(bowl)
    assert np.array_equal(state["x"], kept[0])
    for name, moment in kept[1].items():
        assert np.array_equal(state["moments"][name], moment)


def test_it_stays_in_the_box():
    low, high = torch.full((7,), -1.5), torch.linspace(0.5, 1.5, 7)
    optimiser = Adam(START, 0.5, low=low, high=high)

    def away(x):
        return -float((x * x).sum()), -2 * x

    for _ in range(10):
        optimiser.step(away)
        assert bool(((optimiser.x >= low) & (optimiser.x <= high)).all())
    assert bool((optimiser.x[:3] == low[:3]).all())
    assert bool((optimiser.x[-3:] == high[-3:]).all())


def test_one_side_of_a_box_is_enough():
    optimiser = Adam(START, 0.5, low=torch.zeros(7))
    for _ in range(5):
        optimiser.step(bowl)
    assert bool((optimiser.x >= 0).all())
