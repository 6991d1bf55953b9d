"""From the words of the user to numbers in SI."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.core.storage.arrays import load_array
from nefty.core.units import quantity
from nefty.data.intake.heating_file import heating_of
from nefty.data.intake.known import Known
from nefty.data.preparation.choice import Preparation, preparation
from nefty.data.sequence import Sequence
from nefty.physics.heating_curve import HeatingCurve

Region = tuple[int | None, int | None, int | None, int | None]
READ = ("fps", "times", "units", "variable", "axes", "emissivity", "humidity")  # facts that a reader takes as they are
CHOICES = ("onset", "gain", "dead")  # words that the preparation checks itself


def facts_given(known: Known) -> dict[str, Any]:
    """What ``nefty.read`` shall know."""
    given = known.given()
    facts = {name: given[name] for name in READ if name in given}
    if known.thickness is not None:
        facts["thickness"] = length_of(known.thickness, known.named("thickness"))
    if known.pixel is not None:
        facts["pixel"] = _sides(known.pixel, known.named("pixel"))
    for name, kind in (("reflected", "temperature"), ("atmosphere", "temperature"), ("distance", "length")):
        if name in given:
            facts[name] = _in_si(given[name], kind, known.named(name), at_least=0)
    if known.lookup is not None:
        facts["lookup"] = _array(known.lookup, "lookup table")
    if known.calibration is not None:
        facts["calibration"] = _numbers(known.calibration, 2, known.named("calibration"), "slope,offset")
    return facts


def preparation_given(known: Known, sequence: Sequence, defaults: dict[str, Any] | None = None) -> Preparation:
    """How the recording shall be prepared.

    Args:
        known: what the user said.
        sequence: the recording.
        defaults: for what was not said.
    """
    given, named = known.given(), known.named
    choice: dict[str, Any] = {**(defaults or {}), **{name: given[name] for name in CHOICES if name in given}}
    if "flash_frame" in given:
        choice["flash"] = _count(given["flash_frame"], named("flash_frame"), at_least=0)
    if "ambient" in given:
        choice["ambient"] = _word_or_number(given["ambient"], ("auto", "frames", "pixels", "off"), named("ambient"))
    if "saturation" in given:
        choice["saturation"] = _word_or_number(given["saturation"], ("auto", "off"), named("saturation"))
    for name in ("start", "until"):
        if name in given:
            choice[name] = length_of_time(given[name], named(name))
    for name in ("roi", "drift"):
        if name in given:
            choice[name] = given[name] if _is_word(given[name]) else region(given[name], named(name))
    if "polygon" in given:
        choice["polygon"] = corners(given["polygon"], named("polygon"))
    if "leave_out" in given:
        said = given["leave_out"]
        parts = said.split() if isinstance(said, str) else said
        choice["leave_out"] = tuple(region(part, named("leave_out")) for part in parts)
    if "frames" in given:
        choice["frames"] = "off" if given["frames"] == "off" else _count(given["frames"], named("frames"))
    if "corrupt" in given:
        choice["corrupt"] = given["corrupt"] if _is_word(given["corrupt"]) else _listed(given["corrupt"], known)
    return preparation(**{**choice, **_bin(known, sequence)})


def mask_given(known: Known) -> np.ndarray | None:
    """Pixels (y, x) that count."""
    return None if known.mask is None else _array(known.mask, "mask")


def heating_given(known: Known) -> HeatingCurve | None:
    """The course of the heating; it says how long that lasted, so that the two do not go together."""
    if known.heating is None:
        return None
    if known.pulse is not None:
        one, other = known.named("pulse"), known.named("heating")
        raise InputError(f"{one} and {other} were both given; the curve says how long it lasts, leave out {one}.")
    return heating_of(known.heating, known.named("heating"))


def region(said: Any, name: str) -> Region:
    """``"10:50,-20:"``, or four numbers, as first and one past last row, first and one past last column."""
    ends: list[int | None] = []
    if isinstance(said, str):
        try:
            parts = [part.split(":") for part in said.split(",")]
            ends = [int(end) if end.strip() else None for part in parts for end in part]
        except ValueError:
            parts = []
        if len(parts) != 2 or any(len(part) != 2 for part in parts):
            ends = []
    elif np.shape(said) == (4,):
        ends = [None if end is None else int(end) for end in said]
    if len(ends) != 4:
        raise InputError(f"{name} {said!r} must be rows and columns, first and one past the last: y0:y1,x0:x1.")
    top, bottom, left, right = ends
    return top, bottom, left, right


def corners(said: Any, name: str) -> tuple[tuple[float, float], ...]:
    """``"10,20 10,80 60,50"``, or pairs of numbers, as the corners (y, x) of a polygon in pixels."""
    parts = [part.split(",") for part in said.split()] if isinstance(said, str) else said
    try:
        found = tuple((float(y), float(x)) for y, x in parts)
    except (TypeError, ValueError):
        found = ()
    if len(found) < 3:
        raise InputError(f"{name} {said!r} must be three corners or more, row and column of each: y,x y,x y,x.")
    return found


def length_of(said: str | float, name: str) -> float:
    """``"1.3 mm"``, or metres, in metres; above 0."""
    return _in_si(said, "length", name, above=0)


def length_of_time(said: str | float, name: str) -> float:
    """``"20 ms"``, or seconds, in seconds."""
    return _in_si(said, "time", name, at_least=0)


def diffusivity_of(said: str | float, name: str) -> float:
    """``"4.5e-7 m2/s"``, or a number in m2/s; above 0."""
    return _in_si(said, "diffusivity", name, above=0)


def _in_si(said: Any, kind: str, name: str, **bounds: float) -> float:
    """Text with its unit, or a number in SI units."""
    if isinstance(said, (int, float, np.number)) and not isinstance(said, bool):
        return number(name, said, **bounds)
    return quantity(said, kind, name, **bounds)


def _sides(said: Any, name: str) -> float | list[float]:
    """One length, or two in the order (y, x), in metres."""
    if isinstance(said, str):
        said = said.split(",")
    sides = [length_of(side, name) for side in (said if isinstance(said, (list, tuple, np.ndarray)) else [said])]
    return sides[0] if len(sides) == 1 else sides


def _array(said: Any, what: str) -> np.ndarray:
    return load_array(Path(said), what) if isinstance(said, (str, os.PathLike)) else np.asarray(said)


def _is_word(said: Any) -> bool:
    return isinstance(said, str) and said in ("auto", "off")


def _listed(said: Any, known: Known) -> tuple[int, ...]:
    numbers = said.split(",") if isinstance(said, str) else said
    return tuple(_count(number, known.named("corrupt"), at_least=0) for number in numbers)


def _bin(known: Known, sequence: Sequence) -> dict[str, Any]:
    """``"3"``, ``"0.5 mm"``, ``"auto"`` or ``"off"``."""
    said, name = known.bin, known.named("bin")
    if said is None:
        return {}
    if _is_word(said):
        return {"bin": said}
    if not isinstance(said, str) or said.strip().lstrip("+-").isdigit():
        return {"bin": _count(said, name)}
    length = length_of(said, name)
    return {"bin": "off", "pixel": length} if sequence.size is not None else {}


def _word_or_number(said: Any, words: tuple[str, ...], name: str) -> str | float:
    if said in words:
        return said
    try:
        return float(said)
    except (TypeError, ValueError):
        raise InputError(f"{name} {said!r} must be a number in the values' unit, or {', '.join(words)}.") from None


def _count(said: Any, name: str, *, at_least: int = 1) -> int:
    try:
        found = int(said)
    except (TypeError, ValueError):
        found = at_least - 1
    if found < at_least or (isinstance(said, float) and not said.is_integer()):
        raise InputError(f"{name} {said!r} must be a whole number of at least {at_least}.")
    return found


def _numbers(said: Any, count: int, name: str, form: str) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in (said.split(",") if isinstance(said, str) else said))
    except (TypeError, ValueError):
        found = ()
    if len(found) != count:
        raise InputError(f"{name} {said!r} must be {form}, {count} numbers with a comma between.")
    return found
