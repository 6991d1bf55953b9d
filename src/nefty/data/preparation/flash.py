"""When the flash was: in which frame, and when within it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.core.errors import InputError
from nefty.data.facts import Step
from nefty.data.sequence import Sequence
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import TopHatPulse

WINDOW = 5  # frames before and after, whose medians do not mind two corrupt ones
SIGNIFICANT = 10.0  # times the scatter of the levels
SHARE = 0.2  # of all that the levels do, which the flash makes at least
RISEN = 0.1  # of the flash, at which a frame has seen it
FIT = (4, 8)  # frames of the early cooling that tell when it began
JUST_BEFORE = 10  # frames that tell the level before the flash, should the camera drift
PEAK = 8  # frames after the flash within which the part is hottest, or saturated
NEAR = 1.5  # frame periods: how far from its frame's time the flash may be
STRAIGHT = 0.005  # by how much they may differ from it, as a share


@dataclass(frozen=True)
class Flash:
    """Args:
    frame: number of the frame in which it falls, None if all frames are later.
    onset: when the heating began, as the file counts time.
    before: number of frames that show the part before it.
    known: whether the file, the user or the recording tells; else it is assumed.
    """

    frame: int | None
    onset: float
    before: int
    known: bool = True


def find_flash(levels: np.ndarray) -> int | None:
    """Number of the first frame that a flash has heated; None if there is no jump that lasts.

    Args:
        levels: of the frames, (t,).
    """
    levels = _filled(levels)
    if levels.size < 4:
        return None
    before = np.array([np.median(levels[max(0, k - WINDOW) : k]) for k in range(1, levels.size)])
    after = np.array([np.median(levels[k : k + WINDOW]) for k in range(1, levels.size)])
    jumps = after - before
    at = int(np.argmax(jumps)) + 1
    steps = np.diff(levels)
    scatter = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / np.sqrt(2)
    whole = float(np.ptp(after)) if after.size else 0.0
    if not jumps[at - 1] > max(SIGNIFICANT * scatter, SHARE * whole):
        return None
    low = before[at - 1]
    near = slice(max(1, at - WINDOW), at + WINDOW)
    risen = levels[near] - low > RISEN * (float(np.max(levels[at : at + WINDOW])) - low)
    return near.start + int(np.argmax(risen))


def onset_by_decay(times: np.ndarray, rise: np.ndarray, frame: int) -> float | None:
    """When a thick part began to cool: T = c (t - t0)^(-1/2), so that 1/T^2 is a straight line that starts at t0.

    Args:
        times: of the frames.
        rise: of their levels above ambient, NaN where pixels are saturated.
        frame: in which the flash falls.

    Returns:
        t0, the middle of the pulse; None if the early cooling is another, or t0 is not near that frame.
    """
    near = rise[frame : frame + PEAK]
    lost = np.flatnonzero(~np.isfinite(near))
    first = frame + 1 + max(int(np.argmax(np.where(np.isfinite(near), near, -np.inf))), int(lost.max(initial=-1)))
    found = None
    for n in range(FIT[0], FIT[1] + 1):
        t, high = times[first : first + n], rise[first : first + n]
        if t.size < n or not (high > 0).all():
            break
        slope, offset = np.polyfit(t - t[0], high**-2.0, 1)
        line = slope * (t - t[0]) + offset
        if slope <= 0 or not (line > 0).all() or np.abs(line**-0.5 / high - 1).max() > STRAIGHT:
            break
        found = float(t[0] - offset / slope)
    step = float(np.median(np.diff(times)))
    return found if found is not None and abs(found - times[frame]) <= NEAR * step else None


def flash_of(
    sequence: Sequence, levels: np.ndarray, unsaturated: np.ndarray, choice: str | int, onset: str
) -> tuple[Flash, Step]:
    """The flash of a recording, as its file says, as given, or as found.

    Args:
        sequence: the recording, with times as the file counts them or from the flash.
        levels: of its frames.
        unsaturated: which frames (t,) have no saturated pixels.
        choice: ``Preparation.flash``.
        onset: ``Preparation.onset``.
    """
    times = sequence.times
    if isinstance(choice, int):
        if choice >= times.size:
            raise InputError(f"flash={choice} is not one of the {times.size} frames, 0 to {times.size - 1}.")
        return _within(sequence, levels, unsaturated, choice, onset, f"Frame {choice}, as given")
    if sequence.facts.origin.flash_known:
        late = int(np.count_nonzero(times <= 0))
        text = f"Times count from the flash, as the file says; {late} of {times.size} frames lie at or before it."
        flash = Flash(late - 1 if late else None, 0.0, int(np.count_nonzero(times < 0)))
        return flash, Step("flash", text, {"frame": flash.frame})
    look = choice == "auto" and sequence.observe == "front" and _brief(sequence)
    found = find_flash(levels) if look else None
    if found is not None:
        return _within(sequence, levels, unsaturated, found, onset, f"Frame {found}, by the jump of the frames' mean")
    step = float(np.median(np.diff(times))) if times.size > 1 else 1.0
    unseen = choice == "off" or not _brief(sequence)
    why = "was not looked for" if unseen else "was not found: the frames' mean has no jump that lasts"
    text = f"It {why}. It is taken to lie one frame before the first; give the number of the frame in which it falls."
    return Flash(None, float(times[0]) - step, 0, known=False), Step("flash", text, {"frame": None}, assumed=True)


def _within(
    sequence: Sequence, levels: np.ndarray, unsaturated: np.ndarray, frame: int, onset: str, how: str
) -> tuple[Flash, Step]:
    """The flash in a frame of known number."""
    times, begun = sequence.times, None
    if onset != "frame" and frame > 0 and _brief(sequence):
        early = levels[max(0, frame - JUST_BEFORE) : frame]
        low = np.median(early[np.isfinite(early)]) if np.isfinite(early).any() else np.nan
        rise = np.where(unsaturated, levels - low, np.nan)
        middle = onset_by_decay(times, rise, frame)
        pulse = sequence.excitation
        half = pulse.duration / 2 if isinstance(pulse, TopHatPulse) else 0.0
        if isinstance(pulse, HeatingCurve):
            half = pulse.history.middle
        begun = None if middle is None else middle - half
    if onset == "decay" and begun is None:
        raise InputError(
            "when the flash began cannot be told from the cooling: the first frames do not follow t^(-1/2), or none "
            'lies before the flash; use onset="frame".'
        )
    if begun is None:
        text = f"{how}. Times count from that frame's own; when within it the flash came is not known."
        return Flash(frame, float(times[frame]), frame), Step(
            "flash", text, {"frame": frame, "onset": float(times[frame])}
        )
    ago = (times[frame] - begun) / float(np.median(np.diff(times)))
    where = f"{abs(ago):.2f} frames {'before' if ago >= 0 else 'after'} its time"
    text = f"{how}. The cooling goes back to {where}; times count from there."
    return Flash(frame, begun, frame), Step("flash", text, {"frame": frame, "onset": begun})


def _brief(sequence: Sequence) -> bool:
    """Whether the heating makes a jump: by far most of its heat comes within the time between two frames."""
    pulse, times = sequence.excitation, sequence.times
    if not isinstance(pulse, HeatingCurve) or times.size < 2:
        return True
    return pulse.history.middle <= float(np.median(np.diff(times)))


def _filled(levels: np.ndarray) -> np.ndarray:
    """With the value before where there is none."""
    here = np.isfinite(levels)
    if not here.any():
        return np.zeros(0)
    last = np.maximum.accumulate(np.where(here, np.arange(levels.size), -1))
    return levels[np.where(last < 0, int(np.argmax(here)), last)]
