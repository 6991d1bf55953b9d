"""Swin-UNETR from MONAI."""

import importlib.util

import pytest
import torch

from nefty.core.errors import MissingExtraError
from nefty.supervised.swin import SwinUNETR


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
