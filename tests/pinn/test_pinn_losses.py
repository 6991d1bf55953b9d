"""What the losses depend on: the paper's identity, and what missing values and sides do to them."""

import dataclasses

import numpy as np
import pytest
import torch

from nefty.data.described_model import described_model
from nefty.fields.heads import SigmoidHead
from nefty.fields.neural import NeuralField
from nefty.pinn.losses import losses, total_variation
from nefty.pinn.problem import build_problem
from nefty.pinn.residual import diffusivity
from nefty.pinn.sampler import Sampler
from nefty.pinn.variants import build_balance, build_temperature
from support.tiny_pinns import VARIANTS, tiny


def parts(recording, settings, generator, dtype=torch.float32):
    """Problem, both networks and a batch, as the loop has them."""
    problem = build_problem(recording, 4, 0.1, dtype)
    temperature = build_temperature(settings, problem, generator)
    field = NeuralField(
        problem.grid, SigmoidHead(), depth=2, width=8, bands=2, skip=None, horizon=0, generator=generator, dtype=dtype
    )
    sampler = Sampler(
        problem,
        settings.points,
        product=settings.variant == "spinn",
        soft=not settings.temperature.hard,
        generator=generator,
    )
    return problem, temperature, field, sampler(0)


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("variant", VARIANTS)
def test_data_and_initial_losses_do_not_reach_the_diffusivity(recording, generator, variant, hard):
    """grad_theta L_data = grad_theta L_ic = 0 exactly (paper, appendix C.1), while that of the residual is not."""
    problem, temperature, field, batch = parts(recording, tiny(variant, temperature__hard=hard), generator)
    found = losses(temperature, field, problem, batch, 0.247)
    assert set(found.named()) == {"data", "pde", "ic"} | (set() if hard else {"sides"})
    for name, loss in found.named().items():
        gradients = torch.autograd.grad(loss, list(field.parameters()), retain_graph=True, allow_unused=True)
        if name == "pde":
            assert all(g is not None and bool(g.abs().max() > 0) for g in gradients[:-1])
        else:
            assert all(g is None for g in gradients)
        by_phi = torch.autograd.grad(loss, list(temperature.parameters()), retain_graph=True, allow_unused=True)
        assert any(g is not None and bool(g.abs().max() > 0) for g in by_phi)


def test_the_data_loss_of_nefty_reaches_the_same_diffusivity(recording, generator):
    """The other half of the identity: where the frames are the solver's, the data speak to theta."""
    problem, _, field, _ = parts(recording, tiny("gradnorm"), generator)
    model = described_model(recording, 4)
    loss = (model(field()) / problem.amplitude - problem.frames).square().mean()
    gradients = torch.autograd.grad(loss, list(field.parameters()))
    assert all(bool(g.abs().max() > 0) for g in gradients)


@pytest.mark.parametrize(
    ("variant", "rule"),
    [("gradnorm", "center"), ("spinn", "center"), *(("dcgd", rule) for rule in ("center", "projection", "average"))],
)
def test_what_a_variant_gives_the_diffusivity_has_the_direction_of_the_residuals_gradient(
    recording, generator, variant, rule
):
    """Whatever it does to the losses, nothing of the data arrives at theta."""
    settings = tiny(variant, rule=rule, weights__tv=0.0)
    problem, temperature, field, batch = parts(recording, settings, generator, torch.float64)
    found = losses(temperature, field, problem, batch, 0.247)
    theta = list(field.parameters())
    alone = torch.autograd.grad(found.pde, theta, retain_graph=True)
    build_balance(settings, temperature, [*temperature.parameters(), *theta]).backward(found, 0.0)
    given = torch.cat([p.grad.flatten() for p in theta if p.grad is not None])
    residual = torch.cat([g.flatten() for g in alone])
    torch.testing.assert_close(given / given.norm(), residual / residual.norm())


def test_causal_weights_bring_no_way_from_the_data_to_the_diffusivity(recording, generator):
    """theta's gradient is that of the chunks of the residual, weighted, whatever was measured."""
    settings = tiny("causal", weights__tv=0.0)
    found = []
    for data in (1.0, 5.0):
        chosen = settings.model_copy(update={"weights": settings.weights.model_copy(update={"data": data})})
        generator.manual_seed(3)
        problem, temperature, field, batch = parts(recording, chosen, generator, torch.float64)
        balance = build_balance(chosen, temperature, [*temperature.parameters(), *field.parameters()])
        balance.backward(losses(temperature, field, problem, batch, 0.247), 0.0)
        found.append([p.grad for p in field.parameters()])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_missing_values_do_not_count(recording, generator, variant):
    frames = recording.frames.copy()
    frames[2:, :4] = np.nan
    state = generator.get_state()
    found = []
    for spoiled in (frames, np.where(np.isnan(frames), 1e6, frames)):
        generator.set_state(state)
        mask = np.ones(recording.shape[1:], dtype=bool)
        sequence = dataclasses.replace(recording, frames=spoiled)
        if not np.isnan(spoiled).any():
            mask[:4] = False
            sequence = sequence.with_mask(mask)
        problem, temperature, field, batch = parts(sequence, tiny(variant), generator)
        loss = losses(temperature, field, problem, batch, 0.247).data
        assert loss is not None
        found.append(float(loss.detach()))
    assert all(value < 10 for value in found)


def test_data_loss_of_whole_frames_is_the_mean_over_what_counts(recording, generator):
    frames = recording.frames.copy()
    frames[1, 3, 4] = np.nan
    sequence = dataclasses.replace(recording, frames=frames)
    problem, temperature, field, batch = parts(sequence, tiny("spinn"), generator, torch.float64)
    found = losses(temperature, field, problem, batch, 0.247).data
    assert batch.data is not None
    assert found is not None
    wrong = temperature(batch.data)[:, 0].detach().numpy() - frames / 100.0
    assert float(found.detach()) == pytest.approx(np.nanmean(wrong**2))


def test_total_variation_is_the_integral_of_the_slope(recording, generator):
    """A ramp along y over the whole range has |grad alpha| = width/L_y, so H |grad alpha|/width = H/L_y."""
    problem, *_, batch = parts(recording, tiny("gradnorm"), generator, torch.float64)

    class Ramp:
        def at(self, points, size=None):
            return 0.1 + 0.2 * points[:, 1] / 2

    found = total_variation(diffusivity(Ramp(), batch.collocation), problem, 0.2)
    assert float(found.detach()) == pytest.approx(1.0 / 4.0, rel=1e-4)


@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
@pytest.mark.parametrize("variant", ["dcgd", "spinn"])
def test_sides_cost_nothing_where_features_keep_their_conditions(recording, generator, variant, lateral):
    from nefty.pinn.losses import _sides

    sequence = dataclasses.replace(recording, boundary=dataclasses.replace(recording.boundary, lateral=lateral))
    soft = tiny(variant, temperature__hard=False)
    problem, plain, _, batch = parts(sequence, soft, generator, torch.float64)
    assert len(batch.sides) == 3
    assert float(_sides(plain, problem, batch.sides).detach()) > 1e-4
    kept = build_temperature(tiny(variant), problem, generator)
    assert float(_sides(kept, problem, batch.sides).detach()) < 1e-20
