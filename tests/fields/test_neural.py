"""The neural field: its size, its skip, its start, its schedule, and the same answer at any resolution."""

import math
from typing import cast

import numpy as np
import pytest
import torch
from torch import nn

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.fields import neural
from nefty.fields.heads import PAPER_HEAD, LogBox, LogHead, SoftplusHead
from nefty.fields.neural import NeuralField

GRID = Grid((3, 4, 5), (1.0, 4.0, 10.0))


def small(seed: int = 0, **options) -> NeuralField:
    settings = {"depth": 4, "width": 8, "bands": 3, "skip": 2, "horizon": 0, "dtype": torch.float64, **options}
    return NeuralField(GRID, generator=torch.Generator().manual_seed(seed), **settings)


def all_points(grid: Grid) -> np.ndarray:
    return np.stack([c.ravel() for c in np.broadcast_arrays(*grid.centres())], axis=1)


def test_the_papers_field_has_2438657_unknowns():
    field = NeuralField(Grid((2, 2, 2), (1, 10, 10)))
    assert field.unknowns == 2_438_657
    assert [layer.in_features for layer in field.hidden] == [72, 512, 512, 512, 584, 512, 512, 512, 512, 512]
    assert all(layer.out_features == 512 for layer in field.hidden)
    assert field.output.out_features == 1


@pytest.mark.parametrize("activation", ["relu", "sine", "silu", "tanh"])
def test_the_network_is_this_formula(activation):
    field = small(activation=activation)
    point = np.array([0.2, 3.1, 7.7])
    u = 2 * point / GRID.size - 1
    gamma = np.concatenate([f(2**k * np.pi * u) for k in range(3) for f in (np.sin, np.cos)])
    act = {
        "relu": lambda v: np.maximum(v, 0),
        "sine": np.sin,
        "silu": lambda v: v / (1 + np.exp(-v)),
        "tanh": np.tanh,
    }[activation]
    w = [cast(nn.Linear, layer).weight.detach().numpy() for layer in field.hidden]
    h = act(w[1] @ act(w[0] @ gamma))
    h = act(w[2] @ np.concatenate([h, gamma]))
    f = (field.output.weight.detach().numpy() @ act(w[3] @ h)).item()
    assert field.at(point[None]).item() == pytest.approx(0.003 + 0.247 / (1 + math.exp(-f)), rel=1e-12)


def test_the_skip_brings_the_coordinates_past_the_layers_before_it():
    for skip, varies in ((2, True), (None, False)):
        field = small(skip=skip)
        nn.init.zeros_(cast(nn.Linear, field.hidden[1]).weight)
        assert (float(field().detach().std()) > 1e-6) is varies


def test_weights_are_xavier_uniform_and_biases_zero():
    field = NeuralField(GRID, width=256, depth=3, skip=None)
    weight = cast(nn.Linear, field.hidden[1]).weight.detach()
    limit = math.sqrt(6 / 512)
    assert 0.99 * limit < float(weight.abs().max()) <= limit
    assert float(weight.std()) == pytest.approx(limit / math.sqrt(3), rel=0.02)
    assert not any(p.any() for name, p in field.named_parameters() if name.endswith("bias"))


def test_the_generator_decides_the_weights_and_nothing_else_is_drawn_from():
    before = torch.random.get_rng_state()
    a, b, c = small(1)(), small(1)(), small(2)()
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("background", [None, [0.1, 0.2, 0.15]])
def test_any_resolution_is_the_same_field(background):
    field = small(background=background, head=LogHead(0.02, 1.5), spread=1.0)
    assert np.allclose(field.at(all_points(GRID)).detach().view(GRID.shape), field().detach(), rtol=1e-13)
    fine = field(GRID.refined(3)).detach()
    assert fine.shape == (9, 12, 15)
    assert np.allclose(
        fine[1::3, 1::3, 1::3], field().detach(), rtol=1e-12
    )  # every third fine cell has a coarse centre
    millimetres = field.at(all_points(GRID) * 25.4, size=tuple(25.4 * s for s in GRID.size))
    assert np.allclose(millimetres.detach().view(GRID.shape), field().detach(), rtol=1e-12)


@pytest.mark.parametrize("options", [{"horizon": 40}, {"bands": 0}, {"wrap": (False, True, False)}, {"skip": None}])
def test_the_tables_of_the_axes_say_what_the_points_do(options):
    field = small(**options)
    field.anneal(17)
    assert np.allclose(field.at(all_points(GRID)).detach().view(GRID.shape), field().detach(), rtol=1e-13)


def test_chunks_change_nothing(monkeypatch):
    whole = small()().detach()
    monkeypatch.setattr(neural, "CHUNK", 7)
    assert np.allclose(small()().detach(), whole, rtol=1e-14)


def test_lateral_sides_meet():
    field = small()
    sides = field.at([[0.3, 0.0, 2.0], [0.3, 4.0, 2.0], [0.3, 1.0, 0.0], [0.3, 1.0, 10.0]]).detach()
    assert sides[0] == pytest.approx(sides[1])
    assert sides[2] == pytest.approx(sides[3])
    assert sides[0] != pytest.approx(sides[2])


def test_front_and_back_meet_unless_told_apart():
    faces = [[0.0, 1.0, 2.0], [1.0, 1.0, 2.0]]
    tied, apart = small().at(faces).detach(), small(wrap=(False, True, True)).at(faces).detach()
    assert tied[0] == pytest.approx(tied[1])
    assert apart[0] != pytest.approx(apart[1])


