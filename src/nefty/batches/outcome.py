"""What is kept of a recording of a batch: what was found in it, or why nothing was."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nefty.core.storage.files import write_atomic
from nefty.result.display_units import in_display_units
from nefty.result.reference_defect import reference_visibility

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction


@dataclass(frozen=True)
class Found:
    """An indication in short; lengths in the outcome's unit, NaN for what is not known.

    Args:
        label: its number in the report.
        depth: to its top.
        depth_low: lower end of the band of that depth.
        depth_high: upper end.
        x: of its centre, from the corner of what was reconstructed.
        y: of its centre.
        row: pixel of the frames as they were read, from 0.
        column: pixel of the frames.
        area: in the square of the unit.
        diameter: of a disc of that area.
        evidence: by how many standard deviations the frames show it.
        level: probability with which each interval holds the truth; NaN where the band of the depth has none.
        diameter_low: lower end of the interval of the diameter.
        diameter_high: upper end.
        resistance: thermal, in m2K/W; of what has no units, time over length.
        resistance_low: lower end of its interval.
        resistance_high: upper end.
    """

    label: int
    depth: float
    depth_low: float
    depth_high: float
    x: float
    y: float
    row: int
    column: int
    area: float
    diameter: float
    evidence: float
    level: float = math.nan
    diameter_low: float = math.nan
    diameter_high: float = math.nan
    resistance: float = math.nan
    resistance_low: float = math.nan
    resistance_high: float = math.nan


@dataclass(frozen=True)
class Seen:
    """What would have been seen: the smallest round defect at a depth that is found with 90 % probability.

    Args:
        what: kind of the defect, in words.
        depth: of it, in the outcome's unit.
        diameter: in the outcome's unit; NaN if none that was asked about is found.
    """

    what: str
    depth: float
    diameter: float


@dataclass(frozen=True)
class Outcome:
    """What became of a recording.

    Args:
        name: of the recording, from the root of the batch.
        key: hash of all that decides it: the file, what is known of it, the recipe, the code.
        reason: why there is no result; empty if there is one.
        lasting: whether it would fail again as long as its key is the same.
        cut_short: whether the run can go on: the clock or Ctrl-C ended it.
        worked: whether the last visit computed something; else the result was there.
        seconds: that the work took, reading and report included.
        level: of the verdict, in a word.
        verdict: in words.
        indications: what was found.
        seen: what would have been seen, had it been there; empty if that was not worked out.
        unit: of lengths.
        visible: by how many standard errors a plain defect at half the depth would stand out; NaN if not known.
        misfit: mean squared residual over noise^2; NaN if not known.
        threshold: of the evidence, in standard deviations; NaN if none was weighed.
        part: as recorded.
        serial: as recorded.
    """

    name: str
    key: str
    reason: str = ""
    lasting: bool = False
    cut_short: bool = False
    worked: bool = False
    seconds: float = 0.0
    level: str = ""
    verdict: str = ""
    indications: tuple[Found, ...] = ()
    seen: tuple[Seen, ...] = ()
    unit: str = ""
    visible: float = math.nan
    misfit: float = math.nan
    threshold: float = math.nan
    part: str = ""
    serial: str = ""

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do, as long as the key is the same."""
        return self.lasting if self.reason else not self.cut_short

    def as_dict(self) -> dict[str, Any]:
        """As plain values; NaN as ``None``."""
        return _finite(dataclasses.asdict(self))

    def save(self, path: Path) -> Path:
        """Write it as JSON."""
        return write_atomic(path, json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n")

    @staticmethod
    def load(path: Path) -> Outcome | None:
        """Read what ``save`` wrote; ``None`` if there is none, or it cannot be read."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            found = tuple(Found(**_known(one)) for one in values.pop("indications"))
            seen = tuple(Seen(**_known(one)) for one in values.pop("seen", ()))
            return Outcome(**_known(values), indications=found, seen=seen)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None


def outcome_of(rec: Reconstruction, name: str, key: str, *, seconds: float, worked: bool) -> Outcome:
    """What is kept of a result; lengths in mm where the grid is in metres."""
    shown = in_display_units(rec)
    verdict, weighed, record = rec.verdict(), rec.frame_evidence, rec.facts.record
    plain = reference_visibility(rec)
    found = [
        Found(
            label=one.label,
            depth=one.depth_to_top,
            depth_low=its.depth_low,
            depth_high=its.depth_high,
            x=one.centre[2],
            y=one.centre[1],
            row=its.row,
            column=its.column,
            area=one.area,
            diameter=one.diameter,
            evidence=one.evidence,
            level=its.level,
            diameter_low=its.diameter_low,
            diameter_high=its.diameter_high,
            resistance=one.resistance,
            resistance_low=its.resistance_low,
            resistance_high=its.resistance_high,
        )
        for one, its in zip(shown.indications(), shown.evidence(), strict=True)
    ]
    return Outcome(
        name=name,
        key=key,
        cut_short=rec.stopped.cut_short,
        worked=worked,
        seconds=seconds,
        level=str(verdict.level),
        verdict=verdict.text,
        indications=tuple(found),
        seen=_seen(shown),
        unit=shown.unit("length"),
        visible=math.nan if plain is None else plain,
        misfit=math.nan if rec.misfit is None else rec.misfit,
        threshold=math.nan if weighed is None else weighed.threshold,
        part="" if record is None else record.part,
        serial="" if record is None else record.serial,
    )


def _seen(rec: Reconstruction) -> tuple[Seen, ...]:
    limits = None if rec.frame_evidence is None else rec.frame_evidence.limits
    if limits is None:
        return ()
    return tuple(
        Seen(name, float(depth), float(diameter))
        for name, own in zip(limits.names, limits.diameters, strict=True)
        for depth, diameter in zip(limits.depths, own, strict=True)
    )


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value


def _known(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a dataclass, ``None`` as NaN."""
    return {name: math.nan if value is None else value for name, value in values.items()}
