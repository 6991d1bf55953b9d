"""The recipe "paper" is the paper's table of hyperparameters (appendix D), to the letter, and runs."""

import numpy as np
import pytest
import torch
from torch.nn.utils import parameters_to_vector

from nefty import Boundary, GaussianFlash, Grid, HeatModel, ImplicitEuler, Jacobi, NeuralField, Sequence, reconstruct
from nefty.fields.heads import SigmoidHead
from nefty.inversion.adam import Adam
from nefty.inversion.build import build_field, build_model, build_optimiser
from nefty.inversion.penalties import TotalVariation
from nefty.inversion.recipe import load_recipe
from nefty.synth.setup import PAPER_FLASH, PAPER_TIMES
from nefty.synth.specimen import PAPER_GRID

PAPER = load_recipe("paper")
TV = next(p for p in PAPER.penalties.terms() if isinstance(p, TotalVariation))
SMALL = {"model.layers": 6, "field.depth": 3, "field.width": 32, "field.bands": 4, "field.skip": 1}


@pytest.mark.parametrize(
    ("what", "given", "value"),
    [
        ("MLP depth", PAPER.field.depth, 10),
        ("MLP hidden width", PAPER.field.width, 512),
        ("encoding bandwidth N", PAPER.field.bands, 12),
        ("skip-connection layer", PAPER.field.skip, 4),
        ("output activation", PAPER.field.head, "sigmoid"),
        ("hidden activation", PAPER.field.activation, "relu"),
        ("domain size", PAPER_GRID.size, (1.0, 10.0, 10.0)),
        ("grid resolution", PAPER_GRID.shape, (16, 64, 64)),
        ("layers of the model", PAPER.model.layers, 16),
        ("lateral spacing, to the digits printed", round(PAPER_GRID.spacing[2], 3), 0.156),
        ("through-thickness spacing", PAPER_GRID.spacing[0], 0.0625),
        ("time step", PAPER_TIMES[0], 0.05),
        ("number of frames", len(PAPER_TIMES), 100),
        ("time integrator", PAPER.model.integrator, "implicit-euler"),
        ("Jacobi iterations K", PAPER.model.sweeps, 50),
        ("alpha_min", PAPER.field.low, 0.003),
        ("alpha_max", PAPER.field.high, 0.25),
        ("stages", len(PAPER.stages), 1),
        ("optimizer", PAPER.stages[0].optimiser, "adam"),
        ("learning rate", PAPER.stages[0].learning_rate, 5e-5),
        ("step decay gamma", PAPER.stages[0].decay, 0.1),
        ("steps between decays", PAPER.stages[0].decay_every, 1000),
        ("total iterations", PAPER.stages[0].iterations, 10_000),
        ("frequency-annealing horizon", PAPER.field.horizon, 2500),
        ("TV weight lambda", PAPER.weight.tv, 1e-3),
        ("TV smoothing epsilon", TV.smoothing, 1e-6),
        ("what is regularised", TV.on, "alpha"),
        ("misfit", PAPER.weight.units, "raw"),
        ("the back face", TV.back, "free"),
        ("weight by depth", TV.depth_gain, 0.0),
        ("background", PAPER.calibration.background, "none"),
        ("relative to a background", PAPER.field.relative, False),
        ("double well", PAPER.stages[0].weights.of("voids"), 0.0),
    ],
)
def test_the_table_to_the_letter(what, given, value):
    assert given == value, what


@pytest.fixture(scope="module")
def sequence() -> Sequence:
    frames = np.ones((100, 64, 64))
    return Sequence(frames, np.array(PAPER_TIMES), size=PAPER_GRID.size, excitation=PAPER_FLASH)


def test_the_model_is_the_papers(sequence):
    model = build_model(sequence, PAPER)
    assert model.grid == PAPER_GRID
    assert isinstance(model.integrator, ImplicitEuler)
    assert model.integrator.solver == Jacobi(50)
    assert model.face_mean == "harmonic"
    assert model.boundary == Boundary("periodic", "adiabatic", "adiabatic")
    np.testing.assert_allclose(model.times, 0.05 * np.arange(1, 101))


def test_the_field_is_the_papers(sequence):
    field = build_field(PAPER, build_model(sequence, PAPER), None, None)
    assert isinstance(field, NeuralField)
    assert field.unknowns == 2_438_657
    assert field.head == SigmoidHead(0.003, 0.25)
    assert field.background is None
    optimiser = build_optimiser(PAPER.stages[0], PAPER, field, torch.zeros(3))
    assert isinstance(optimiser, Adam)
    assert (optimiser.low, optimiser.high) == (None, None)


def test_the_seed_decides_the_weights():
    model = HeatModel(Grid((4, 4, 4), (1.0, 2.0, 2.0)), [1.0], GaussianFlash())
    fields = (build_field(load_recipe("paper", {**SMALL, "seed": seed}), model, None, None) for seed in (1, 1, 2))
    one, same, other = (parameters_to_vector(field.parameters()).detach() for field in fields)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_twenty_iterations_lower_the_loss(recording):
    """A small network, with a rate for it; everything else is the paper's."""
    overrides = {**SMALL, "stages.0.iterations": 20, "stages.0.learning_rate": 1e-2, "field.horizon": 10}
    found = reconstruct(recording, recipe="paper", overrides=overrides)
    loss = found.history["objective"]
    assert len(loss) == 20
    assert np.isfinite(loss).all()
    assert loss[-1] < 0.5 * loss[0]
    assert (np.diff(loss) < 0).mean() > 0.7
    assert (found.alpha >= 0.003).all()
    assert (found.alpha <= 0.25).all()
    assert found.effort.unknowns == 25 * 32 + 57 * 32 + 33 * 32 + 33


def test_the_loss_is_the_plain_sum_of_squares_and_the_variation(recording):
    found = reconstruct(recording, recipe="paper", overrides={**SMALL, "stages.0.iterations": 1})
    history = found.history
    data = history["objective"][0] - 1e-3 * history["tv"][0]
    assert found.noise is not None
    assert data == pytest.approx(history["misfit"][0] * found.noise**2 * found.measured.size, rel=1e-9)
