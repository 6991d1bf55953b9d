"""Physical quantities as people write them, to SI numbers: ``quantity("0.45 mm²/s", "diffusivity")`` is 4.5e-7.

For the border (command line, files) alone; inside the library everything is a plain number in the units of the grid.
A number without a unit is refused, for nobody can see whether 1.3 means millimetres or metres.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from nefty.core.checks import number, one_of
from nefty.core.errors import InputError


@dataclass(frozen=True)
class Kind:
    """A dimension and its units.

    Args:
        words: what a message calls it.
        example: of a quantity.
        units: SI value of one of each, as a decimal so that "1.3 mm" is 0.0013 to the last digit. The first is SI's.
        offsets: to add before the factor, of scales that do not start at zero.
    """

    words: str
    example: str
    units: dict[str, str]
    offsets: dict[str, str]


def _kind(words: str, example: str, offsets: dict[str, str] | None = None, /, **units: str) -> Kind:
    return Kind(words, example, units, offsets or {})


FIVE_NINTHS = str(Decimal(5) / Decimal(9))

#: What can be asked for. Units are spelled as ``_plain`` leaves them: no spaces, powers without sign, u for micro.
KINDS: dict[str, Kind] = {
    "length": _kind("a length", "1.3 mm", m="1", cm="1e-2", mm="1e-3", um="1e-6", nm="1e-9", **{"in": "0.0254"}),
    "time": _kind("a time", "20 ms", s="1", ms="1e-3", us="1e-6", min="60", h="3600"),
    "frequency": _kind("a frequency", "10 Hz", **{"Hz": "1", "kHz": "1e3", "mHz": "1e-3", "fps": "1"}),
    "diffusivity": _kind("a diffusivity", "4.5e-7 m2/s", **{"m2/s": "1", "cm2/s": "1e-4", "mm2/s": "1e-6"}),
    "temperature": _kind(
        "a temperature",
        "30 °C",
        {"°C": "273.15", "°F": "459.67"},
        **{"K": "1", "°C": "1", "°F": FIVE_NINTHS},
    ),
    "temperature difference": _kind(
        "a difference of temperatures", "30 mK", **{"K": "1", "mK": "1e-3", "°C": "1", "°F": FIVE_NINTHS}
    ),
    "heat-transfer coefficient": _kind(
        "a heat-transfer coefficient", "5 W/m2K", **{"W/m2K": "1", "mW/m2K": "1e-3", "kW/m2K": "1e3"}
    ),
    "energy": _kind("an energy", "6 kJ", J="1", kJ="1e3", MJ="1e6", Wh="3600"),
    "conductivity": _kind("a conductivity", "0.16 W/mK", **{"W/mK": "1", "mW/mK": "1e-3"}),
    "density": _kind("a density", "1600 kg/m3", **{"kg/m3": "1", "g/cm3": "1e3"}),
    "specific heat": _kind("a specific heat", "1200 J/kgK", **{"J/kgK": "1", "kJ/kgK": "1e3", "J/gK": "1e3"}),
}

#: Other spellings, after ``_plain``.
SAME = {
    "1/s": "Hz",
    "/s": "Hz",
    "s-1": "Hz",
    "m2s-1": "m2/s",
    "cm2s-1": "cm2/s",
    "mm2s-1": "mm2/s",
    "C": "°C",
    "degC": "°C",
    "℃": "°C",
    "F": "°F",
    "degF": "°F",
    "℉": "°F",
    "W/m2/K": "W/m2K",
    "Wm-2K-1": "W/m2K",
    "W/m/K": "W/mK",
    "Wm-1K-1": "W/mK",
    "J/kg/K": "J/kgK",
    "kgm-3": "kg/m3",
    "sec": "s",
    "inch": "in",
    '"': "in",
}

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
LOOK_ALIKES = str.maketrans({"²": "2", "³": "3", "⁻": "-", "¹": "1", "−": "-", "µ": "u", "μ": "u", "º": "°"})


def quantity(
    given: Any, kind: str, what: str = "value", *, above: float | None = None, at_least: float | None = None
) -> float:
    """The SI value of a text such as ``"1.3 mm"``.

    Args:
        given: a number and a unit.
        kind: what is expected, one of ``KINDS``.
        what: the name of the value, for messages.
        above: exclusive lower bound, in SI.
        at_least: inclusive lower bound, in SI.
    """
    expected = KINDS[one_of("kind", kind, KINDS)]
    value, unit = _split(given, expected, what)
    name = SAME.get(unit, unit)
    if name not in expected.units:
        raise InputError(f"{what}={given!r} {_why_not(unit, expected)}")
    si = float((value + Decimal(expected.offsets.get(name, "0"))) * Decimal(expected.units[name]))
    if kind == "temperature" and si < 0:
        raise InputError(f"{what}={given!r} lies below absolute zero; check its sign and its unit.")
    return number(what, si, above=above, at_least=at_least)


def written(value: float, kind: str, unit: str) -> str:
    """An SI value as text in a unit, which ``quantity`` reads back: ``written(0.0013, "length", "mm")`` is "1.3 mm"."""
    expected = KINDS[one_of("kind", kind, KINDS)]
    name = SAME.get(_plain(unit), _plain(unit))
    if name not in expected.units:
        raise InputError(f"unit={unit!r} {_why_not(_plain(unit), expected)}")
    in_unit = Decimal(repr(number("value", value))) / Decimal(expected.units[name])
    return f"{float(in_unit - Decimal(expected.offsets.get(name, '0')))!r} {name}"


def _split(given: Any, expected: Kind, what: str) -> tuple[Decimal, str]:
    """Number and plain unit of a text."""
    remedy = f"write {expected.words} such as {expected.example!r}, in {', '.join(expected.units)}."
    if not isinstance(given, str):
        has_no_unit = isinstance(given, (int, float)) and not isinstance(given, bool)
        raise InputError(f"{what}={given!r} {'has no unit' if has_no_unit else 'is not a text'}; {remedy}")
    text = given.strip().translate(LOOK_ALIKES)
    match = NUMBER.match(text)
    if match is None:
        raise InputError(f"{what}={given!r} does not start with a number; {remedy}")
    rest = text[match.end() :]
    if re.match(r",\d", rest):
        raise InputError(f"{what}={given!r} has a comma; write a decimal point; {remedy}")
    if re.match(r"[\d.eE+-]*$", rest):
        raise InputError(f"{what}={given!r} {'is not a number' if rest else 'has no unit'}; {remedy}")
    if not math.isfinite(float(match.group())):
        raise InputError(f"{what}={given!r} is too large for a number; {remedy}")
    return Decimal(match.group()), _plain(rest)


def _plain(unit: str) -> str:
    """A unit without what people write differently: W/(m² K), W/(m^2·K) and W/m**2*K are all W/m2K."""
    return re.sub(r"[\s()*^·⋅×]", "", unit.translate(LOOK_ALIKES))


def _why_not(unit: str, expected: Kind) -> str:
    """Why a unit does not fit: it is of another kind, or unknown, with the nearest that is known."""
    name = SAME.get(unit, unit)
    remedy = f"expected {expected.words} in {', '.join(expected.units)}"
    other = next((k for k in KINDS.values() if name in k.units), None)
    if other is not None:
        return f"is {other.words}; {remedy}, such as {expected.example!r}."
    by_lower = {u.lower(): u for u in expected.units}
    nearest = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    hint = f" Did you mean {by_lower[nearest[0]]!r}?" if nearest else ""
    return f"has an unknown unit {unit!r}; {remedy}.{hint}"
