"""Swin-UNETR (Hatamizadeh 2022) from MONAI, on volumes whose edges need not divide by 32."""

from __future__ import annotations

import importlib.util
import math
import warnings
from functools import partial

from torch import Tensor, nn

from nefty.core.errors import MissingExtraError

DIVISOR = 32  # of every edge, as the five halvings of the network need
EXTRA = "supervised"


class SwinUNETR(nn.Module):
    """MONAI's network between two interpolations: (batch, channels, z, y, x) to (batch, 1, z, y, x).

    Edges are enlarged linearly to the next multiple of 32 (the paper's 16 layers to 32) and the output is brought back.

    Args:
        channels: of the input.
        features: of the first level; a multiple of 12. 24 make 15.7 million unknowns.
    """

    def __init__(self, channels: int = 2, features: int = 24) -> None:
        super().__init__()
        for package in ("monai", "einops"):
            if importlib.util.find_spec(package) is None:
                raise MissingExtraError(
                    f"Swin-UNETR needs {package}, which is not installed: pip install nefty[{EXTRA}]"
                )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of MONAI's own imports
            from monai.networks.nets.swin_unetr import SwinUNETR as Theirs

        self.network = Theirs(in_channels=channels, out_channels=1, feature_size=features, spatial_dims=3)
        for module in self.network.modules():
            if isinstance(module, nn.Conv3d) and any(module.padding):
                _pad_outside(module)

    def forward(self, x: Tensor) -> Tensor:
        """What the head turns into a diffusivity."""
        shape = x.shape[2:]
        whole = tuple(DIVISOR * math.ceil(n / DIVISOR) for n in shape)
        if whole != tuple(shape):
            x = nn.functional.interpolate(x, size=whole, mode="trilinear", align_corners=False)
        y = self.network(x)
        return y if whole == tuple(shape) else nn.functional.interpolate(y, size=shape, mode="trilinear")


def _pad_outside(convolution: nn.Conv3d) -> None:
    """Let it see a volume with its zeros around it, instead of adding them itself; the result is the same.

    In bfloat16 on a CPU (torch 2.13), the derivative for the weights of a convolution that pads a volume of two layers
    itself is partly memory that nobody has written: a training may go on for long until it is infinite.
    """
    z, y, x = (int(n) for n in convolution.padding)
    convolution.padding = (0, 0, 0)
    convolution.register_forward_pre_hook(partial(_with_zeros, (x, x, y, y, z, z)))


def _with_zeros(around: tuple[int, ...], _: nn.Module, given: tuple[Tensor]) -> Tensor:
    return nn.functional.pad(given[0], around)
