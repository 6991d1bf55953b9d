"""How a pixel differs from the sound part."""

from __future__ import annotations

import numpy as np

from nefty.classical.decays import BLOCK, Decays
from nefty.core.checks import count


def sound_decay(decays: Decays, sound: np.ndarray | None = None) -> np.ndarray:
    """The reference decay (t,): at each time the median over the sound pixels.

    Args:
        decays: of all pixels.
        sound: mask (y, x) of a region without defects; all pixels if not given, which is right where defects cover
            much less than half of them.
    """
    pixels = decays.pixels[decays.among_used(sound)]
    step = max(BLOCK // pixels.size, 1)
    parts = [
        np.median(decays.frames[start : start + step, pixels].astype(np.float64), axis=1)
        for start in range(0, decays.times.size, step)
    ]
    return np.concatenate(parts)


def contrast(block: np.ndarray, reference: np.ndarray, early_frames: int = 0) -> np.ndarray:
    """Absolute contrast T - T_sound, (t, n).

    Args:
        block: decays (t, n).
        reference: the sound decay, (t,).
        early_frames: if above 0, every pixel is first divided by its gain, the least-squares ratio to the reference
            in so many first frames, in which no defect shows yet. That takes out uneven heating and emissivity.
    """
    early_frames = count("early_frames", early_frames, at_least=0)
    if early_frames:
        early = reference[:early_frames]
        gain = early @ block[:early_frames] / (early @ early)
        block = np.divide(block, gain, out=np.full_like(block, np.nan), where=gain > 0)
    return block - reference[:, None]
