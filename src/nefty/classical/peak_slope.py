"""Peak contrast slope (Ringermacher 1998): when the contrast of a pixel rises fastest."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nefty.classical.contrast import contrast, half_maximum, sound_decay, spread_of_sound, sure_level
from nefty.classical.decays import Decays, parabola_peak
from nefty.classical.estimate import DepthEstimate, known, needed
from nefty.core.checks import number
from nefty.data.sequence import Sequence

#: alpha t_s/L^2 over an adiabatic back face, against a half space; 0.3684 to four digits.
FOURIER = 3.64 / math.pi**2
NODES = 128
FEWEST = 5


@dataclass(frozen=True, eq=False)
class PeakSlopeResult:
    """The steepest rise of every pixel's contrast.

    Args:
        peak_time: t_s, (y, x); NaN where no slope stands out of the sound pixels', or it still rises at the end.
        peak_slope: d(T - T_sound)/dt there, (y, x).
        clear: the largest contrast at any time, over its spread in sound pixels, (y, x).
        level: that counts as seen.
        reference: the sound decay, (t,).
        times: (t,).
        depth: sqrt(alpha t_s/0.3688), (y, x), ``None`` without alpha.
    """

    peak_time: np.ndarray
    peak_slope: np.ndarray
    clear: np.ndarray
    level: float
    reference: np.ndarray
    times: np.ndarray
    depth: np.ndarray | None = None

    def estimate(self) -> DepthEstimate:
        """The depth and, as mask, where the contrast is seen, down to half of its maximum."""
        depth = known(self.depth, "a depth by the peak slope")
        mask = half_maximum(self.clear, self.level)
        return DepthEstimate(depth, mask, "peak slope", "pi sqrt(alpha t_s/3.64)", self.clear / self.level)

    def maps(self) -> dict[str, np.ndarray]:
        """What is worth a look, by name."""
        found = {} if self.depth is None else {"depth": self.depth}
        return {**found, "peak time": self.peak_time, "peak slope": self.peak_slope, "contrast over spread": self.clear}


def peak_slope(
    sequence: Sequence,
    alpha: float | None = None,
    *,
    sound: np.ndarray | None = None,
    early_frames: int = 0,
    width: float = 0.3,
    least: float = 5.0,
    window: tuple[float, float] | None = None,
) -> PeakSlopeResult:
    """Find when the contrast rises fastest, and the depth L = sqrt(alpha t_s/0.3688) from it.

    Exact where the sound reference is thick. Against a back face at H it holds as long as the slope peaks before the
    back face shows: t_s far below H^2/alpha, defects above H/2.

    Args:
        sequence: the recording.
        alpha: diffusivity through the thickness, for a depth.
        sound: mask (y, x) of a region without defects, whose median is the reference; all pixels if not given.
        early_frames: if above 0, gains are taken out with so many first frames; see ``contrast``.
        width: the slope at t is that of a parabola through the frames between t e^-width and t e^width, at
            least five.
        least: times its spread in sound pixels that a slope, and a contrast, must reach; of the peaks that do, the
            highest counts.
        window: first and last time that count.
    """
    least, width = number("least", least, at_least=0), number("width", width, above=0)
    decays = Decays.of(sequence, window, at_least=FEWEST)
    reference = sound_decay(decays, sound)
    nodes, operator = _slopes(decays.times, width)
    spread = spread_of_sound(decays, reference, sound, early_frames, operator)
    scatter = spread_of_sound(decays, reference, sound, early_frames)
    step = math.log(nodes[1] / nodes[0])
    found, clear = np.full((2, decays.pixels.size), np.nan), np.zeros(decays.pixels.size)
    for part, block in decays.blocks():
        difference = contrast(block, reference, early_frames)
        slope = operator @ difference
        inner = slope[1:-1]
        sure = (inner > slope[:-2]) & (inner >= slope[2:]) & (inner > least * spread[1:-1, None]) & (inner > 0)
        at = np.where(sure, inner, -np.inf).argmax(axis=0) + 1
        place, height = parabola_peak(slope, at)
        seen = sure.any(axis=0)
        found[:, part] = np.where(seen, [nodes[0] * np.exp(place * step), height], np.nan)
        clear[part] = (difference / scatter[:, None]).max(axis=0)
    when = decays.image(found[0])
    depth = None if alpha is None else np.sqrt(needed(alpha, "a depth by the peak slope") * when / FOURIER)
    level = sure_level(least, decays.times.size * decays.pixels.size)
    return PeakSlopeResult(when, decays.image(found[1]), decays.image(clear), level, reference, decays.times, depth)


def _slopes(times: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Times in equal ratios, and the matrix (nodes, t) that takes a curve to its slope there.

    Where fewer than five frames lie within the width, the nearest five are taken.
    """
    nodes = np.geomspace(times[1], times[-2], NODES)
    rows = np.zeros((NODES, times.size))
    for node, row in zip(nodes, rows, strict=True):
        away = np.abs(np.log(times / node))
        near = np.flatnonzero(away <= max(width, np.partition(away, FEWEST - 1)[FEWEST - 1]))
        s = (times[near] - node) / node
        row[near] = np.linalg.pinv(np.vander(s, 3, increasing=True))[1] / node
    return nodes, rows
