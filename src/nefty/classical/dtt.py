"""DTT, dynamic thermal tomography (Vavilov 1990): the largest contrast of each pixel, and when."""

from __future__ import annotations

from collections.abc import Sequence as Listing
from dataclasses import dataclass

import numpy as np

from nefty.classical.contrast import contrast, half_maximum, sound_decay, spread_of_sound, sure_level
from nefty.classical.decays import Decays
from nefty.classical.estimate import DepthEstimate
from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence


@dataclass(frozen=True, eq=False)
class DttResult:
    """Maxigram and timegram.

    Args:
        maxigram: the largest contrast T - T_sound, (y, x).
        timegram: when it is reached, (y, x); NaN where it does not stand out of the sound pixels.
        clear: the largest contrast at any time, over its spread in sound pixels, (y, x).
        level: that counts as seen.
        spread: standard deviation of the contrast in sound pixels, (t,).
        reference: the sound decay, (t,).
        times: (t,).
    """

    maxigram: np.ndarray
    timegram: np.ndarray
    clear: np.ndarray
    level: float
    spread: np.ndarray
    reference: np.ndarray
    times: np.ndarray

    def slices(self, edges: Listing[float] | np.ndarray) -> np.ndarray:
        """Thermal tomograms: the maxigram where the timegram lies within a window of time, NaN elsewhere.

        Args:
            edges: of the windows, increasing; ``n + 1`` of them make n slices (n, y, x), [edge, next edge).
        """
        edge = np.asarray(edges, dtype=np.float64)
        if edge.ndim != 1 or edge.size < 2 or not (np.diff(edge) > 0).all():
            raise InputError(f"edges={edges!r} must be at least two increasing times.")
        inside = (self.timegram >= edge[:-1, None, None]) & (self.timegram < edge[1:, None, None])
        return np.where(inside, self.maxigram, np.nan)

    def estimate(self) -> DepthEstimate:
        """No depth; as mask, where the contrast is seen, down to half of its maximum."""
        nothing = np.full(self.clear.shape, np.nan)
        mask = half_maximum(self.clear, self.level)
        return DepthEstimate(nothing, mask, "DTT", "largest contrast over its spread", self.clear / self.level)

    def maps(self) -> dict[str, np.ndarray]:
        """What is worth a look, by name."""
        return {"maxigram": self.maxigram, "timegram": self.timegram, "contrast over spread": self.clear}


def dtt(
    sequence: Sequence,
    *,
    sound: np.ndarray | None = None,
    early_frames: int = 0,
    least: float = 4.0,
    window: tuple[float, float] | None = None,
) -> DttResult:
    """Find the largest contrast of every pixel and its time.

    Deeper defects reach it later, but there is no depth in it without a calibration: in one dimension the contrast of
    an adiabatic defect rises for ever, and its maximum is made by heat that flows around the defect, so it depends on
    the defect's width too.

    Args:
        sequence: the recording.
        sound: mask (y, x) of a region without defects, whose median is the reference; all pixels if not given.
        early_frames: if above 0, gains are taken out with so many first frames; see ``contrast``.
        least: times its spread in sound pixels that a contrast must reach to have a time; more in recordings of many
            values, one of which would reach it by noise alone.
        window: first and last time that count.
    """
    decays = Decays.of(sequence, window)
    reference = sound_decay(decays, sound)
    spread = spread_of_sound(decays, reference, sound, early_frames)
    level = sure_level(number("least", least, at_least=0), decays.times.size * decays.pixels.size)
    found = np.empty((3, decays.pixels.size))
    for part, block in decays.blocks():
        difference = contrast(block, reference, early_frames)
        at = np.where(np.isfinite(difference), difference, -np.inf).argmax(axis=0)
        largest = np.take_along_axis(difference, at[None], axis=0)[0]
        found[0, part] = largest
        found[1, part] = np.where(largest > level * spread[at], decays.times[at], np.nan)
        found[2, part] = (difference / spread[:, None]).max(axis=0)
    maxigram, timegram, clear = decays.image(found)
    return DttResult(maxigram, timegram, clear, level, spread, reference, decays.times)
