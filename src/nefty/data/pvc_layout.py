"""The PVC recordings of Wei, Osman, Valeske and Maldague (2023), in the layout in which they are published.

``ROOT/data/{R,Z}_NNN.mat``: MATLAB v5, ``imageArray`` (y, x, t), raw counts of the camera, of plates with rectangular
(R) or round (Z) flat-bottom holes. ``ROOT/labels/{manual_mask,automated_mask}/{R,Z}_NNN.png``: grey 0 where the plate
is sound, else depth / 0.5 mm x 51. The recordings are not redistributable; ``nefty.synth.pvc_files`` writes others in
the same layout, which add ``generated.json`` with what is known of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.checks import number, one_of
from nefty.core.errors import InputError
from nefty.data.assemble import Found, assemble
from nefty.data.facts import METRE, Facts, KnownDefects, Units
from nefty.data.given import Given
from nefty.data.pvc_labels import read_label
from nefty.data.readers.matlab5 import frames_at, variables_of
from nefty.data.readers.pieces import Box, Pieces
from nefty.data.sequence import Sequence

VARIABLE, AXES = "imageArray", "yxt"
KINDS = {"R": "rectangular", "Z": "round"}
LABELS = {"manual": "manual_mask", "automated": "automated_mask"}
FPS, THICKNESS, SIDE = 10.0, 5e-3, 0.1  # Hz, m, m: of the camera and of the plates
BAD_COLUMNS = 1  # at the left
GENERATED = "generated.json"
SPLITS = {"train": 26, "validation": 6, "test": 6}
SPLIT_SEED = 42
NAME = re.compile(r"([RZ])_(\d+)")
SAMPLES, SAMPLE_BYTES = 16, 1 << 16  # of a file, that tell it from others


@dataclass(frozen=True)
class PvcFile:
    """One recording.

    Args:
        kind: of the holes, ``"rectangular"`` or ``"round"``.
        number: NNN of its name.
        data: the .mat file.
        label: the .png file.
    """

    kind: str
    number: int
    data: Path
    label: Path

    @property
    def name(self) -> str:
        """``"R_001"``."""
        return self.data.stem

    def fingerprint(self) -> str:
        """Hash of the label and of samples of the recording; the same for a copy, wherever it lies."""
        size = self.data.stat().st_size
        found = hashlib.sha256(f"{size} ".encode() + self.label.read_bytes())
        with open(self.data, "rb") as file:
            for place in np.linspace(0, max(size - SAMPLE_BYTES, 0), SAMPLES).astype(np.int64):
                file.seek(int(place))
                found.update(file.read(SAMPLE_BYTES))
        return found.hexdigest()[:24]


@dataclass(frozen=True)
class PvcFolder:
    """A folder in the published layout; see ``PvcFolder.open``.

    Args:
        root: the folder.
        files: those with a recording and a label, by name.
        unlabelled: names of recordings without a label, which are left out.
        generated: what ``generated.json`` says; ``None`` for the published recordings.
    """

    root: Path
    files: tuple[PvcFile, ...]
    unlabelled: tuple[str, ...] = ()
    generated: Mapping[str, Any] | None = field(default=None, hash=False)

    @staticmethod
    def open(root: str | os.PathLike[str], labels: str = "manual") -> PvcFolder:
        """Look what there is; no recording is read yet.

        Args:
            root: the folder that holds ``data`` and ``labels``.
            labels: ``"manual"`` or ``"automated"``.
        """
        one_of("labels", labels, LABELS)
        root = Path(root)
        data, masks = root / "data", root / "labels" / LABELS[labels]
        if not data.is_dir():
            raise InputError(
                f"{root} holds no folder 'data'{_within(root)}; give the folder that holds data/R_001.mat and "
                f"labels/{LABELS[labels]}/R_001.png."
            )
        found, unlabelled = [], []
        for path in sorted(data.glob("*.mat")):
            match = NAME.fullmatch(path.stem)
            if match is None:
                continue
            label = masks / f"{path.stem}.png"
            if label.is_file():
                found.append(PvcFile(KINDS[match[1]], int(match[2]), path, label))
            else:
                unlabelled.append(path.stem)
        if not found and unlabelled:
            raise InputError(
                f"none of the {len(unlabelled)} recordings in {data} has a label in {masks} "
                f"({unlabelled[0]}.png is missing, for one); copy the labels there, or choose the other ones."
            )
        if not found:
            raise InputError(f"{data} holds no recording named R_001.mat or Z_001.mat; give the folder above it.")
        return PvcFolder(root, tuple(found), tuple(unlabelled), _read_generated(root / GENERATED))

    def split(self, part: str = "all") -> list[PvcFile]:
        """``"train"``, ``"validation"`` or ``"test"``: 26, 6 and 6 of the 38 published recordings, of others as many
        in proportion; ``"all"``.

        The names are sorted and shuffled by Python's ``random.Random(42)``. The source of the split says the numbers
        and the seed only.
        """
        if part == "all":
            return list(self.files)
        one_of("split", part, ("all", *SPLITS))
        files = sorted(self.files, key=lambda file: file.name)
        random.Random(SPLIT_SEED).shuffle(files)
        ends = np.rint(np.cumsum([0, *SPLITS.values()]) / sum(SPLITS.values()) * len(files)).astype(int)
        place = list(SPLITS).index(part)
        return sorted(files[ends[place] : ends[place + 1]], key=lambda file: file.name)

    def holes(self, file: PvcFile) -> list[dict[str, Any]] | None:
        """Centre (y, x) in pixels of the label, width (y, x) in m and depth in m of each; ``None`` if not known."""
        if self.generated is None:
            return None
        return self.generated["plates"].get(file.name, {}).get("holes")

    def load(self, file: PvcFile, *, pixel: float | str, fps: float | None = None) -> Sequence:
        """Read a recording: counts (t, y, x) without the bad first column, times from the first frame.

        Neither the flash nor ambient is looked for here; ``nefty.data.preparation`` does that. ``facts.defects``
        holds the true depth (y, x) in m, NaN where the plate is sound.

        Args:
            file: which one.
            pixel: its edge length on the plate in m, which the published files do not say; ``"height"`` assumes that
                the 100 mm of the plate fill the height of the picture.
            fps: frames per second; 10, or what ``generated.json`` says, if not given.
        """
        known = self.generated or {}
        depth = read_label(file.label)
        frames = _counts(file.data)
        if depth.shape != frames.shape[1:]:
            raise InputError(
                f"{file.label} has {depth.shape[0]} x {depth.shape[1]} pixels, the recording {frames.shape[1]} x "
                f"{frames.shape[2]} (y, x); it belongs to another one, or was scaled."
            )
        notes = [f"The first {BAD_COLUMNS} pixel column, which is not of the plate, was left out."]
        if isinstance(pixel, str):
            one_of("pixel", pixel, ("height",))
            edge = known.get("pixel") or SIDE / depth.shape[0]
            source = "as generated.json says" if "pixel" in known else "ASSUMED: the plate's 100 mm fill the height"
        else:
            edge, source = number("pixel", pixel, above=0), "as given"
        notes.append(f"A pixel shows {1e3 * edge:.4g} mm, {source}; the plate is {1e3 * THICKNESS:g} mm thick.")
        rate = known.get("fps", FPS) if fps is None else fps
        depth = np.ascontiguousarray(depth[:, BAD_COLUMNS:])
        part = Found(
            frames=_without_columns(frames),
            unit="counts",
            facts=Facts(units=Units(length=METRE), defects=KnownDefects(mask=np.isfinite(depth), depth=depth)),
            notes=tuple(notes),
        )
        return assemble(
            file.data, part, Given(fps=number("fps", rate, above=0), pixel=(edge, edge), thickness=THICKNESS)
        )


def _counts(path: Path) -> Pieces:
    """The frames of a recording, still in the file."""
    try:
        places = variables_of(path)
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from None
    if VARIABLE not in places:
        held = ", ".join(places) or "nothing that can be read"
        raise InputError(f"{path} holds {held}, and a recording of this layout {VARIABLE!r} (y, x, t).")
    frames = frames_at(places[VARIABLE], AXES)
    if frames.dtype.kind != "u" or min(frames.shape) < 2:
        raise InputError(
            f"{path}: {VARIABLE} is {frames.dtype} of shape {places[VARIABLE].shape}; a recording has unsigned counts "
            "(y, x, t), uint16 (256, 320, 1810) as published."
        )
    return frames


def _without_columns(frames: Pieces) -> Pieces:
    """The same without the bad columns."""
    t, y, x = frames.shape

    def read(box: Box) -> np.ndarray:
        rows, columns = box[1:]
        first, last, _ = columns.indices(x - BAD_COLUMNS)
        return frames.read((box[0], rows, slice(first + BAD_COLUMNS, last + BAD_COLUMNS)))

    return Pieces((t, y, x - BAD_COLUMNS), frames.dtype, read)


def _read_generated(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
        for name in ("fps", "pixel"):
            number(name, found[name], above=0)
        if not isinstance(found["plates"], dict):
            raise TypeError("'plates' is no table")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged ({error}); generate the folder again, or delete it.") from None
    return found


def _within(root: Path) -> str:
    """What a folder holds instead, in words."""
    if not root.is_dir():
        return ", for there is no such folder"
    names = sorted(entry.name for entry in root.iterdir())[:5]
    return f" (only {', '.join(names)})" if names else ", it is empty"
