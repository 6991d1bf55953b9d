"""A reconstruction as files for other programs: HDF5, NPZ, VTK image data, CSV.

Every file is written whole or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.core.checks import one_of
from nefty.core.errors import InputError
from nefty.core.files import write_atomic
from nefty.core.hdf5 import write_hdf5
from nefty.result.segmentation import Rule
from nefty.result.vtk_image import legacy_vtk, vti

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

KIND = "reconstruction"
#: Columns of the CSV and the power of the length unit, or the quantity that they are measured in.
COLUMNS: dict[str, int | str] = {
    "label": 0,
    "centre_z": 1,
    "centre_y": 1,
    "centre_x": 1,
    "depth_to_top": 1,
    "depth_to_centre": 1,
    "thickness": 1,
    "size_y": 1,
    "size_x": 1,
    "diameter": 1,
    "area": 2,
    "volume": 3,
    "alpha_mean": "diffusivity",
    "alpha_min": "diffusivity",
    "contrast": 0,
    "cells": 0,
    "reaches_back": 0,
}


def export(rec: Reconstruction, path: str | os.PathLike[str], rule: Rule | str = "default") -> Path:
    """Write ``rec`` in the format that the suffix of ``path`` names.

    Args:
        rec: what to write.
        path: ends in .h5 or .hdf5 (all of it; ``Reconstruction.load`` reads it), .npz (all of it, for NumPy),
            .vti or .vtk (the volumes, for ParaView) or .csv (the table of defects).
        rule: of the segmentation, where the file holds defects.
    """
    suffix = one_of("the suffix", Path(path).suffix.lower(), (".h5", ".hdf5", ".npz", ".vti", ".vtk", ".csv"))
    if suffix in (".h5", ".hdf5"):
        return write_hdf5(path, rec.record(), kind=KIND)
    if suffix == ".npz":
        return write_atomic(path, npz(rec, rule))
    if suffix == ".csv":
        return write_atomic(path, defect_table(rec, rule))
    write = vti if suffix == ".vti" else legacy_vtk
    return write_atomic(path, write(rec.grid, volumes(rec, rule)))


def volumes(rec: Reconstruction, rule: Rule | str = "default") -> dict[str, np.ndarray]:
    """Quantities of the cells, (z, y, x): float32, and the numbers of the defects as int32."""
    found = {
        "alpha": rec.alpha,
        "alpha_over_background": rec.alpha / rec.background[:, None, None],
        "defect": rec.segmentation(rule).labels,
    }
    if rec.truth is not None:
        found["truth"] = rec.truth
    return {name: a.astype(np.int32 if a.dtype.kind == "i" else np.float32) for name, a in found.items()}


def defect_table(rec: Reconstruction, rule: Rule | str = "default") -> str:
    """The defects as CSV, one line each, the largest first; the header has the units in brackets."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_header(name, measure, rec) for name, measure in COLUMNS.items())
    for defect in rec.defects(rule):
        values = vars(defect) | dict(zip(("centre_z", "centre_y", "centre_x"), defect.centre, strict=True))
        rows.writerow(_cell(values[name]) for name in COLUMNS)
    return text.getvalue()


def npz(rec: Reconstruction, rule: Rule | str = "default") -> bytes:
    """Everything as one NumPy archive without pickles; configuration, provenance and meta as JSON."""
    arrays: dict[str, np.ndarray] = {}
    texts: dict[str, Any] = {}
    for name, value in rec.record().items():
        if isinstance(value, np.ndarray):
            arrays[name] = value
        elif name == "history":
            arrays |= {f"history_{column}": values for column, values in value.items()}
        elif value is not None:
            texts[name] = value
    arrays |= {"defect": rec.segmentation(rule).labels, "depth_map": rec.depth_map(rule)}
    arrays |= {
        name: np.array(value if isinstance(value, (float, str)) else _json(value)) for name, value in texts.items()
    }
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # pyright: ignore[reportArgumentType]
    return content.getvalue()


def _header(name: str, measure: int | str, rec: Reconstruction) -> str:
    if measure == 0:
        return name
    if isinstance(measure, str):
        return f"{name} ({rec.unit(measure) or 'length unit2/time unit'})"
    return f"{name} ({rec.unit('length') or 'length unit'}{measure if measure > 1 else ''})"


def _cell(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(int(value))


def _json(value: Any) -> str:
    def known(item: Any) -> Any:
        if isinstance(item, (np.ndarray, np.generic)):
            return item.tolist()
        raise InputError(f"{item!r} is a {type(item).__name__} and cannot be written as JSON; use plain values.")

    return json.dumps(value, default=known)
