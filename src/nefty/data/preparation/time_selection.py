"""Fewer frames: means over windows of time that grow with the time after the flash, and the noise they leave.

The surface cools like t^(-1/2) and its contrasts change over times of their own age, so that early frames matter one by
one and late ones only together. A window spans a fixed ratio of times; what it averages is taken for the value at the
time t* at which t*^(-1/2) is the mean of t^(-1/2): for such a decay that is exact, for others the rest is of the order
of the curvature over the window, which ``Selection.bias`` compares with the noise.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.core.words import span
from nefty.data.facts import Step
from nefty.data.noise import NoiseOfMeans, noise_of_means
from nefty.data.sequence import Sequence
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import LASTING

FRAMES = 60  # about so many are left
HEATED = 240  # and so many of those within a heating that lasts: an average blurs its course
PRESENT = 0.5  # the share of a window's values that a pixel must have


@dataclass(frozen=True, eq=False)
class Selection:
    """Which frames make which mean.

    Args:
        edges: number of the first frame of each window, and one past the last, (n + 1,).
        times: that the means stand for, (n,).
        noise: standard deviation of the means, (n,).
        measured: how the noise falls with the number of frames.
        bias: by how much the mean of the typical decay differs from its value at that time, at most, over the noise.
    """

    edges: np.ndarray
    times: np.ndarray
    noise: np.ndarray
    measured: NoiseOfMeans
    bias: float

    @property
    def counts(self) -> np.ndarray:
        """Number of frames in each mean."""
        return np.diff(self.edges)


def select_times(
    sequence: Sequence, *, frames: int | None = FRAMES, start: float | None = None, until: float | None = None
) -> tuple[Sequence, Selection]:
    """Average the frames after the flash over windows that grow with time.

    Args:
        sequence: the recording; its noise, where it is one number, is taken as that of a value.
        frames: how many shall be left, about; None keeps all.
        start: leave out frames earlier than this after the flash.
        until: leave out frames later than this.

    Returns:
        The means as a recording with the noise of each frame (one number if nothing was averaged), and which frames
        made them.
    """
    sequence = between(sequence, start, until)
    pulse = sequence.excitation
    on, over = (pulse.start, pulse.start + pulse.duration) if isinstance(pulse, LASTING) else (0.0, 0.0)
    times = sequence.times
    most, middle = times.size if frames is None else count("frames", frames), (on + over) / 2
    if isinstance(pulse, HeatingCurve):
        edges, middle = windows_of_curve(times, most, over), pulse.history.middle
    else:
        edges = windows(times, most, over)
    known = sequence.noise if isinstance(sequence.noise, float) else None
    measured = noise_of_means(sequence.frames, known)
    noise = measured.of(np.diff(edges))
    means = average(sequence.frames, edges)
    centres = representative(times, edges, middle, over)
    found = Selection(edges, centres, noise, measured, _bias(means, edges, noise))
    here = np.array([np.isfinite(means[..., i, :, :]).any() for i in range(centres.size)])  # where a pixel has a mean
    if not here.all():
        means, centres, noise = means[..., here, :, :], centres[here], noise[here]
    left: Any = None if not noise.any() else float(noise[0]) if found.counts.max() == 1 else noise
    return dataclasses.replace(sequence, frames=means, times=centres, noise=left), found


def times_step(
    sequence: Sequence, frames: int | str, sigma: float | None, left: float, unit: str
) -> tuple[Sequence, Selection, Step]:
    """Average, and say what was done.

    Args:
        sequence: frames after the flash.
        frames: ``Preparation.frames``.
        sigma: noise of a value, where it is known.
        left: noise that all frames share, which averaging does not reduce.
        unit: of the values.
    """
    given = dataclasses.replace(sequence, noise=sigma)
    result, found = select_times(given, frames=frames if isinstance(frames, int) else None)
    total, n = sequence.times.size, result.times.size
    first, last = float(sequence.times[0]), float(sequence.times[-1])
    seen = f"{total} frames from {span(first, last, sequence.facts.units.time)} after the flash"
    one = found.measured.single
    values = {"frames": n, "of": total, "sigma": one, "white": found.measured.white, "bias": found.bias}
    if result.noise is None:
        return result, found, Step("times", f"{seen}, too few or too equal to tell their noise.", values)
    noise: Any = np.hypot(result.noise, left)
    kind = "white" if found.measured.white else "not white, so that means are less quiet than they could be"
    text = f"{seen}; noise of a value {one:.3g} {unit}, " + ("as given. " if sigma else f"measured ({kind}). ")
    if np.ndim(noise) == 0:
        text += "They are not averaged."
        return dataclasses.replace(result, noise=float(noise)), found, Step("times", text, values)
    text += f"They became {n} means of 1 to {found.counts.max()}; the noise of the last is {noise[-1]:.3g} {unit}."
    return dataclasses.replace(result, noise=noise), found, Step("times", text, values)


def between(sequence: Sequence, start: float | None = None, until: float | None = None) -> Sequence:
    """The frames after the flash, not earlier than ``start`` and not later than ``until``; a view, no copy."""
    times = sequence.times
    chosen = np.flatnonzero(within(times, start, until))
    run = slice(chosen[0], chosen[-1] + 1)
    noise: Any = sequence.noise[run] if isinstance(sequence.noise, np.ndarray) else sequence.noise
    return dataclasses.replace(sequence, frames=sequence.frames[..., run, :, :], times=times[run], noise=noise)


def within(times: np.ndarray, start: float | None = None, until: float | None = None) -> np.ndarray:
    """Which times (t,) lie after the flash, and within these bounds; at least one does."""
    first = 0.0 if start is None else number("start", start, at_least=0)
    last = np.inf if until is None else number("until", until, above=first)
    chosen = (times > 0) & (times >= first) & (times <= last)
    if not chosen.any():
        raise InputError(
            f"no frame lies between {first:g} and {last:g} after the flash; they lie from {times[0]:g} to "
            f"{times[-1]:g}. Choose other times, or check when the flash was."
        )
    return chosen


def windows(times: np.ndarray, most: int, over: float = 0.0) -> np.ndarray:
    """Edges (n + 1,) of at most ``most`` windows, each over times of the same ratio, or a single frame where those are
    farther apart.

    Args:
        times: of the frames, positive.
        most: how many.
        over: when the heating ends; frames before stay alone, for they show how it went.
    """
    heated = int(np.searchsorted(times, over, side="right"))
    if most >= times.size:
        return np.arange(times.size + 1)
    if heated + 1 >= most:
        raise InputError(
            f"{heated} frames lie within the pulse, which ends at {over:g}, and only {most} are to be left; "
            "ask for more frames, or leave out the early ones with start."
        )
    low, high = 1.0, float(times[-1] / times[heated]) * (1 + 1e-9)
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if _edges(times, heated, middle).size - 1 <= most else (middle, high)
    return _edges(times, heated, high)


def windows_of_curve(times: np.ndarray, most: int, over: float) -> np.ndarray:
    """Edges (n + 1,) of windows that are equal while a heating of any course goes on, and grow in its cooling.

    Args:
        times: of the frames, positive.
        most: how many in the cooling, and at least ``HEATED`` of those within the heating.
        over: when the heating ends.
    """
    heated = int(np.searchsorted(times, over, side="right"))
    if most >= times.size:
        return np.arange(times.size + 1)
    together = -(-heated // max(most, HEATED)) or 1
    during = np.append(np.arange(0, heated, together), heated)
    late = times[heated:]
    if not late.size:
        return during
    after = windows(late - over, most) if late.size > 1 else np.array([0, 1])
    return np.concatenate([during[:-1], heated + after])


def representative(times: np.ndarray, edges: np.ndarray, centre: float = 0.0, over: float = 0.0) -> np.ndarray:
    """The time that each window's mean stands for, (n,).

    Args:
        times: of the frames.
        edges: of the windows.
        centre: of the pulse, from which the surface cools like (t - centre)^(-1/2).
        over: when it ends; a window before stands for its middle.
    """
    counts, first = np.diff(edges), edges[:-1]
    root = np.where(times > over, 1 / np.sqrt(np.maximum(times - centre, 1e-300)), 0.0)
    mean = np.add.reduceat(root, first) / counts
    with np.errstate(divide="ignore"):
        found = centre + mean**-2.0
    found = np.where(times[edges[1:] - 1] <= over, np.add.reduceat(times, first) / counts, found)
    return np.where(counts == 1, times[first], found)


def average(frames: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Means over windows of frames (..., t, y, x), as (..., n, y, x) of the same type.

    Where a pixel lacks some values of a window, its mean is that of the others, times the ratio of the typical pixel's
    means over all and over those; where it lacks half of them, the mean is missing.
    """
    if edges.size == frames.shape[-3] + 1:
        return frames
    means = np.empty((*frames.shape[:-3], edges.size - 1, *frames.shape[-2:]), frames.dtype)
    for i, (first, last) in enumerate(itertools.pairwise(edges)):
        for face in np.ndindex(frames.shape[:-3]):
            means[(*face, i)] = _mean(frames[face][first:last])
    return means


