"""A slab with a defect, small enough to invert in a second."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nefty import GaussianFlash, Grid, Sequence, simulate_explicit
from nefty.inversion.observation import Observation

SLAB = Grid((6, 16, 16), (1.0, 6.0, 6.0))
TIMES = 0.25 * np.arange(1, 21)
FLASH = GaussianFlash(100.0, 3.0, 0.2)
BULK = 0.15

QUICK: dict[str, Any] = {
    "name": "quick",
    "model": {"layers": 6},
    "calibration": {"background": "layered", "start": 0.12, "strata": 3},
    "field": {
        "kind": "voxel",
        "relative": True,
        "head": "log-box",
        "low": 0.02,
        "high": 1.05,
        "scaling": "sensitivity",
    },
    "penalties": {"tv": {"on": "log-ratio", "smoothing": 0.1, "back": "sound"}},
    "stages": [
        {"name": "where", "iterations": 6},
        {"name": "shape", "iterations": 6, "weights": {"voids": 5.0}, "refine_background": 1},
    ],
}


def slab_with_defect() -> np.ndarray:
    alpha = np.full(SLAB.shape, BULK)
    alpha[2:4, 6:10, 5:10] = 0.01
    return alpha


@pytest.fixture(scope="session")
def truth() -> np.ndarray:
    return slab_with_defect()


@pytest.fixture(scope="session")
def recording(truth: np.ndarray) -> Sequence:
    """Of the slab with a defect, without noise, by the independent simulator."""
    frames = simulate_explicit(SLAB, truth, TIMES, FLASH, safety=16)
    return Sequence(frames, TIMES, size=SLAB.size, excitation=FLASH, truth=truth)


@pytest.fixture(scope="session")
def noisy(recording: Sequence) -> Sequence:
    """The same with noise of 0.2."""
    noise = 0.2 * np.random.default_rng(5).standard_normal(recording.frames.shape)
    return dataclasses.replace(recording, frames=recording.frames + noise)


@pytest.fixture
def seen() -> Callable[..., Observation]:
    """What an inversion sees of frames that all count, unless told otherwise."""

    def make(frames: Any, grid: Grid = SLAB, times: Any = TIMES, noise: float = 0.01, **more: Any) -> Observation:
        frames = np.asarray(frames, dtype=np.float64)
        values: dict[str, Any] = {"counted": np.ones(frames.shape, bool), **more}
        return Observation(grid, np.asarray(times), frames, noise=noise, **values)

    return make


@pytest.fixture
def quick() -> dict[str, Any]:
    """A recipe of two short stages, whatever those that come with nefty are tuned to."""
    return {key: list(value) if isinstance(value, list) else value for key, value in QUICK.items()}
