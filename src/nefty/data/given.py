"""What the user knows of a recording and its file may not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.checks import count, number, one_of
from nefty.core.errors import InputError, unknown_name

UNITS = ("counts", "K", "C")
AXES = ("tyx", "yxt", "txy", "xyt")
SCENE = ("emissivity", "reflected", "atmosphere", "humidity", "distance")


class MissingTimesError(InputError):
    """A file does not say when its frames were taken, and nobody else did."""


@dataclass(frozen=True, eq=False)
class Given:
    """Facts given to ``load``; what a reader gets besides the path. ``None`` stands for what is not known.

    Args:
        fps: frames per second.
        times: of the frames, in seconds; instead of ``fps``.
        pixel: edge length of the patch that a pixel shows, or two of them, (y, x).
        thickness: of the part, in the same unit.
        units: of the values, ``"counts"``, ``"K"`` or ``"C"``; after ``lookup`` or ``calibration`` of their results.
        flash_frame: number, from 0, of the frame in which the flash falls. Times count from it, and the median of the
            frames before it is the ambient temperature.
        variable: name of the array in the file, such as ``"SimResult.Tdata"``.
        axes: order of the array's axes, such as ``"yxt"``.
        lookup: temperature of each count, the first of count 0.
        calibration: (slope, offset): the temperature is slope x count + offset.
        emissivity: of the part, where the file holds the camera's constants; instead of the file's.
        reflected: temperature that the part reflects, in K; the same.
        atmosphere: temperature of the air, in K; the same.
        humidity: of the air, 0 to 1; the same.
        distance: from the part to the camera, in m; the same.
        absolute: keep the values as the file has them, instead of rises above ambient.
        scratch: folder for a nameless file that holds the frames, instead of memory.
    """

    fps: float | None = None
    times: np.ndarray | None = None
    pixel: tuple[float, float] | None = None
    thickness: float | None = None
    units: str | None = None
    flash_frame: int | None = None
    variable: str | None = None
    axes: str | None = None
    lookup: np.ndarray | None = None
    calibration: tuple[float, float] | None = None
    emissivity: float | None = None
    reflected: float | None = None
    atmosphere: float | None = None
    humidity: float | None = None
    distance: float | None = None
    absolute: bool | None = None
    scratch: Path | None = None

    @staticmethod
    def of(facts: Mapping[str, Any]) -> Given:
        """Facts by name, checked; an unknown name is an error."""
        names = [f.name for f in fields(Given)]
        for name in facts:
            if name not in names:
                raise unknown_name("the fact", name, names)
        known = {name: CHECKS[name](value) for name, value in facts.items() if value is not None}
        for one, other in (("fps", "times"), ("lookup", "calibration")):
            if one in known and other in known:
                raise InputError(f"{one} and {other} were both given; leave one of them out.")
        if known.get("units") == "counts" and {"lookup", "calibration"} & known.keys():
            raise InputError('units="counts" cannot be with a lookup or calibration; name the unit of their results.')
        scene = [name for name in SCENE if name in known]
        instead = [name for name in ("lookup", "calibration") if name in known]
        if scene and (instead or known.get("units") == "counts"):
            other = instead[0] if instead else 'units="counts"'
            raise InputError(f"{scene[0]} cannot be with {other}, which leaves out the camera's constants.")
        return Given(**known)

    def scene(self) -> dict[str, float]:
        """What was given of the scene, by name."""
        return {name: getattr(self, name) for name in SCENE if getattr(self, name) is not None}

    def names(self) -> list[str]:
        """The facts that were given."""
        return [f.name for f in fields(self) if getattr(self, f.name) is not None]


def _pixel(given: Any) -> tuple[float, float]:
    both = given if np.ndim(given) else (given, given)
    if np.shape(both) != (2,):
        raise InputError(f"pixel={given!r} must be one length, or two in the order (y, x).")
    return number("pixel along y", both[0], above=0), number("pixel along x", both[1], above=0)


def _lookup(given: Any) -> np.ndarray:
    try:
        table = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("lookup must be numbers, the temperature of each count from 0 on.") from None
    if table.ndim != 1 or not table.size or not np.isfinite(table).all():
        raise InputError(f"lookup has shape {table.shape}; it must be a list of finite temperatures, one per count.")
    return table


def _calibration(given: Any) -> tuple[float, float]:
    if np.shape(given) != (2,):
        raise InputError(f"calibration={given!r} must be two numbers, (slope, offset).")
    slope, offset = number("the slope of the calibration", given[0]), number("its offset", given[1])
    if slope == 0:
        raise InputError("the slope of the calibration is 0, so that all temperatures were equal.")
    return slope, offset


def _share(name: str, given: Any, *, zero: bool = False) -> float:
    bound = {"at_least": 0.0} if zero else {"above": 0.0}
    found = number(name, given, **bound)
    if found > 1:
        raise InputError(f"{name}={found:g} must be at most 1; a share of 95 % is 0.95.")
    return found


def _variable(given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise InputError(f"variable={given!r} must be the name of an array in the file.")
    return given


CHECKS = {
    "fps": lambda given: number("fps", given, above=0),
    "times": lambda given: np.asarray(given),  # checked with the frames
    "pixel": _pixel,
    "thickness": lambda given: number("thickness", given, above=0),
    "units": lambda given: one_of("units", given, UNITS),
    "flash_frame": lambda given: count("flash_frame", given, at_least=0),
    "variable": _variable,
    "axes": lambda given: one_of("axes", given, AXES),
    "lookup": _lookup,
    "calibration": _calibration,
    "emissivity": lambda given: _share("emissivity", given),
    "reflected": lambda given: number("reflected", given, above=0),
    "atmosphere": lambda given: number("atmosphere", given, above=0),
    "humidity": lambda given: _share("humidity", given, zero=True),
    "distance": lambda given: number("distance", given, at_least=0),
    "absolute": bool,
    "scratch": Path,
}
