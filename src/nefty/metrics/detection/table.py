"""The table behind a probability of detection: known defects, whether each was found, how strong its signal is."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.metrics.csv_columns import number_in, read_columns
from nefty.metrics.detection.false_calls import FalseCalls
from nefty.metrics.known_defects import KnownDefect, known_defects
from nefty.metrics.pairing import paired
from nefty.result.display_units import display_units
from nefty.result.indications.detection_image import front_frames, heating, visibility
from nefty.result.indications.surroundings import around_mask
from nefty.result.reconstruction import Reconstruction

YES, NO = ("1", "true", "yes", "hit", "found"), ("0", "false", "no", "miss", "missed")


@dataclass(frozen=True)
class Target:
    """One known defect in one run.

    Args:
        size: what the POD is a function of; the diameter of the disc with the same area, where it comes from a run.
        detected: whether it was found; ``None`` if only its signal is known.
        signal: its strength; the CNR of its pixels in their best detection image, where it comes from a run.
        depth: of its top; NaN if it is not known.
        found_depth: of the indication there; NaN if there is none.
        run: where it was.
        score: by how much the indication there stands out; NaN if there is none, or it has no score.
    """

    size: float
    detected: bool | None = None
    signal: float = math.nan
    depth: float = math.nan
    found_depth: float = math.nan
    run: str = ""
    score: float = math.nan


@dataclass(frozen=True)
class SoundPlace:
    """A place without a defect.

    Args:
        detected: whether it was called, falsely; ``None`` if only its signal is known.
        signal: its strength, as of targets; NaN if it is not known.
        run: where it was.
        score: by how much the indication there stands out; NaN if there is none, or it has no score.
    """

    detected: bool | None = None
    signal: float = math.nan
    run: str = ""
    score: float = math.nan


@dataclass(frozen=True)
class DetectionTable:
    """Targets, and what was found beside them.

    Args:
        targets: one row each.
        unit: of the sizes and depths; empty if it is not known.
        sound: places without a defect that were looked at, all false calls among them; empty if nobody counted those.
        parts: that all of this is of; ``None`` if that is not known.
    """

    targets: tuple[Target, ...]
    unit: str = ""
    sound: tuple[SoundPlace, ...] = ()
    parts: int | None = None

    def false_calls(self, threshold: float | None = None) -> FalseCalls | None:
        """False calls per part, or per sound place where parts are not known; ``None`` if they were not measured.

        Args:
            threshold: a sound place with a signal above it is a false call; what the table says if not given.
        """
        calls = [place.detected if threshold is None else _exceeds(place.signal, threshold) for place in self.sound]
        if not calls or any(call is None for call in calls):
            return None
        count = sum(map(bool, calls))
        return FalseCalls(count, self.parts) if self.parts else FalseCalls(count, len(calls), "sound place")

    @property
    def sizes(self) -> np.ndarray:
        """Of all targets."""
        return np.array([target.size for target in self.targets])

    @property
    def hits(self) -> np.ndarray:
        """Whether each was found."""
        unknown = [i for i, target in enumerate(self.targets) if target.detected is None]
        if unknown:
            raise InputError(
                f"target {unknown[0] + 1} does not say whether it was found; give a column detected, or a threshold "
                "for its signal."
            )
        return np.array([bool(target.detected) for target in self.targets])

    @property
    def signals(self) -> np.ndarray:
        """Of all targets."""
        unknown = [i for i, target in enumerate(self.targets) if math.isnan(target.signal)]
        if unknown:
            raise InputError(
                f"target {unknown[0] + 1} has no signal; give a column signal for all targets, or leave out the "
                "threshold."
            )
        return np.array([target.signal for target in self.targets])


def targets_of(rec: Reconstruction, run: str = "", known: Sequence[KnownDefect] | None = None) -> DetectionTable:
    """The targets of one run, sizes and depths in the units that are shown.

    A known defect is found if an indication is its partner: their centres are no further apart than half the sum of
    their diameters, and each has one partner at most.

    Args:
        rec: the reconstruction.
        run: its name.
        known: the defects of the part; what the reconstruction itself knows if not given.
    """
    known = known_defects(rec) if known is None else known
    length, found = display_units(rec.facts.units).length, rec.segmentation()
    frames, heated = front_frames(rec.measured), heating(front_frames(rec.fitted))
    occupied = np.any([found.footprint, *(k.footprint for k in known)], axis=0)
    pairs = paired(rec.defects(), list(known))
    partner = {id(true): defect for defect, true in pairs if true is not None}
    targets = []
    for true in known:
        seen = visibility(frames, heated, around_mask(true.footprint, occupied, rec.grid, periodic=found.periodic))
        defect = partner[id(true)]
        targets.append(
            Target(
                size=length(true.diameter),
                detected=defect is not None,
                signal=seen.cnr if seen else math.nan,
                depth=length(true.depth),
                found_depth=length(defect.depth_to_top) if defect else math.nan,
                run=run,
                score=defect.evidence if defect else math.nan,
            )
        )
    false = [SoundPlace(True, run=run, score=defect.evidence) for defect, true in pairs if defect and true is None]
    return DetectionTable(tuple(targets), length.word, tuple(false) or (SoundPlace(False, run=run),), 1)


def joined(tables: Sequence[DetectionTable]) -> DetectionTable:
    """Several tables as one; their units must agree."""
    if not tables:
        raise InputError("there are no targets; give runs or a table.")
    units = {table.unit for table in tables}
    if len(units) > 1:
        raise InputError(f"the tables are in different units, {' and '.join(sorted(map(repr, units)))}; convert one.")
    targets = tuple(target for table in tables for target in table.targets)
    counted = all(table.sound for table in tables)
    sound = tuple(place for table in tables for place in table.sound) if counted else ()
    parts = [table.parts for table in tables if table.parts]
    return DetectionTable(targets, units.pop(), sound, sum(parts) if len(parts) == len(tables) else None)


def table_csv(table: DetectionTable) -> str:
    """A table as CSV, which ``read_table`` reads."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    names = [field.name for field in fields(Target)]
    unit = f" ({table.unit})" if table.unit else ""
    rows.writerow(name + unit * (name in ("size", "depth", "found_depth")) for name in names)
    for row in (*table.targets, *table.sound):
        rows.writerow(_cell(getattr(row, name, None)) for name in names)
    return text.getvalue()


