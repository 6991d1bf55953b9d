"""Decays over an adiabatic back face at depth 1, beside a half space, as a recording of one row."""

from __future__ import annotations

import numpy as np

from nefty.data.sequence import Sequence
from nefty.physics.slab.reference_decay import reference_decay

PIXELS = 24
SOUND = np.repeat([[False, True]], PIXELS, axis=1).reshape(1, -1)


def slab_beside_half_space(frames: int, end: float, noise: float = 0.0, seed: int = 0) -> Sequence:
    """``PIXELS`` pixels over L = 1 and as many over a half space, alpha = 1, until Fo = ``end``; plateau 1."""
    times = end / frames * np.arange(1, frames + 1)
    pair = np.stack([reference_decay(times, 1.0, 1.0), reference_decay(times, 1.0)], axis=1)
    rows = np.repeat(pair, PIXELS, axis=1)[:, None, :]
    rows = rows + noise * np.random.default_rng(seed).standard_normal(rows.shape)
    return Sequence(frames=rows, times=times)


def over_slab(values: np.ndarray) -> np.ndarray:
    """The pixels over the slab."""
    return values[..., ~SOUND[0]][0]


def over_half_space(values: np.ndarray) -> np.ndarray:
    """The others."""
    return values[..., SOUND[0]][0]
