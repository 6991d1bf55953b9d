"""Padding against torch's own, value and derivative."""

import pytest
import torch
from torch.nn import functional

from nefty.supervised.lateral_padding import padded


@pytest.mark.parametrize(("lateral", "theirs"), [("periodic", "circular"), ("adiabatic", "replicate")])
@pytest.mark.parametrize("face", [(4, 5), (2, 3), (1, 1), (1, 4)])
@pytest.mark.parametrize("depth", [False, True])
def test_it_is_torchs_padding_and_its_derivative(lateral, theirs, face, depth):
    torch.manual_seed(0)
    x = torch.randn(2, 3, 2, *face, dtype=torch.float64, requires_grad=True)
    expected = functional.pad(x, (1, 1, 1, 1, 0, 0), mode=theirs)
    if depth:
        expected = functional.pad(expected, (0, 0, 0, 0, 1, 1))
    weights = torch.randn_like(expected)
    (wanted,) = torch.autograd.grad((expected * weights).sum(), x)
    found = padded(x, lateral, depth=depth)
    (gradient,) = torch.autograd.grad((found * weights).sum(), x)
    assert torch.equal(found, expected)
    torch.testing.assert_close(gradient, wanted, rtol=1e-14, atol=1e-14)
