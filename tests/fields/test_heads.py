"""Heads: values by hand, inverses, bounds and derivatives."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.fields.heads import (
    FREE,
    PAPER_HEAD,
    LinearBox,
    LogBox,
    LogHead,
    ReluHead,
    SigmoidHead,
    SoftplusHead,
    background_profile,
)

ALL = (SigmoidHead(), LogHead(), SoftplusHead(), ReluHead(), LinearBox(), LogBox())


def number_of(head, value: float) -> float:
    return float(head(torch.tensor(value, dtype=torch.float64)))


@pytest.mark.parametrize(
    ("head", "value", "alpha"),
    [
        (PAPER_HEAD, 0.0, 0.1265),
        (PAPER_HEAD, math.log(3), 0.003 + 0.75 * 0.247),
        (LogHead(0.01, 1.0), 0.0, 0.1),
        (LogHead(0.01, 1.0), math.log(3), 10**-0.5),  # 0.01 * 100^0.75
        (SoftplusHead(0.5), 0.0, 0.5 + math.log(2)),
        (ReluHead(0.5), -3.0, 0.5),
        (ReluHead(0.5), 0.25, 0.75),
        (LinearBox(), 0.2, 0.2),
        (LogBox(), math.log(0.2), 0.2),
        (LogBox(), 1.0, math.e),  # not clamped
    ],
)
def test_values_by_hand(head, value, alpha):
    assert number_of(head, value) == pytest.approx(alpha, rel=1e-14)


@pytest.mark.parametrize("head", ALL, ids=repr)
@given(alpha=st.floats(0.0031, 0.2499))
def test_the_inverse_of_a_diffusivity_gives_it_back(head, alpha):
    assert number_of(head, float(head.inverse(alpha))) == pytest.approx(alpha, rel=1e-10)


@pytest.mark.parametrize("head", [SigmoidHead(), LogHead()], ids=repr)
@given(value=st.floats(-1e6, 1e6))
def test_brackets_hold_whatever_the_network_says(head, value):
    alpha = head(torch.tensor(value))
    assert 0.003 * (1 - 1e-6) <= float(alpha) <= 0.25 * (1 + 1e-6)


@pytest.mark.parametrize("head", ALL, ids=repr)
def test_heads_increase_and_have_their_derivative(head):
    value = torch.linspace(-3, 3, 20, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(head, (value,))
    assert (head(value).diff() >= 0).all()


@pytest.mark.parametrize("head", ALL, ids=repr)
def test_the_inverse_keeps_shape_and_dtype_of_tensors(head):
    inverse = head.inverse(torch.full((2, 3), 0.1))
    assert inverse.dtype == torch.float32
    assert inverse.shape == (2, 3)
    assert head.inverse(np.full((2, 3), 0.1, dtype=np.float32)).dtype == torch.float64


def test_only_boxes_bound_the_unknown():
    assert LinearBox(0.01, 0.3).box == (0.01, 0.3)
    assert LogBox(0.01, 0.3).box == (math.log(0.01), math.log(0.3))
    assert all(head.box == FREE for head in ALL[:4])
    assert float(LogBox(0.01, 0.3).inverse(0.3)) == math.log(0.3)


def test_equal_heads_are_equal():
    assert SigmoidHead() == PAPER_HEAD
    assert SigmoidHead(0.01, 0.2) != PAPER_HEAD


def test_a_background_has_one_value_per_depth():
    grid = Grid((3, 2, 2), (1, 1, 1))
    given = np.array([0.1, 0.2, 0.3])
    profile = background_profile(given, grid)
    assert profile is not None
    given[0] = 7
    assert profile.tolist() == [0.1, 0.2, 0.3]
    assert background_profile(None, grid) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SigmoidHead(0, 1), "lowest diffusivity=0 must be above 0"),
        (lambda: LogHead(0.2, 0.1), "highest diffusivity=0.1 must be above the lowest, 0.2"),
        (lambda: LogBox(0.2, math.nan), "highest diffusivity=nan"),
        (lambda: SoftplusHead(0), "floor of the head=0 must be above 0"),
        (lambda: PAPER_HEAD.inverse(0.25), "alpha=0.25 must lie between 0.003 and 0.25 and not at either end"),
        (lambda: LogHead().inverse([0.1, 0.001]), "alpha=0.001 must lie between"),
        (lambda: ReluHead(0.1).inverse(0.05), "alpha=0.05 must lie above 0.1"),
        (lambda: LogBox().inverse(0.26), "alpha=0.26 must lie between 0.003 and 0.25; clip"),
        (lambda: LogBox().inverse(math.nan), "alpha=nan"),
        (lambda: background_profile([0.1, 0.2], Grid((3, 2, 2), (1, 1, 1))), r"\(2,\).*3 cells along z"),
        (lambda: background_profile([0.1, 0.0, 1], Grid((3, 2, 2), (1, 1, 1))), "background=0 must lie above 0"),
    ],
)
def test_bad_heads_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
