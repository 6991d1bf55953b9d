"""What a look at a recording found: written by the process that looks, read by the pages."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from nefty.core.errors import InputError


@dataclass(frozen=True)
class Told:
    """A step of the preparation, or a fact in words.

    Args:
        name: of it.
        text: what was found or done.
        assumed: whether it was taken for granted.
    """

    name: str
    text: str
    assumed: bool = False


@dataclass(frozen=True)
class Lacking:
    """A fact that a reconstruction would ask for.

    Args:
        name: of the fact.
        what: in words.
        example: of its value.
    """

    name: str
    what: str
    example: str


@dataclass(frozen=True)
class Account:
    """All that pages show of a recording besides its pictures; lengths in m where ``in_metres``.

    Args:
        shape: frames, rows, columns of the file.
        summary: names and values, as ``nefty inspect`` prints them.
        steps: of the preparation.
        missing: what a reconstruction would ask for.
        complete: whether the recording says everything itself, so that facts of the part are refused.
        in_metres: whether lengths are metres.
        time_unit: word for the unit of times.
        temperature_unit: word for the unit of values.
        numbers: of the frames that were kept as pictures.
        times: of these, from the flash.
        coarse: pixels of the file along each side of one of a picture.
        limits: of the colours that suit all pictures.
        region: rows and columns (y0, y1, x0, x1) of the file that are used.
        suggested: the same of the part's outline; None if it fills the picture.
        bin: pixels of the file along each side of one that is prepared.
        thickness: of the part; None if not known.
        pixel: edge lengths (y, x) of a pixel of the file; None if not known.
        alpha: diffusivity through the thickness; None if not known.
        material: its name; empty if not known.
        prepared_times: of the prepared frames.
    """

    shape: tuple[int, int, int]
    summary: tuple[Told, ...]
    steps: tuple[Told, ...]
    missing: tuple[Lacking, ...]
    complete: bool
    in_metres: bool
    time_unit: str
    temperature_unit: str
    numbers: tuple[int, ...]
    times: tuple[float, ...]
    coarse: int
    limits: tuple[float, float]
    region: tuple[int, int, int, int]
    suggested: tuple[int, int, int, int] | None
    bin: int
    thickness: float | None
    pixel: tuple[float, float] | None
    alpha: float | None
    material: str
    prepared_times: tuple[float, ...]

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def of(text: str | bytes) -> Account:
        """What ``text`` made."""
        try:
            values: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()
            }
            for name in ("summary", "steps"):
                values[name] = tuple(Told(**one) for one in values[name])
            values["missing"] = tuple(Lacking(**one) for one in values["missing"])
            return Account(**values)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise InputError(f"the account of a recording cannot be read ({error}); open it again.") from None
