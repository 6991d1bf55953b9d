"""One refit: what it found, as a small file that is there whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import read_hdf5, write_hdf5

KIND = "ensemble member"


@dataclass(frozen=True, eq=False)
class MovedSheet:
    """A region of the first fit as a member has it; lengths and times in the units of the recording.

    Args:
        depth: of the sheet.
        insulation: R/(R + z/alpha), 0 to 1.
        resistance: R, time/length.
        covered: share of each pixel (y, x) of the window that it covers.
        window: first and one past the last row and column of the frame, (4,).
        hole: whether it is open to the back.
    """

    depth: float
    insulation: float
    resistance: float
    covered: np.ndarray
    window: np.ndarray
    hole: bool

    @property
    def rows_and_columns(self) -> tuple[slice, slice]:
        """The window as slices."""
        top, bottom, left, right = (int(n) for n in self.window)
        return slice(top, bottom), slice(left, right)


@dataclass(frozen=True, eq=False)
class Member:
    """A refit.

    Args:
        number: from 0.
        background: diffusivity of the layers, (z,).
        thickness: of the part, as this member was told.
        misfit: mean square of what is left over its spread.
        sheets: of the regions that are called, in the order of the report; ``None`` for a volume.
        volume: diffusivity (z, y, x), float32; ``None`` for sheets.
    """

    number: int
    background: np.ndarray
    thickness: float
    misfit: float
    sheets: tuple[MovedSheet, ...] | None = None
    volume: np.ndarray | None = None

    def save(self, path: Path, of: str) -> None:
        """Write it, with the hash ``of`` what decides it."""
        sheets = None if self.sheets is None else {f"{i}": vars(one).copy() for i, one in enumerate(self.sheets)}
        write_hdf5(path, {**vars(self), "sheets": sheets, "of": of}, kind=KIND)

    @staticmethod
    def load(path: Path, of: str) -> Member | None:
        """Read it; ``None`` if it is not there, damaged, or of another run."""
        try:
            found = read_hdf5(path, kind=KIND)
            return None if found.pop("of") != of else _member(found)
        except (InputError, KeyError, TypeError, ValueError):
            return None


def _member(values: Mapping[str, Any]) -> Member:
    sheets = values["sheets"]
    kept = None if sheets is None else tuple(MovedSheet(**sheets[key]) for key in sorted(sheets, key=int))
    return Member(**{**values, "sheets": kept})
