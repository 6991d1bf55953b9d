"""What was done to a recording, step by step, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.data.sequence import Sequence

if TYPE_CHECKING:
    from nefty.data.preparation.time_selection import Selection


def counted(number: int, noun: str) -> str:
    """``"1 frame"``, ``"3 frames"``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class Step:
    """One step.

    Args:
        name: such as ``"dead pixels"``.
        text: what was found and done, in plain words.
        values: the numbers behind it, as plain values.
        assumed: whether something was taken for granted that neither the file nor the user said.
    """

    name: str
    text: str
    values: dict[str, Any] = field(default_factory=dict)
    assumed: bool = False

    def plain(self) -> dict[str, Any]:
        """As it is saved."""
        return {"name": self.name, "text": self.text, "values": dict(self.values), "assumed": self.assumed}


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
        sequence: frames after the flash; ``meta["preparation"]`` holds the steps, ``meta["gain"]`` the first estimate
            of the gain.
        steps: in the order in which they were done.
        pictures: for plots.
    """

    sequence: Sequence
    steps: tuple[Step, ...]
    pictures: Pictures

    def step(self, name: str) -> Step:
        """The step of this name."""
        return next(step for step in self.steps if step.name == name)
