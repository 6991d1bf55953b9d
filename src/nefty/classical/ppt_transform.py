"""Fourier transforms of decays, by the FFT or at chosen frequencies."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Listing

import numpy as np

from nefty.core.checks import number
from nefty.core.errors import InputError

TAPERS = ("none", "hann", "falling")
MISSING = 0.1  # share of the frames that may be missing between the others


def transform_of(
    times: np.ndarray,
    frequencies: Listing[float] | np.ndarray | None,
    taper: str,
    padding: int,
    highest: float | None,
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """The frequencies (f,), and the function that takes decays (t, n) to their spectra (f, n).

    Args:
        times: of the frames, (t,).
        frequencies: per time unit, increasing; those of the FFT if not given, which needs equidistant frames.
        taper: a name of ``TAPERS``.
        padding: zeros are added up to so many times the length.
        highest: frequency beyond which none are kept.
    """
    recorded = times
    if frequencies is None:
        times = _equidistant(recorded)
    position = np.arange(times.size) / times.size
    weight = {"none": np.ones(times.size), "falling": np.cos(np.pi * position / 2) ** 2}.get(
        taper, np.sin(np.pi * (position + 0.5 / times.size)) ** 2
    )[:, None]
    if frequencies is not None:
        f = np.asarray(frequencies, dtype=np.float64)
        if f.ndim != 1 or not f.size or not (np.isfinite(f) & (f > 0)).all() or (np.diff(f) <= 0).any():
            raise InputError(f"frequencies={frequencies!r} must be increasing numbers above 0.")
        f = _below(f, highest)
        waves = np.exp(-2j * np.pi * f[:, None] * times) * np.gradient(times)
        return f, lambda block: waves @ (weight * block)
    step = float(np.diff(times).mean())
    every = np.fft.rfftfreq(padding * times.size, step)
    # Neither 0 nor Nyquist's, whose transform is real but for the shift and has no phase of its own.
    f = _below(every[(every > 0) & (every < 0.5 / step * (1 - 1e-9))], highest)
    shift = step * np.exp(-2j * np.pi * f * times[0])[:, None]

    def by_fft(block: np.ndarray) -> np.ndarray:
        block = _filled(block, recorded, times)
        return shift * np.fft.rfft(weight * block, n=padding * times.size, axis=0)[1 : f.size + 1]

    return f, by_fft


def _equidistant(times: np.ndarray) -> np.ndarray:
    """The times, with those of single frames that were left out, corrupt ones for instance; refuses other steps."""
    steps = np.diff(times)
    step = float(np.median(steps))
    numbers = np.rint((times - times[0]) / step)
    whole = times[0] + (times[-1] - times[0]) / numbers[-1] * np.arange(numbers[-1] + 1)
    off = np.abs(times - whole[numbers.astype(int)]).max()
    if off > 1e-3 * step * np.sqrt(times.size) or whole.size > (1 + MISSING) * times.size:
        raise InputError(
            f"the frames are {steps.min():g} to {steps.max():g} apart; give frequencies, or resample to equal steps."
        )
    return whole


def _filled(block: np.ndarray, recorded: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Decays (t, n) at all times, linear in time between neighbours where a frame is missing."""
    if recorded.size == times.size:
        return block
    after = np.clip(np.searchsorted(recorded, times), 1, recorded.size - 1)
    share = np.clip((times - recorded[after - 1]) / (recorded[after] - recorded[after - 1]), 0, 1)[:, None]
    return (1 - share) * block[after - 1] + share * block[after]


def _below(frequencies: np.ndarray, highest: float | None) -> np.ndarray:
    if highest is None:
        return frequencies
    kept = frequencies[frequencies <= number("highest", highest, above=0)]
    if not kept.size:
        raise InputError(f"highest={highest:g} lies below all frequencies, the lowest is {frequencies[0]:g}.")
    return kept