def _mean(window: np.ndarray) -> np.ndarray:
    """Of frames (t, y, x)."""
    if len(window) == 1:
        return window[0]
    total = window.sum(axis=0, dtype=np.float64)
    broken = ~np.isfinite(total)
    mean = total / len(window)
    if broken.any():
        mean[broken] = _mean_of_present(window[:, broken], _typical(window))
    return mean


def _mean_of_present(values: np.ndarray, typical: np.ndarray) -> np.ndarray:
    """Means (pixel,) of values (t, pixel) some of which are missing."""
    here = np.isfinite(values)
    counts = here.sum(axis=0)
    total = np.where(here, values, 0.0).sum(axis=0, dtype=np.float64)
    if (typical > 0).all():
        known = (here * typical[:, None]).sum(axis=0)
        scale = typical.mean()
    else:
        known, scale = counts, 1.0
    mean = scale * np.divide(total, known, where=counts > 0, out=np.full(total.shape, np.nan))
    return np.where(counts > PRESENT * len(values), mean, np.nan)


def _typical(frames: np.ndarray) -> np.ndarray:
    """Median (t,) over pixels that have all their values; 0 if there are none."""
    whole = np.isfinite(frames).all(axis=0)
    return np.median(frames[:, whole], axis=1) if whole.any() else np.zeros(len(frames))


def _edges(times: np.ndarray, heated: int, ratio: float) -> np.ndarray:
    edges = list(range(heated + 1))
    while edges[-1] < times.size:
        end = int(np.searchsorted(times, times[edges[-1]] * ratio, side="left"))
        edges.append(max(end, edges[-1] + 1))
    return np.array(edges)


def _bias(means: np.ndarray, edges: np.ndarray, noise: np.ndarray) -> float:
    """Mean minus value at the window's time, of the typical decay, over the noise of the mean; the largest.

    Over a window as wide as its neighbours, a mean lies above the value at the centre by 1/24 of the second difference.
    """
    several = np.flatnonzero((np.diff(edges)[1:-1] > 1) & (np.diff(edges)[:-2] > 1)) + 1
    if not several.size or not (noise > 0).all():
        return 0.0
    faces = means.reshape(-1, *means.shape[-3:])
    curve = np.array([np.nanmedian(frame) if np.isfinite(frame).any() else np.nan for frame in faces[0]])
    second = np.abs(curve[several - 1] - 2 * curve[several] + curve[several + 1]) / 24
    known = np.isfinite(second)
    return float((second[known] / noise[several][known]).max(initial=0.0))
