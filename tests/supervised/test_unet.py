"""The U-Net: its size, and that it sees the part as the part is."""

import pytest
import torch

from nefty.supervised.unet import UNet


def test_it_has_the_levels_of_the_paper():
    levels = (32, 64, 128, 256)
    pairs = [(2, 32), (32, 64), (64, 128), (128, 256), (64 + 32, 32), (128 + 64, 64), (256 + 128, 128)]
    expected = sum(27 * (a * b + b * b) + 4 * b for a, b in pairs) + 33
    assert sum(p.numel() for p in UNet(2, levels).parameters()) == expected


@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
def test_shape_and_gradient(lateral):
    net = UNet(1, (8, 16), lateral)
    given = torch.randn(2, 1, 4, 8, 12, requires_grad=True)
    out = net(given)
    assert out.shape == (2, 1, 4, 8, 12)
    out.square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in net.parameters())


def test_a_periodic_part_may_begin_anywhere():
    """Moving it by what the deepest level resolves moves the answer; with adiabatic sides it is another part."""
    torch.manual_seed(0)
    given = torch.randn(1, 2, 4, 16, 16)
    moved = given.roll((8, 4), dims=(-2, -1))
    for lateral, same in (("periodic", True), ("adiabatic", False)):
        net = UNet(2, (8, 8, 8), lateral).eval()
        with torch.no_grad():
            gap = (net(moved) - net(given).roll((8, 4), dims=(-2, -1))).abs().max()
        assert (gap < 1e-4) == same
