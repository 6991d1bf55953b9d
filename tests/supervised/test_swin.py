"""Swin-UNETR from MONAI."""

import importlib.util

import pytest
import torch

from nefty.core.errors import MissingExtraError
from nefty.supervised.swin import SwinUNETR, _pad_outside


def test_edges_that_do_not_divide_are_enlarged_and_brought_back():
    torch.manual_seed(0)
    net = SwinUNETR(2, features=12).eval()
    with torch.no_grad():
        assert net(torch.randn(1, 2, 16, 32, 40)).shape == (1, 1, 16, 32, 40)


def test_it_has_the_unknowns_of_the_paper():
    assert sum(p.numel() for p in SwinUNETR(1, features=24).parameters()) == pytest.approx(15.7e6, rel=5e-3)


def test_without_its_library_the_extra_is_named(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "monai" else found(name))
    with pytest.raises(MissingExtraError, match=r"pip install nefty\[supervised\]"):
        SwinUNETR()


def test_derivatives_in_bfloat16_are_those_of_float32():
    """Of each convolution on a volume of two layers, where torch's own padding gives what was in memory before."""
    torch.manual_seed(0)
    for name, conv in SwinUNETR(2, features=12).named_modules():
        if not isinstance(conv, torch.nn.Conv3d) or conv.kernel_size != (3, 3, 3):
            continue
        given, found = torch.randn(2, conv.in_channels, 2, 4, 4), []
        for narrow in (False, True):
            freed = [torch.full((n,), torch.nan) for n in (10**3, 10**4, 10**5, 10**6)]
            del freed
            conv.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=narrow):
                out = conv(given)
            out.float().square().sum().backward()
            assert conv.weight.grad is not None
            found.append(conv.weight.grad.clone())
        assert (found[1] - found[0]).abs().max() < 0.05 * found[0].abs().max(), name  # bfloat16 has 8 bits


def test_zeros_are_padded_as_by_the_original():
    torch.manual_seed(0)
    conv = torch.nn.Conv3d(2, 3, (1, 3, 5), padding=(0, 1, 2))
    given = torch.randn(1, 2, 4, 6, 7)
    with torch.no_grad():
        before = conv(given)
        _pad_outside(conv)
        torch.testing.assert_close(conv(given), before)
