"""From a recording to what a network sees: slices in time as a volume."""

from __future__ import annotations

import numpy as np

from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.supervised.settings import Input

INSIDE = 8  # points of a slice over which the recording is averaged
FAINTEST = 1e-3  # of a frame's middle: logarithms of less are not trusted


def prepared(sequence: Sequence, choice: Input) -> np.ndarray:
    """Channels (c, slices, y, x), float32, of order 1.

    With T_k the mean of the recording over slice k and m_k the middle of its pixels, "contrast" is

        [log(T_k / T_0) - log(m_k / m_0)] * 4   and   log(m_k / m_0),

    which the flash's strength and, nearly, its shape leave alone. A defect holds the heat back and is positive.

    Args:
        sequence: the front of a part after a flash.
        choice: how.
    """
    sequence = sequence.after_flash()
    if sequence.observe != "front":
        raise InputError(
            f"a trained network takes the front of a part, this recording has observe={sequence.observe!r}."
        )
    frames = filled(sequence)
    slices = np.tensordot(slicing(sequence.times, choice), frames, axes=(1, 0))
    middle = np.median(slices, axis=(1, 2))
    if not (middle > 0).all():
        raise InputError("the middle pixel of the recording does not rise above ambient; subtract the ambient first.")
    if choice.values == "frames":
        return (slices / slices.max())[None].astype(np.float32)
    logs = np.log(np.maximum(slices, FAINTEST * middle[:, None, None]))
    decay = np.log(middle / middle[0])[:, None, None]
    contrast = logs - logs[0] - decay
    return np.stack([4 * contrast, np.broadcast_to(decay, contrast.shape)]).astype(np.float32)


def slicing(times: np.ndarray, choice: Input) -> np.ndarray:
    """What the frames are multiplied by, (slices, t): means over slices of the recording interpolated in time."""
    power = 2 if choice.spacing == "depth" else 1
    share = (np.arange(choice.slices * INSIDE) + 0.5) / (choice.slices * INSIDE)
    points = times[0] + (times[-1] - times[0]) * share**power
    one_frame = np.eye(len(times))
    values = np.stack([np.interp(points, times, frame) for frame in one_frame], axis=1)
    return values.reshape(choice.slices, INSIDE, -1).mean(axis=1)


def filled(sequence: Sequence) -> np.ndarray:
    """The frames (t, y, x), each missing value replaced by the middle of its frame."""
    frames, counted = np.asarray(sequence.frames, dtype=np.float64), sequence.weights()
    if counted.all():
        return frames
    if not counted.any(axis=(1, 2)).all():
        raise InputError("some frames have no value that counts; cut them off first.")
    middle = np.nanmedian(np.where(counted, frames, np.nan), axis=(1, 2))
    return np.where(counted, frames, middle[:, None, None])
