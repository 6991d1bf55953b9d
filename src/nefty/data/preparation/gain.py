"""The gain of each pixel, from uneven flash or emissivity: how much warmer it is before any defect shows.

Early on the part cools like a half space, T(t) = g q (t)^(-1/2): pixels differ by the factor g alone. It is a first
estimate, for the inversion estimates the gain jointly with the volume.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from nefty.data.facts import Step
from nefty.data.sequence import Sequence
from nefty.physics.pulses import LASTING

FEWEST = 3  # frames
SHALLOW = 0.1  # of the thickness: where the shallowest defect is taken to lie
SHOWS = 0.2  # Fourier number alpha t/z^2 from which on a defect at z shows


def early_frames(sequence: Sequence, early: float | None = None) -> np.ndarray:
    """Which frames (t,) are earlier than any defect, at least the first three after the heating.

    Args:
        sequence: after the flash.
        early: until when; from the thickness and the diffusivity of the material if not given, where they are known.
    """
    pulse = sequence.excitation
    over = pulse.start + pulse.duration if isinstance(pulse, LASTING) else 0.0
    material = sequence.facts.material
    if early is None and material is not None and sequence.size is not None:
        early = SHOWS * (SHALLOW * sequence.size[0]) ** 2 / material.alpha_z
    late = sequence.times > over if (sequence.times > over).any() else np.ones(sequence.times.size, bool)
    chosen = late & (sequence.times <= (early or 0.0))
    chosen[np.flatnonzero(late)[:FEWEST]] = True
    return chosen


def gain_map(sequence: Sequence, early: float | None = None) -> np.ndarray:
    """The gain (y, x), of mean 1, NaN where a pixel has no early value.

    The least-squares factor between each pixel's early frames and their typical ones, by which the noise of the first,
    hottest frame counts least.
    """
    early_ones = early_frames(sequence, early)
    frames, here = sequence.frames[early_ones].astype(np.float64), sequence.weights()[early_ones]
    typical = np.array([np.median(f[w]) if w.any() else 0.0 for f, w in zip(frames, here, strict=True)])
    noise = np.broadcast_to(1.0 if sequence.noise is None else sequence.noise, sequence.times.shape)[early_ones]
    weight = (typical / np.where(noise > 0, noise, 1.0) ** 2)[:, None, None]
    above = (weight * np.where(here, frames, 0.0)).sum(axis=0)
    below = (weight * typical[:, None, None] * here).sum(axis=0)
    gain = np.divide(above, below, where=below > 0, out=np.full(above.shape, np.nan))
    mean = float(np.mean(gain[np.isfinite(gain)])) if np.isfinite(gain).any() else 0.0
    return (gain / mean if mean > 0 else np.full(gain.shape, np.nan)).astype(np.float32)


def gain_step(sequence: Sequence, choice: str, early: float | None) -> tuple[Sequence, np.ndarray, Step]:
    """The recording, divided by the gain if that is asked; the gain (y, x); and what to say.

    Args:
        sequence: after the flash.
        choice: ``Preparation.gain``.
        early: ``Preparation.early``.
    """
    gain = gain_map(sequence, early)
    here = gain[np.isfinite(gain)]
    if not here.size:
        return sequence, gain, Step("gain", "The early frames hold no rise to estimate it from.", {"applied": False})
    low, high = (float(end) for end in np.percentile(here, [2.5, 97.5]))
    frames = int(np.count_nonzero(early_frames(sequence, early)))
    text = f"From {frames} early frames: {low:.3g} to {high:.3g} in 95 % of the pixels, 1 in the mean. "
    values = {"low": low, "high": high, "frames": frames, "applied": choice == "early"}
    if choice == "joint":
        text += "The frames stay as they are, for the inversion estimates it too."
        return sequence, gain, Step("gain", text, values)
    divided = (sequence.frames / np.where(gain > 0, gain, np.nan)).astype(sequence.frames.dtype)
    return (
        dataclasses.replace(sequence, frames=divided),
        gain,
        Step("gain", text + "Frames were divided by it.", values),
    )
