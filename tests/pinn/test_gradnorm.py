"""GradNorm's step against cases that can be computed by hand."""

import pytest
import torch

from nefty.pinn.gradnorm import SMALLEST_WEIGHT, GradNorm
from nefty.pinn.losses import Losses
from nefty.pinn.settings import GradNorm as Choice
from nefty.pinn.settings import Weights

NO_TV = Weights(tv=0.0)


class Toy:
    """Losses data = (a p)^2, pde = (b p + q)^2, ic = (c p)^2 of two numbers: p shared, q of the other network."""

    def __init__(self):
        self.p = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
        self.q = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)

    def losses(self, a=1.0, b=2.0, c=3.0):
        p = self.p
        return Losses((a * p).square().sum(), (b * p + self.q).square(), (c * p).square().sum(), None, 0 * p.sum())

    def clear(self):
        self.p.grad = self.q.grad = None


def test_first_step_moves_weights_towards_equal_gradients():
    # gradients by p: 2 a^2 = 2, 2 b (b + q) = 10, 2 c^2 = 18; all paces are 1, so the targets are their mean, 10.
    toy = Toy()
    balance = GradNorm(NO_TV, [toy.p], Choice(exponent=1.0, rate=0.1))
    used = balance.backward(toy.losses(), 0.0)
    assert used == {"weight_data": 1.0, "weight_pde": 1.0, "weight_ic": 1.0}
    # Adam's first step is its rate against the sign of n_i sign(G_i - target): up, none, down.
    torch.testing.assert_close(
        balance.w.detach(), torch.tensor([1.1, 1.0, 0.9], dtype=torch.float64), rtol=1e-6, atol=0
    )


def test_imbalance_by_hand():
    toy = Toy()
    balance = GradNorm(NO_TV, [toy.p], Choice(exponent=2.0))
    balance.backward(toy.losses(), 0.0)
    with torch.no_grad():
        balance.w.copy_(torch.tensor([0.5, 1.0, 1.5]))
    norms = torch.tensor([2.0, 4.0, 2.0], dtype=torch.float64)
    # L(0) = (1, 6.25, 9); now (1, 3.125, 0): left = (1, 0.5, 0), mean 0.5, pace (2, 1, 0), squared (4, 1, 0).
    values = torch.tensor([1.0, 3.125, 0.0], dtype=torch.float64)
    # G = (1, 4, 3), mean 8/3, targets (32/3, 8/3, 0): |1 - 32/3| + |4 - 8/3| + 3 = 14.
    loss = balance.imbalance(norms, values)
    assert float(loss.detach()) == pytest.approx(14.0)
    (gradient,) = torch.autograd.grad(loss, balance.w)
    torch.testing.assert_close(gradient, torch.tensor([-2.0, 4.0, 2.0], dtype=torch.float64))


def test_the_loss_that_lags_gains_weight():
    """The sign of the exponent: with equal gradients, only the pace decides."""
    toy = Toy()
    balance = GradNorm(NO_TV, [toy.p], Choice(exponent=1.5, rate=0.1))
    balance.backward(toy.losses(), 0.0)
    balance._begin(torch.tensor([1.0, 1.0, 1.0], dtype=torch.float64))
    balance._step(torch.ones(3, dtype=torch.float64), torch.tensor([0.9, 0.1, 0.1], dtype=torch.float64))
    lagging, ahead, also = balance.w.tolist()
    assert lagging > 1 > ahead
    assert ahead == pytest.approx(also)


def test_weights_keep_their_sum_and_stay_positive():
    toy = Toy()
    balance = GradNorm(NO_TV, [toy.p], Choice(exponent=1.5, rate=5.0))
    for _ in range(5):
        toy.clear()
        balance.backward(toy.losses(), 0.0)
        assert float(balance.w.sum().detach()) == pytest.approx(3)
        assert (balance.w > 0).all()
    assert SMALLEST_WEIGHT > 0


def test_networks_see_the_weighted_losses_and_nothing_of_the_imbalance():
    toy = Toy()
    balance = GradNorm(NO_TV, [toy.p], Choice(rate=0.3))
    balance.backward(toy.losses(), 0.0)
    weights = balance.w.detach().clone()
    toy.clear()
    balance.backward(toy.losses(), 0.0)
    # d/dp sum_i w_i L_i and d/dq w_pde (b p + q)^2 with the weights before this step.
    w_data, w_pde, w_ic = weights.tolist()
    assert toy.p.grad is not None
    assert toy.q.grad is not None
    assert float(toy.p.grad) == pytest.approx(2 * w_data + 10 * w_pde + 18 * w_ic)
    assert float(toy.q.grad) == pytest.approx(w_pde * 5)


def test_fixed_factors_come_before_the_adaptive_weights():
    toy = Toy()
    balance = GradNorm(Weights(data=7.0, pde=0.5, ic=1.0, tv=0.0), [toy.p], Choice())
    balance.backward(toy.losses(), 0.0)
    assert toy.p.grad is not None
    assert float(toy.p.grad) == pytest.approx(7 * 2 + 0.5 * 10 + 18)
