"""A recording of a part: frames as a camera gives them, what is true, and what the user says."""

from __future__ import annotations

import dataclasses
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.storage.files import write_atomic
from nefty.physics.materials import Material
from nefty.synth.parts.filming import draw_filming
from nefty.synth.parts.part import Part, width_over_depth
from nefty.synth.parts.simulate import mesh_of, watch_on
from nefty.synth.parts.user import told

VISIBLE = 5.0  # peak over noise, from which on a defect counts as visible
FRAMES, TRUTH, FACTS = "recording.npy", "truth.npz", "told.json"


@dataclass(frozen=True)
class TrueDefect:
    """What is true of a defect.

    Args:
        label: its number in ``Truth.labels``, from 1.
        kind: ``"film"``, ``"gap"``, ``"hole"`` or ``"impact"``.
        depth: of its top in m.
        width_over_depth: the smaller width over the depth.
        visibility: difference of noise-free frames with and without all defects, as the lens shows them, averaged over
            its pixels; the peak over time of its size, over the standard deviation of the noise of one value, that is
            of one pixel in one frame.
        resistance: integral of 1/k - 1/k_part through it, in m2K/W; infinite for a hole.
    """

    label: int
    kind: str
    depth: float
    width_over_depth: float
    visibility: float
    resistance: float

    @property
    def visible(self) -> bool:
        """Whether its peak contrast is above 5 times the noise."""
        return self.visibility > VISIBLE


@dataclass(frozen=True, eq=False)
class Truth:
    """Args:
    labels: number of the defect under each pixel, (y, x), 0 where there is none.
    depth: of its top there, in m, NaN where there is none.
    defects: in the order of their numbers.
    """

    labels: np.ndarray
    depth: np.ndarray
    defects: tuple[TrueDefect, ...]

    def mask(self, *, visible: bool = False) -> np.ndarray:
        """Pixels (y, x) over a defect, or over a visible one."""
        return np.isin(self.labels, [d.label for d in self.defects if d.visible or not visible])


@dataclass(frozen=True, eq=False)
class PartRecording:
    """Args:
    frames: (t, y, x), uint16 counts or float32 in K.
    truth: what is in the part.
    known: what the user tells ``nefty.load``.
    noise: standard deviation of a value in K.
    onset: when the heating began, in s after the first frame.
    part: that was recorded; None for a recording that was read back.
    """

    frames: np.ndarray
    truth: Truth
    known: dict[str, Any]
    noise: float
    onset: float
    part: Part | None = None

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the frames as a user has them, and beside them what is true and what he says; the file of frames."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        truth, frames = io.BytesIO(), io.BytesIO()
        np.savez(truth, labels=self.truth.labels, depth=self.truth.depth)
        np.save(frames, self.frames)
        with truth.getbuffer() as view:
            write_atomic(folder / TRUTH, view)
        with frames.getbuffer() as view:
            write_atomic(folder / FRAMES, view)
        facts = {
            "known": {**self.known, "material": self.known["material"].model_dump()},
            "noise": self.noise,
            "onset": self.onset,
            "defects": [dataclasses.asdict(defect) for defect in self.truth.defects],
        }
        write_atomic(folder / FACTS, json.dumps(facts, indent=1).encode())  # last: then all of it is there
        return folder / FRAMES

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> PartRecording:
        """Read what ``save`` wrote."""
        folder = Path(folder)
        facts = json.loads((folder / FACTS).read_text())
        with np.load(folder / TRUTH) as truth:
            labels, depth = truth["labels"], truth["depth"]
        frames = np.load(folder / FRAMES)
        defects = tuple(TrueDefect(**defect) for defect in facts["defects"])
        known = {**facts["known"], "material": Material.model_validate(facts["known"]["material"])}
        return PartRecording(frames, Truth(labels, depth, defects), known, facts["noise"], facts["onset"])

    @staticmethod
    def is_in(folder: str | os.PathLike[str]) -> bool:
        """Whether a folder holds a whole recording."""
        return (Path(folder) / FACTS).is_file()


def record_part(part: Part, seed: int = 0) -> PartRecording:
    """Simulate a part with its defects, and once more without them for their visibility, and film it.

    Args:
        part: what is recorded, such as ``draw_part(3)``.
        seed: of camera, noise and the user's errors.
    """
    filming = draw_filming(seed, part.pixels)
    times = filming.times(part.fps, part.seconds)
    mesh = mesh_of(part)
    rises = watch_on(mesh, part, times).frames
    difference = np.zeros_like(rises)
    if part.defects:
        difference = rises - watch_on(mesh, dataclasses.replace(part, defects=()), times).frames
    return PartRecording(
        frames=filming.film(rises, seed),
        truth=truth_of(part, filming.seen(difference), filming.noise),
        known=told(part, filming, seed),
        noise=filming.noise,
        onset=-float(times[0]),
        part=part,
    )


def truth_of(part: Part, difference: np.ndarray, noise: float) -> Truth:
    """What is true of a part.

    Args:
        part: with its defects.
        difference: of noise-free frames with and without them, (t, y, x) in K.
        noise: of a value, in K.
    """
    labels, depth = np.zeros(part.pixels, dtype=np.int32), np.full(part.pixels, np.nan)
    defects = []
    for label, defect in enumerate(part.defects, 1):
        own = part.depth_under_pixels(defect)
        here = np.isfinite(own)
        labels[here], depth[here] = label, own[here]
        peak = float(np.abs(difference[:, here].mean(axis=1)).max()) if here.any() else 0.0
        defects.append(
            TrueDefect(
                label,
                defect.kind,
                defect.depth,
                width_over_depth(defect),
                peak / noise,
                defect.resistance(part.k[0]),
            )
        )
    return Truth(labels, depth, tuple(defects))