def read_table(path: str | os.PathLike[str]) -> DetectionTable:
    """Read a CSV table: a column ``size``, with its unit in brackets, and ``detected`` (0 or 1) or ``signal``, or both.

    Rows without a size are places without a defect: called there is a false call. Where every row has the name of its
    ``run``, the runs are the parts. Other columns are ``depth``, ``found_depth`` and ``score``; more are ignored.
    """
    path = Path(path)
    rows, columns, unit = read_columns(path)
    if "size" not in columns or not {"detected", "signal"} & set(columns):
        raise InputError(
            f"{path} has the columns {', '.join(columns) or 'none'}; a table of targets needs size, and detected "
            "(0 or 1) or signal."
        )
    targets, sound = [], []
    for line, row in rows:
        numbers = {
            name: number_in(path, line, name, row[name], empty=math.nan)
            for name in ("size", "signal", "depth", "found_depth", "score")
            if name in row
        }
        word = row.get("detected", "").lower()
        if word and word not in (*YES, *NO):
            raise InputError(f"{path}, line {line}: detected={word!r} must be 0 (missed) or 1 (found).")
        detected, run = None if not word else word in YES, row.get("run", "")
        if math.isnan(numbers["size"]):
            place = {name: value for name, value in numbers.items() if name in ("signal", "score")}
            sound.append(SoundPlace(detected, run=run, **place))
        else:
            targets.append(Target(detected=detected, run=run, **numbers))
    names = [row.run for row in (*targets, *sound)]
    return DetectionTable(tuple(targets), unit, tuple(sound), len(set(names)) if sound and all(names) else None)


def _exceeds(signal: float, threshold: float) -> bool | None:
    return None if math.isnan(signal) else signal > threshold


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(int(value)) if isinstance(value, bool) else f"{value:.9g}" if isinstance(value, float) else str(value)
