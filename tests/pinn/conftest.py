"""Small problems that all tests of the PINNs share."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nefty.data.sequence import Sequence
from nefty.physics.pulses import GaussianFlash


@pytest.fixture
def recording() -> Sequence:
    """Six frames of a part whose surface cools smoothly."""
    times = np.linspace(0.5, 3.0, 6)
    y, x = np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 10), indexing="ij")
    frames = 50 * np.exp(-(y**2) - x**2)[None] / np.sqrt(times)[:, None, None]
    return Sequence(
        frames=frames,
        times=times,
        size=(1.0, 4.0, 5.0),
        excitation=GaussianFlash(amplitude=100.0, width=1.5, depth=0.2),
        truth=np.full((4, 8, 10), 0.1),
    )


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(3)
