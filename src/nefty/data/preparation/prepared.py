"""What was done to a recording, step by step, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nefty.data.facts import Step
from nefty.data.sequence import Sequence

if TYPE_CHECKING:
    from nefty.data.preparation.time_selection import Selection


def counted(number: int, noun: str) -> str:
    """``"1 frame"``, ``"3 frames"``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, eq=False)
class Pictures:
    """What was seen on the way, for plots; pixels and frames are numbered as in the file.

    Args:
        times: of all frames, from the flash.
        levels: mean rise of each frame, without its extremes (t,).
        corrupt: numbers of the frames that were left out as impossible.
        dead: pixels (y, x) that say nothing.
        saturated: number of saturated frames of each pixel (y, x).
        region: rows and columns (y0, y1, x0, x1) that were used.
        suggested: the same for the part's outline, where a background that was not heated tells it.
        gain: first estimate of each pixel's gain, of the prepared frames (y, x).
        selection: which of the frames make which mean, where they were averaged.
        used: numbers of the frames that were averaged.
    """

    times: np.ndarray
    levels: np.ndarray
    corrupt: np.ndarray
    dead: np.ndarray
    saturated: np.ndarray
    region: tuple[int, int, int, int]
    suggested: tuple[int, int, int, int] | None
    gain: np.ndarray
    selection: Selection | None
    used: np.ndarray


@dataclass(frozen=True, eq=False)
class Prepared:
    """A recording that is ready for reconstruction.

    Args:
        sequence: frames after the flash; its facts hold the steps and the first estimate of the gain.
        steps: in the order in which they were done.
        pictures: for plots.
        noise: standard deviation of one value of the prepared pixels, before frames were averaged; 0 if not known.
        flash_frame: number, from 0, of the frame in which the flash falls; ``None`` if it is before all of them.
    """

    sequence: Sequence
    steps: tuple[Step, ...]
    pictures: Pictures
    noise: float
    flash_frame: int | None

    def step(self, name: str) -> Step:
        """The step of this name."""
        return next(step for step in self.steps if step.name == name)
