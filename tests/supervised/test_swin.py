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


def test_derivatives_in_bfloat16_do_not_hold_what_was_in_memory():
    torch.manual_seed(0)
    net = SwinUNETR(2, features=12)
    given = torch.randn(1, 2, 32, 32, 64)

    def derivatives(left_in_memory):
        freed = [torch.full((n,), left_in_memory) for n in (10**4, 10**5, 10**6, 10**7)]
        del freed
        net.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = net(given).float().square().mean()
        loss.backward()
        return [p.grad.clone() for p in net.parameters() if p.grad is not None]

    for one, other in zip(derivatives(torch.nan), derivatives(0.0), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3 * float(other.abs().max()))


def test_zeros_are_padded_as_by_the_original():
    torch.manual_seed(0)
    conv = torch.nn.Conv3d(2, 3, (1, 3, 5), padding=(0, 1, 2))
    given = torch.randn(1, 2, 4, 6, 7)
    with torch.no_grad():
        before = conv(given)
        _pad_outside(conv)
        torch.testing.assert_close(conv(given), before)
