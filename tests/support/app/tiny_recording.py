"""A recording that is reconstructed in seconds, and the changes of the recipe that make it so."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nefty.core.grid import Grid
from nefty.synth.recording import simulate
from nefty.synth.specimen import draw_specimen

TINY = Grid((6, 16, 16), (1.0, 10.0, 10.0))
TIMES = 0.25 * np.arange(1, 21)
STAGES = ("where", "how deep", "which shape", "edges", "finish")


def write_tiny(path: Path, seed: int = 1) -> Path:
    """One defect, 6 x 16 x 16 cells, 20 frames, noise of 0.1 %."""
    return simulate(draw_specimen(seed=seed, defects=1), noise=1e-3, grid=TINY, times=TIMES).save(path)


def quick_settings(first: int = 4) -> tuple[str, ...]:
    """Changes of the recipe: so many iterations in the first stage, four in the others."""
    counts = (first, 4, 4, 4, 4)
    stages = (f"stages.{name}.iterations={n}" for name, n in zip(STAGES, counts, strict=True))
    return ("model.layers=6", *stages)


def write_counts(path: Path, frames: int = 60, face: tuple[int, int] = (24, 32), dtype: str = "uint16") -> Path:
    """A camera's recording in counts: a flash in frame 5, a warm patch later; nothing else is said."""
    rng = np.random.default_rng(0)
    after = np.maximum(np.arange(frames) - 4.5, 0.25)
    rise = np.where(np.arange(frames) >= 5, 400 / np.sqrt(after), 0.0)
    content = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(frames, *face))
    for k in range(frames):
        frame = 300 + rise[k] + rng.normal(0, 1, face)
        frame[4:9, 6:12] += 8 if k > 15 else 0
        content[k] = frame
    content.flush()
    return path