def test_it_is_differentiable_in_the_point():
    field, points = small(activation="tanh"), torch.rand(3, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(field.at, (points,))


def test_annealing_opens_the_bands_linearly_over_the_horizon():
    field = small(horizon=200)
    assert float(field.encoding.beta) == 0
    assert float(field().detach().std()) == 0
    assert float(field().detach().mean()) == pytest.approx(0.1265)  # the middle of the bracket
    for step, beta in ((50, 0.75), (100, 1.5), (200, 3), (5000, 3)):
        field.anneal(step)
        assert float(field.encoding.beta) == beta
    assert torch.equal(field(), small()())


def test_without_a_horizon_all_bands_stay_open():
    field = small(horizon=0)
    field.anneal(0)
    assert float(field.encoding.beta) == 3


def test_the_base_of_the_ablation_sees_bare_coordinates():
    field = small(bands=0, horizon=10, head=SoftplusHead())
    field.anneal(5)
    assert [layer.in_features for layer in field.hidden] == [3, 8, 11, 8]
    assert float(field().detach().std()) > 0


@pytest.mark.parametrize("head", [PAPER_HEAD, LogHead(), SoftplusHead()], ids=repr)
def test_it_starts_from_a_constant_and_can_leave_it(head):
    field = small(head=head, start=0.17)
    assert np.allclose(field().detach(), 0.17, rtol=1e-12)
    field().sum().backward()
    assert float(field.output.weight.grad.abs().max()) > 0  # pyright: ignore[reportOptionalMemberAccess]
    near = small(head=head, start=0.17, spread=1e-3)().detach()
    assert 0 < float((near - 0.17).abs().max()) < 2e-3


def test_a_background_is_where_it_starts_and_what_it_multiplies():
    profile = [0.1, 0.2, 0.15]
    field = small(head=LogHead(0.02, 1.3), background=profile)
    assert np.allclose(field().detach(), np.broadcast_to(np.reshape(profile, (3, 1, 1)), GRID.shape), rtol=1e-12)
    half = small(head=LogHead(0.02, 1.3), background=profile, start=0.5)
    assert np.allclose(half.at([[0.32, 1, 1], [0.34, 1, 1], [1.0, 1, 1]]).detach(), [0.05, 0.1, 0.075])


def test_a_saved_state_gives_the_same_field_back():
    field = small(1, horizon=100, background=[0.1, 0.2, 0.15], head=LogHead(0.02, 1.3), spread=0.5)
    field.anneal(37)
    state = field.state_dict()
    assert not any("along" in name for name in state)
    other = small(2, horizon=100, background=[1.0, 1.0, 1.0], head=LogHead(0.02, 1.3))
    other.load_state_dict(state)
    assert torch.equal(other(), field())


def test_it_learns_a_volume():
    target = torch.full(GRID.shape, 0.15)
    target[1, 1:3, 2:4] = 0.01
    field = NeuralField(
        GRID, LogHead(), depth=3, width=32, bands=3, skip=None, horizon=20, start=0.15, generator=torch.manual_seed(0)
    )
    optimiser = torch.optim.Adam(field.parameters(), lr=1e-2)
    for step in range(150):
        field.anneal(step)
        optimiser.zero_grad()
        loss = (field().log() - target.log()).square().mean()
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < 1e-3  # pyright: ignore[reportPossiblyUnboundVariable]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: small(skip=4), "skip=4 must be a layer from 1 to 3 of the 4"),
        (lambda: small(skip=0), "skip=0 must be a whole number of at least 1"),
        (lambda: small(depth=0), "depth=0"),
        (lambda: small(activation="rleu"), "activation='rleu' is unknown.*Did you mean 'relu'"),
        (lambda: small(start=0.3), "alpha=0.3 must lie between 0.003 and 0.25"),
        (lambda: small(head=LogBox()), "LogBox.*kept in a box.*use SigmoidHead or LogHead"),
        (lambda: small(background=[0.1, 0.2]), r"background has shape \(2,\)"),
        (lambda: small().anneal(-1), "step=-1"),
        (lambda: small()(Grid((3, 4, 5), (2.0, 4.0, 10.0))), r"size \(2.0, 4.0, 10.0\) is not the field's"),
        (lambda: small().at([0.1, 0.2, 0.3]), r"points have shape \(3,\); give \(n, 3\)"),
        (lambda: small().at([[0.1, math.nan, 0.3]]), "points hold NaN"),
        (lambda: small().at([[0.1, 0.2, 0.3]], size=(1, 1)), "grid size=.*three entries"),
    ],
)
def test_bad_fields_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_products_of_fewer_bits_stay_near_and_keep_the_unknowns_as_they_are():
    """bfloat16 rounds by 2^-9 = 0.2 % in each layer."""
    grid = Grid((4, 6, 8), (1.0, 2.0, 2.0))
    made = {}
    for products in ("float32", "bfloat16"):
        generator = torch.Generator().manual_seed(0)
        field = NeuralField(grid, depth=3, width=32, bands=4, skip=1, products=products, generator=generator)
        field.anneal(2500)
        alpha = field()
        alpha.sum().backward()
        gradient = torch.cat([p.grad.flatten() for p in field.parameters() if p.grad is not None])
        assert all(p.dtype == torch.float32 and p.grad is not None for p in field.parameters())
        made[products] = alpha.detach(), gradient
    for exact, rounded in zip(made["float32"], made["bfloat16"], strict=True):
        assert rounded.dtype == torch.float32
        assert 0 < float((rounded - exact).norm() / exact.norm()) < 0.03


def test_an_unknown_precision_of_products_is_refused():
    with pytest.raises(InputError, match="products"):
        NeuralField(Grid((4, 6, 8), (1.0, 2.0, 2.0)), products="float16")
