"""What both versions of MATLAB's files have in common: which variable holds the frames, and what stands beside it.

Files of COMSOL simulations for pyThermoNDT hold a struct with ``Tdata`` (y, x, t), ``Time``, ``LookUpTable``,
``ExcitationSignal``, ``ComsolParameters`` and ``GroundTruth.DefectMask``; they are read as its HDF5 files are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nefty.data.assemble import assemble
from nefty.data.given import Given
from nefty.data.readers.numpy_arrays import chosen
from nefty.data.readers.pieces import Pieces
from nefty.data.readers.thermo_hdf5 import pulsed
from nefty.data.sequence import Sequence

AXES = "yxt"


@dataclass(frozen=True)
class Variables:
    """The arrays of numbers in a file of MATLAB.

    Args:
        shapes: as MATLAB shows them, by name; those within a struct as ``struct.field``.
        pieces: the frames of one array, by its name and the order of its axes.
        array: all of one array, as MATLAB shows it.
        rows: the rows of a cell array, for ``ComsolParameters``; empty if there is none of that name.
    """

    shapes: dict[str, tuple[int, ...]]
    pieces: Callable[[str, str], Pieces]
    array: Callable[[str], np.ndarray]
    rows: Callable[[str], list[list[object]]]


def recording(path: Path, variables: Variables, given: Given) -> Sequence:
    """The recording in a file of MATLAB."""
    if given.variable is not None:
        given = dataclasses.replace(given, variable=given.variable.strip("/").replace("/", "."))
    name = chosen(path, variables.shapes, given)
    axes = given.axes or AXES
    notes = [f"The frames are the variable {name!r}."]
    if not given.axes:
        notes.append(f"The axes were taken in the order {axes}; give axes=... if that is wrong.")
    struct = name.rpartition(".")[0]

    def beside(field: str) -> np.ndarray | None:
        whole = f"{struct}.{field}" if struct else field
        return variables.array(whole) if whole in variables.shapes else None

    simulated = name.endswith("Tdata") and beside("Time") is not None
    found = pulsed(
        path,
        variables.pieces(name, axes),
        times=beside("Time") if simulated else None,
        lookup=beside("LookUpTable") if simulated else None,
        signal=beside("ExcitationSignal") if simulated else None,
        defects=beside("GroundTruth.DefectMask") if simulated else None,
        table=variables.rows(f"{struct}.ComsolParameters") if simulated else None,
        notes=tuple(notes),
    )
    return assemble(path, found, given)
