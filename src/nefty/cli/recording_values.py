"""From the words of the command line to numbers in SI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nefty.cli.recording_options import RecordingOptions

if TYPE_CHECKING:
    from nefty.data.preparation.choice import Preparation
    from nefty.data.sequence import Sequence

Region = tuple[int | None, int | None, int | None, int | None]
CHOICES = ("onset", "gain", "dead")  # words that the preparation checks itself


def facts_given(options: RecordingOptions) -> dict[str, Any]:
    """What ``nefty.load`` shall know."""
    from nefty.cli.run_files import load_array
    from nefty.core.units import quantity

    given = options.given()
    facts = {name: given[name] for name in ("fps", "units", "variable", "axes") if name in given}
    if options.thickness is not None:
        facts["thickness"] = quantity(options.thickness, "length", "--thickness", above=0)
    if options.pixel is not None:
        sides = [quantity(side, "length", "--pixel", above=0) for side in options.pixel.split(",")]
        facts["pixel"] = sides[0] if len(sides) == 1 else sides
    if options.lookup is not None:
        facts["lookup"] = load_array(options.lookup, "lookup table")
    if options.calibration is not None:
        facts["calibration"] = _numbers(options.calibration, 2, "--calibration", "slope,offset")
    return facts


def preparation_given(
    options: RecordingOptions, sequence: Sequence, defaults: dict[str, Any] | None = None
) -> Preparation:
    """How the recording shall be prepared.

    Args:
        options: of the command line.
        sequence: the recording.
        defaults: for what is not given.
    """
    from nefty.core.errors import InputError
    from nefty.data.preparation.choice import preparation

    given = options.given()
    choice: dict[str, Any] = {**(defaults or {}), **{name: given[name] for name in CHOICES if name in given}}
    if "flash_frame" in given:
        choice["flash"] = given["flash_frame"]
        if given["flash_frame"] < 0:
            raise InputError(f"--flash-frame {given['flash_frame']} must be a frame's number, from 0 on.")
    if "ambient" in given:
        choice["ambient"] = _word_or_number(given["ambient"], ("auto", "frames", "pixels", "off"), "--ambient")
    if "saturation" in given:
        choice["saturation"] = _word_or_number(given["saturation"], ("auto", "off"), "--saturation")
    for name in ("start", "until"):
        if name in given:
            choice[name] = length_of_time(given[name], f"--{name}")
    for name in ("roi", "drift"):
        if name in given:
            choice[name] = given[name] if given[name] in ("auto", "off") else region(given[name], f"--{name}")
    if "frames" in given:
        choice["frames"] = "off" if given["frames"] == "off" else _count(given["frames"], "--frames")
    if "corrupt" in given and given["corrupt"] not in ("auto", "off"):
        choice["corrupt"] = tuple(_count(n, "--corrupt", at_least=0) for n in given["corrupt"].split(","))
    elif "corrupt" in given:
        choice["corrupt"] = given["corrupt"]
    return preparation(**{**choice, **_bin(given.get("bin"), sequence)})


def region(text: str, option: str) -> Region:
    """``"10:50,-20:"`` as first and one past last row, first and one past last column."""
    from nefty.core.errors import InputError

    try:
        ends = [int(end) if end.strip() else None for part in text.split(",") for end in part.split(":", 1)]
    except ValueError:
        ends = []
    if len(ends) != 4 or text.count(":") != 2 or text.count(",") != 1:
        raise InputError(f"{option} {text!r} must be rows and columns, first and one past the last: y0:y1,x0:x1.")
    top, bottom, left, right = ends
    return top, bottom, left, right


def length_of_time(text: str, option: str) -> float:
    """``"20 ms"`` in seconds."""
    from nefty.core.units import quantity

    return quantity(text, "time", option, at_least=0)


def _bin(text: str | None, sequence: Sequence) -> dict[str, Any]:
    """``"3"``, ``"0.5 mm"``, ``"auto"`` or ``"off"``."""
    from nefty.core.units import quantity

    if text is None:
        return {}
    if text in ("auto", "off"):
        return {"bin": text}
    if text.strip().lstrip("+-").isdigit():
        return {"bin": _count(text, "--bin")}
    length = quantity(text, "length", "--bin", above=0)
    return {"bin": "off", "pixel": length} if sequence.size is not None else {}


def _word_or_number(text: str, words: tuple[str, ...], option: str) -> str | float:
    from nefty.core.errors import InputError

    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"{option} {text!r} must be a number in the unit of the values, or {', '.join(words)}."
        ) from None


def _count(text: str, option: str, *, at_least: int = 1) -> int:
    from nefty.core.errors import InputError

    try:
        found = int(text)
    except ValueError:
        found = -1
    if found < at_least:
        raise InputError(f"{option} {text!r} must be a whole number of at least {at_least}.")
    return found


def _numbers(text: str, count: int, option: str, form: str) -> tuple[float, ...]:
    from nefty.core.errors import InputError

    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if len(found) != count:
        raise InputError(f"{option} {text!r} must be {form}, {count} numbers with a comma between.")
    return found
