"""A look at a recording, in a process of its own: so the server never holds a recording, however large it is.

``main`` reads a draft as JSON from stdin, tells its progress as JSON lines on stdout, and
writes into a folder:

| file | holds |
|---|---|
| ``account.json`` | what ``nefty inspect`` says, and what the pictures are |
| ``pictures.npy`` | some of the file's frames (n, y, x), made coarser where they are large |
| ``prepared.npy`` | the prepared frames (y, x, t), for decays |
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nefty.app.account import Account, Lacking, Told
from nefty.app.draft import Draft
from nefty.core.errors import NeftyError
from nefty.core.progress import watched
from nefty.data.intake.intake import Recording, take_in
from nefty.data.intake.summary import front_of, shown_preparation, summary, time_unit
from nefty.data.preparation.prepared import Prepared

ACCOUNT, PICTURES, PREPARED = "account.json", "pictures.npy", "prepared.npy"
MOST_FRAMES, MOST_BEFORE, LARGEST = 160, 8, 320  # frames, of these before the flash, pixels along a side
EVERY = 0.2  # seconds between two words of progress
REFUSED = 2  # exit code where the recording or a fact is at fault


def look(draft: Draft, folder: Path) -> None:
    """Take a recording in and write what the pages show of it.

    Args:
        draft: its file, relative to the present folder, and what is known.
        folder: to write into; it is there.
    """
    recording = take_in(Path(draft.file), draft.known)
    prepared = shown_preparation(recording)
    loaded = front_of(recording.loaded)
    numbers = chosen_frames(prepared.pictures.times)
    coarse = -(-max(loaded.shape[1:]) // LARGEST)
    pictures = np.stack([coarser(loaded.frames[k], coarse) for k in numbers])
    np.save(folder / PICTURES, pictures)
    np.save(folder / PREPARED, np.ascontiguousarray(np.moveaxis(prepared.sequence.frames, 0, -1), dtype=np.float32))
    account = _account(recording, prepared, _Pictures(numbers, coarse, _limits(pictures)))
    (folder / ACCOUNT).write_text(account.text())


def chosen_frames(times: np.ndarray, most: int = MOST_FRAMES) -> np.ndarray:
    """Numbers of the frames to keep: all, or the last before the flash and those at times in geometric steps after."""
    if times.size <= most:
        return np.arange(times.size)
    before = int(np.count_nonzero(times <= 0))
    few = np.unique(np.linspace(0, before - 1, min(before, MOST_BEFORE)).astype(int)) if before else np.empty(0, int)
    steps = np.geomspace(1, times.size - before, most - few.size).round().astype(int)
    steps = np.maximum(steps, np.arange(1, steps.size + 1))  # while steps are below one frame, every frame
    return np.concatenate([few, before + np.unique(np.minimum(steps, times.size - before)) - 1])


def coarser(frame: np.ndarray, n: int) -> np.ndarray:
    """Means over n x n pixels, the last ones of fewer; single precision."""
    frame = np.asarray(frame, dtype=np.float32)
    if n == 1:
        return frame
    rows, columns = (-(-side // n) * n for side in frame.shape)
    padded = np.pad(frame, ((0, rows - frame.shape[0]), (0, columns - frame.shape[1])), mode="edge")
    return padded.reshape(rows // n, n, columns // n, n).mean(axis=(1, 3))


@dataclass(frozen=True, eq=False)
class _Pictures:
    numbers: np.ndarray
    coarse: int
    limits: tuple[float, float]


def _limits(pictures: np.ndarray) -> tuple[float, float]:
    """Colours that single pixels do not set; from what is usual in the coolest picture to the hottest."""
    some = pictures[:, ::2, ::2]
    finite = some[np.isfinite(some)]
    low, high = (float(v) for v in np.percentile(finite, [0.5, 99.5])) if finite.size else (0.0, 1.0)
    return low, high if high > low else low + 1.0


def _account(recording: Recording, prepared: Prepared, pictures: _Pictures) -> Account:
    sequence, seen, facts = recording.sequence, prepared.pictures, recording.sequence.facts
    top, bottom, left, right = seen.region
    window = facts.window
    if recording.prepared is None:  # a rectangle of a recording that says everything is cut without a preparation
        _, rows, columns = sequence.shape
        top, left = window.top, window.left
        bottom, right = top + rows * window.bin, left + columns * window.bin
    bins = max((bottom - top) // sequence.shape[1], 1)
    size, pixel = sequence.size, facts.pixel
    if size is not None:
        pixel = (size[1] / (bottom - top), size[2] / (right - left))
    elif pixel is not None:
        pixel = (pixel[0] / bins, pixel[1] / bins)
    lines = [Told(name, text.removesuffix(" [assumed]"), text.endswith(" [assumed]")) for name, text in
             summary(recording, prepared)]  # fmt: skip
    return Account(
        shape=recording.loaded.shape,
        summary=tuple(lines),
        steps=tuple(Told(step.name, step.text, step.assumed) for step in recording.steps),
        missing=tuple(Lacking(fact.name, fact.what, fact.example) for fact in recording.missing),
        complete=recording.says_everything,
        in_metres=facts.units.in_metres,
        time_unit=time_unit(recording),
        temperature_unit=facts.units.temperature,
        numbers=tuple(int(k) for k in pictures.numbers),
        times=tuple(float(seen.times[k]) for k in pictures.numbers),
        coarse=pictures.coarse,
        limits=pictures.limits,
        region=(top, bottom, left, right),
        suggested=seen.suggested,
        bin=bins,
        thickness=size[0] if size is not None else facts.thickness,
        pixel=pixel,
        alpha=None if facts.material is None else facts.material.alpha_z,
        material="" if facts.material is None else facts.material.name,
        prepared_times=tuple(float(t) for t in sequence.times),
    )


def main() -> int:
    """Read the draft, look, and say how it goes."""
    draft = Draft.from_record(json.loads(sys.stdin.read()))
    try:
        with watched(_Seldom()):
            look(draft, Path(sys.argv[1]))
    except NeftyError as error:
        _tell({"error": str(error)})
        return REFUSED
    return 0


class _Seldom:
    """Tells how far a stage is, a few times a second."""

    def __init__(self) -> None:
        self._told = 0.0

    def __call__(self, stage: str, fraction: float) -> None:
        if (now := time.monotonic()) - self._told > EVERY:
            self._told = now
            _tell({"stage": stage, "fraction": round(fraction, 3)})


def _tell(values: dict[str, object]) -> None:
    print(json.dumps(values), flush=True)
