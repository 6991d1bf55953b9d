import os
import signal
import time

import pytest
import torch

from nefty.core.errors import NeftyError
from nefty.core.stopping import FINISHED, INTERRUPTED
from nefty.fields.neural import NeuralField
from nefty.pinn import dcgd
from nefty.pinn.loop import OUT_OF_TIME, train
from nefty.pinn.problem import build_problem
from nefty.pinn.variants import build_temperature
from support.tiny_pinns import VARIANTS, tiny


def run(recording, settings, generator, **options):
    problem = build_problem(recording, 4, 0.1)
    temperature = build_temperature(settings, problem, generator)
    field = NeuralField(
        problem.grid, depth=2, width=8, bands=2, skip=None, horizon=0, start=0.1, spread=0.1, generator=generator
    )
    return train(problem, temperature, field, settings, generator=generator, **options), temperature, field


def values(module):
    return torch.cat([p.detach().flatten() for p in module.parameters()]).clone()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_iteration_is_in_the_history(recording, generator, variant):
    found, _, _ = run(recording, tiny(variant, iterations=5), generator)
    assert found.stopped == FINISHED
    columns = found.columns()
    assert {"data", "pde", "ic", "tv", "seconds"} <= set(columns)
    assert {"gradnorm": "weight_pde", "spinn": "data", "causal": "least_weight", "dcgd": "cosine"}[variant] in columns
    assert all(column.shape == (5,) for column in columns.values())
    assert (columns["seconds"][1:] > columns["seconds"][:-1]).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_losses_fall(recording, generator, variant):
    found, _, _ = run(recording, tiny(variant, iterations=30, rates__temperature=2e-2), generator)
    columns = found.columns()
    total = columns["data"] + columns["pde"] + columns["ic"]
    assert total[-5:].mean() < 0.5 * total[:5].mean()


def test_the_same_seed_gives_the_same_run(recording):
    one, other = (run(recording, tiny("gradnorm"), torch.Generator().manual_seed(5))[0].columns() for _ in range(2))
    for name in ("data", "pde", "ic", "weight_data"):
        assert (one[name] == other[name]).all()


def test_seconds_end_it(recording, generator):
    began = time.perf_counter()
    found, _, _ = run(recording, tiny("dcgd", iterations=10**6, seconds=0.5), generator)
    assert found.stopped == OUT_OF_TIME
    assert 1 <= found.iterations < 10**6
    assert found.columns()["seconds"][-1] < 0.6
    assert time.perf_counter() - began < 3


def test_seconds_that_are_spent_already_count(recording, generator):
    found, _, _ = run(recording, tiny("dcgd", iterations=10**6, seconds=5.0), generator, spent=10.0)
    assert found.iterations == 1


def test_ctrl_c_ends_it_with_what_is_there(recording, generator):
    told = []

    def progress(done, total, data):
        told.append((done, total, data))
        if done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    found, _, field = run(recording, tiny("spinn", iterations=50), generator, progress=progress)
    assert found.stopped == INTERRUPTED
    assert found.iterations == 3
    assert [(done, total) for done, total, _ in told] == [(1, 50), (2, 50), (3, 50)]
    assert told[0][2] == found.columns()["data"][0]
    assert torch.isfinite(field()).all()


def test_the_diffusivity_waits_while_it_is_held(recording):
    for share, moves in ((0.9, False), (0.0, True)):
        generator = torch.Generator().manual_seed(1)
        _, _, field = run(recording, tiny("dcgd", iterations=1, rates__hold=share), generator)
        generator = torch.Generator().manual_seed(1)
        settings = tiny("dcgd", iterations=1)
        build_temperature(settings, build_problem(recording, 4, 0.1), generator)
        fresh = NeuralField(
            field.grid, depth=2, width=8, bands=2, skip=None, horizon=0, start=0.1, spread=0.1, generator=generator
        )
        assert (not torch.equal(values(field), values(fresh))) == moves


def test_learning_rates_are_separate_and_fall(recording):
    """Adam's first step is its rate, whatever the gradient."""

    def moved(**changes):
        states = []
        for iterations in (1, 2):
            generator = torch.Generator().manual_seed(1)
            _, temperature, field = run(recording, tiny("spinn", iterations=iterations, **changes), generator)
            states.append((values(temperature), values(field)))
        return [float((after - before).abs().max()) for before, after in zip(*states, strict=True)]

    temperature, field = moved(rates__temperature=1e-3, rates__diffusivity=1e-5)
    assert temperature == pytest.approx(1e-3, rel=0.5)
    assert field == pytest.approx(1e-5, rel=0.5)
    assert moved(rates__temperature=1e-3, rates__final=1e-4)[0] < 0.05 * temperature


def test_bands_open_over_the_run(recording, generator):
    _, _, field = run(recording, tiny("dcgd", iterations=5, diffusivity__opening=1.0), generator)
    assert float(field.encoding.beta) == pytest.approx(2 * 4 / 5)
    _, _, field = run(
        recording, tiny("dcgd", iterations=5, diffusivity__opening=0.5, rates__hold=0.6), generator
    )  # once it learns
    assert float(field.encoding.beta) == pytest.approx(2 * 0.2 / 0.5)


def test_a_cone_is_that_of_what_learns(recording):
    """While the diffusivity is held, DCGD's step is that of the temperature's parameters alone."""
    settings = tiny("dcgd", iterations=1, rates__hold=0.9)
    generator = torch.Generator().manual_seed(1)
    problem = build_problem(recording, 4, 0.1)
    temperature = build_temperature(settings, problem, generator)
    field = NeuralField(problem.grid, depth=2, width=8, bands=2, skip=None, horizon=0, generator=generator)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dcgd, "dual_cone_step", lambda one, two, rule: seen.append(len(one)) or one + two)
        train(problem, temperature, field, settings, generator=generator)
    assert seen == [sum(p.numel() for p in temperature.parameters())]
    assert all(p.grad is None for p in field.parameters())


def test_losses_that_are_not_finite_stop_it(recording, generator):
    with pytest.raises(NeftyError, match=r"rates\.temperature"):
        run(recording, tiny("spinn", iterations=50, rates__temperature=1e30), generator)
