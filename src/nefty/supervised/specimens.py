"""Recordings with their true volumes, streamed from folders that ``nefty simulate --n`` has written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import digest
from nefty.data.sequence import Sequence as Recording
from nefty.supervised.inputs import prepared
from nefty.supervised.settings import Input, Training
from nefty.synth.data_set import DataSet, Entry

MIRRORS = 8


@dataclass(frozen=True, eq=False)
class Scene:
    """What all recordings of a training have in common, and those to be predicted must have.

    Args:
        shape: cells (z, y, x).
        size: edge lengths (z, y, x).
        times: of the frames, (t,).
        lateral: ``"periodic"`` or ``"adiabatic"`` sides.
    """

    shape: tuple[int, int, int]
    size: tuple[float, float, float]
    times: np.ndarray
    lateral: str

    @staticmethod
    def of(recording: Recording) -> Scene:
        """That of a recording with a known truth."""
        if recording.truth is None or recording.size is None:
            raise InputError("a training needs recordings whose true volume and size are known; see nefty simulate.")
        nz, ny, nx = recording.truth.shape
        return Scene((nz, ny, nx), recording.size, recording.times, recording.boundary.lateral)

    def refuse_other(self, other: Scene, what: str) -> None:
        """Raise an error that names what differs."""
        said = []
        if other.shape != self.shape:
            said.append(f"{' x '.join(map(str, other.shape))} cells (z, y, x) instead of {self.shape}")
        if not np.allclose(other.size, self.size, rtol=1e-6):
            said.append(f"size {other.size} instead of {self.size}")
        if len(other.times) != len(self.times) or not np.allclose(other.times, self.times, rtol=1e-5):
            mine, theirs = (f"{len(t)} frames at {t[0]:g}..{t[-1]:g}" for t in (self.times, other.times))
            said.append(f"{theirs} instead of {mine}")
        if other.lateral != self.lateral:
            said.append(f"{other.lateral} sides instead of {self.lateral} ones")
        if said:
            raise InputError(f"{what} has {' and '.join(said)}; a network knows only the grid it was trained on.")


class Specimens(Dataset[tuple[Tensor, Tensor]]):
    """Pairs of input (c, slices, y, x) and true diffusivity (1, z, y, x), float32, loaded when they are asked for.

    An item is asked for by ``(index, mirror)``; ``mirror`` is one of the eight images that reflections and an exchange
    of x and y make of it, 0 the recording itself. They are recordings in their own right: the flash is in the middle.
    """

    def __init__(self, items: Sequence[tuple[DataSet, Entry]], scene: Scene, choice: Input) -> None:
        self.items, self.scene, self.choice = list(items), scene, choice

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, key: tuple[int, int]) -> tuple[Tensor, Tensor]:
        index, mirror = key
        data, entry = self.items[index]
        recording = data.load(entry)
        self.scene.refuse_other(Scene.of(recording), f"{data.path / entry.name}")
        given = torch.from_numpy(prepared(recording, self.choice))
        truth = torch.from_numpy(np.ascontiguousarray(recording.truth, dtype=np.float32))[None]
        return mirrored(given, mirror), mirrored(truth, mirror)

    def fingerprint(self) -> str:
        """Of the content of all recordings."""
        return digest(*(entry.digest for _, entry in self.items))


def mirrored(volume: Tensor, mirror: int) -> Tensor:
    """One of the eight images of a square under reflections, along the last two axes."""
    axes = [axis for bit, axis in ((1, -1), (2, -2)) if mirror & bit]
    image = volume.flip(axes) if axes else volume
    return (image.transpose(-1, -2) if mirror & 4 else image).contiguous()


def open_specimens(folders: Iterable[str | os.PathLike[str]], settings: Training) -> tuple[Specimens, Specimens]:
    """Those to train on and those held out, drawn by the seed of the settings.

    Args:
        folders: data sets on one grid.
        settings: of the training.
    """
    sets = [DataSet.open(Path(folder)) for folder in folders]
    items = [(data, entry) for data in sets for entry in data.entries]
    if len(items) < 2:
        raise InputError(f"{len(items)} recordings are too few; give folders with at least 2, better some hundreds.")
    scene = Scene.of(items[0][0].load(items[0][1]))
    if settings.input.slices != scene.shape[0]:
        raise InputError(
            f"input.slices={settings.input.slices}, but the recordings have {scene.shape[0]} layers of cells; "
            "set it to their number."
        )
    if settings.mirrored and scene.shape[1] != scene.shape[2]:
        raise InputError(f"mirrored needs square frames, these have {scene.shape[1:]} pixels; set mirrored=false.")
    parts = list(dict.fromkeys((entry.kind, entry.seed) for _, entry in items))  # a part may have several recordings
    if len(parts) < 2:
        raise InputError("all recordings show one specimen; give folders with others, so that some can be held out.")
    order = np.random.default_rng(settings.seed).permutation(len(parts))
    held = {parts[i] for i in order[: max(1, round(settings.held_out * len(parts)))]}
    one, other = ([item for item in items if ((item[1].kind, item[1].seed) in held) == out] for out in (False, True))
    return Specimens(one, scene, settings.input), Specimens(other, scene, settings.input)
