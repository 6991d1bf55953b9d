"""Causal weights: their direction, their order and their stages."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nefty.pinn.causal import Causal, causal_weights, chunk_means
from nefty.pinn.losses import Losses
from nefty.pinn.settings import Causal as Choice
from nefty.pinn.settings import Weights


def test_weights_by_hand():
    chunks = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    found = causal_weights(chunks, torch.tensor(0.5, dtype=torch.float64), 0.1)
    expected = [math.exp(-0.05), math.exp(-0.15), math.exp(-0.35)]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))


@given(
    st.lists(st.floats(0, 5), min_size=2, max_size=12),
    st.floats(0, 3),
    st.floats(0.01, 2),
    st.data(),
)
def test_a_weight_depends_on_earlier_chunks_only(losses, first, steepness, data):
    chunks, start = torch.tensor(losses, dtype=torch.float64), torch.tensor(first, dtype=torch.float64)
    weights = causal_weights(chunks, start, steepness)
    assert float(weights[0]) == pytest.approx(math.exp(-steepness * first))
    assert (weights.diff() <= 1e-12).all()
    changed = chunks.clone()
    index = data.draw(st.integers(0, len(losses) - 1))
    changed[index] += 10
    other = causal_weights(changed, start, steepness)
    torch.testing.assert_close(other[: index + 1], weights[: index + 1], atol=1e-12, rtol=1e-9)
    assert (other[index + 1 :] < weights[index + 1 :]).all()


def test_chunks_follow_time():
    squared = torch.arange(8.0)
    torch.testing.assert_close(chunk_means(squared, 4), torch.tensor([0.5, 2.5, 4.5, 6.5]))
    by_time = torch.stack([torch.full((2, 2, 2), float(t)) for t in range(6)])
    torch.testing.assert_close(chunk_means(by_time, 3), torch.tensor([0.5, 2.5, 4.5]))
    assert len(chunk_means(squared, 100)) == 8


def losses_of(p, residuals):
    """Residuals of two chunks, proportional to p; ic = p^2, data = 3 p."""
    squared = (p * torch.tensor(residuals, dtype=torch.float64)).square()
    return Losses(3 * p.sum(), squared, p.square().sum(), None, 0 * p.sum())


def test_gradient_by_hand():
    p = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    balance = Causal(Weights(data=1.0, pde=0.5, ic=0.25, tv=0.0), Choice(chunks=2, steepness=(0.1,)))
    used = balance.backward(losses_of(p, [1.0, 3.0]), 0.0)
    # Lt = 0.5 p^2 (1, 9) = (2, 18); L0 = 0.25 * 4 = 1; W = exp(-0.1), exp(-0.3), constant.
    w = math.exp(-0.1), math.exp(-0.3)
    # d/dp: mean(W 0.5 (1, 9)) 2 p + 0.25 2 p + 3
    assert p.grad is not None
    assert float(p.grad) == pytest.approx((w[0] * 0.5 + w[1] * 4.5) / 2 * 4 + 1 + 3)
    assert used == {"steepness": 0.1, "least_weight": pytest.approx(w[1])}


def test_a_stage_ends_when_all_weights_have_settled_or_its_share_is_over():
    choice = Choice(chunks=2, steepness=(1e-3, 1.0, 10.0), settled=0.99, every=3)
    balance = Causal(Weights(tv=0.0), choice)
    p = torch.tensor([0.1], dtype=torch.float64, requires_grad=True)
    stages = []
    for _ in range(7):
        balance.backward(losses_of(p, [1.0, 3.0]), 0.0)
        stages.append(balance.stage)
    assert stages == [0, 0, 1, 1, 1, 1, 1]  # settled when looked at; 1.0 is too steep for these residuals
    balance.backward(losses_of(p, [1.0, 3.0]), 0.5)
    assert balance.stage == 2
    balance.backward(losses_of(p, [1.0, 3.0]), 1.0)
    assert balance.stage == 2  # the last
