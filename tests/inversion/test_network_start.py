"""A network that is fitted to a volume before it sees a frame."""

import numpy as np
import pytest
import torch

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.fields.heads import LogHead, SigmoidHead, SoftplusHead
from nefty.fields.neural import NeuralField
from nefty.inversion.network_start import fit_network

GRID = Grid((6, 16, 16), (1.0, 6.0, 6.0))


def network(head, **options) -> NeuralField:
    settings = {"depth": 3, "width": 24, "bands": 4, "skip": None, "activation": "silu", "horizon": 0, **options}
    generator = torch.Generator().manual_seed(0)
    return NeuralField(GRID, head, spread=0.1, start=0.9 * head.high, generator=generator, **settings)


def with_void(sound: float, void: float) -> np.ndarray:
    volume = np.full(GRID.shape, sound)
    volume[2:4, 6:10, 5:10] = void
    return volume


@pytest.mark.parametrize("head", [LogHead(0.02, 1.05), SigmoidHead(0.02, 1.05)], ids=["log", "sigmoid"])
def test_it_returns_the_volume_and_its_ends_where_the_volume_lies_beyond(head):
    field, volume = network(head), with_void(1.0, 1e-6)
    fit_network(field, volume, 80)
    found = field().detach().numpy()
    assert np.array_equal(found < 0.3, volume < 0.3)
    assert np.median(found[volume < 0.3]) < 0.06
    assert np.abs(found - 1)[volume > 0.3].mean() < 0.02


def test_more_steps_come_nearer_and_the_same_steps_come_to_the_same():
    volume, found = with_void(1.0, 0.05), {}
    for steps in (5, 40, 40):
        field = network(LogHead(0.02, 1.05))
        fit_network(field, volume, steps)
        again = field().detach().numpy()
        assert np.array_equal(found.setdefault(steps, again), again)
    errors = [np.abs(np.log(found[steps] / volume)).mean() for steps in (5, 40)]
    assert errors[1] < errors[0] / 3


def test_a_head_without_ends_is_refused():
    head = SoftplusHead()
    field = NeuralField(GRID, head, depth=2, width=4, bands=2, skip=None, horizon=0, start=0.1)
    with pytest.raises(InputError, match="cannot begin with a volume"):
        fit_network(field, with_void(0.1, 0.01), 3)
