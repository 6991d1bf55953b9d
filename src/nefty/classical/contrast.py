"""How a pixel differs from the background."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage
from scipy.special import ndtri

from nefty.classical.decays import BLOCK, SAMPLE, Decays
from nefty.core.checks import count

#: Spread of the sound pixels' rise at least, as a share: emissivity and heating are never more even than that.
FLOOR = 0.001
#: How often a recording without defects may show one by noise alone.
CHANCE = 0.05


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
        np.median(decays.values(slice(start, start + step), pixels), axis=1)
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


def spread_of_sound(
    decays: Decays,
    reference: np.ndarray,
    sound: np.ndarray | None,
    early_frames: int,
    operator: np.ndarray | None = None,
) -> np.ndarray:
    """Standard deviation of the contrast where there is no defect, (t,), or of what ``operator`` makes of it, (n,).

    Noise is only a part of it: uneven heating, emissivity and lateral flow make sound pixels differ, too. So it is the
    largest of the noise, 1.4826 MAD over sound pixels, and 0.1 % of the sound rise.

    Args:
        decays: of all pixels.
        reference: the sound decay, (t,).
        sound: as in ``sound_decay``.
        early_frames: as in ``contrast``.
        operator: (n, t), that takes contrasts to what is looked for, such as their slopes.
    """
    operator = np.eye(decays.times.size) if operator is None else operator
    pixels = decays.pixels[decays.among_used(sound)]
    some = pixels[:: -(-pixels.size // SAMPLE)]
    found = operator @ contrast(decays.values(slice(None), some), reference, early_frames)
    scatter = 1.4826 * np.nanmedian(np.abs(found - np.nanmedian(found, axis=1, keepdims=True)), axis=1)
    noise = np.sqrt(operator**2 @ decays.noise_per_frame() ** 2)
    return np.maximum(np.maximum(scatter, noise), FLOOR * np.abs(operator @ reference))


def sure_level(least: float, values: int) -> float:
    """How many standard deviations count as seen: ``least``, or more where so many values could reach it by chance."""
    return max(least, float(-ndtri(CHANCE / values)))


def half_maximum(clear: np.ndarray, least: float) -> np.ndarray:
    """Mask (y, x) of defects in a map of contrast over its spread: every connected region above ``least``, down to
    half of its highest value, the usual measure of a blurred width.
    """
    clear = np.where(np.isfinite(clear), clear, 0.0)
    found: Any = ndimage.label(clear > least)
    regions, number = np.asarray(found[0]), int(found[1])
    highest = np.asarray(ndimage.maximum(clear, regions, np.arange(number + 1))) if number else np.zeros(1)
    return (regions > 0) & (clear >= highest[regions] / 2)
