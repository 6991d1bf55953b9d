"""A reconstruction as files for other programs: HDF5, NPZ, VTK image data, CSV, JSON, DICOM.

Every file is written whole or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.core.checks import one_of
from nefty.core.errors import InputError
from nefty.core.storage.files import write_atomic
from nefty.core.storage.hdf5 import write_hdf5
from nefty.result.display_units import DisplayUnits, display_units
from nefty.result.exports.diconde import depth_object, volume_object
from nefty.result.exports.record_json import record_json
from nefty.result.exports.vtk_image import vti
from nefty.result.indications.segmentation import Rule

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

KIND = "reconstruction"
SUFFIXES = (".h5", ".hdf5", ".npz", ".vti", ".csv", ".json", ".dcm")
#: Columns that follow where the record of the inspection has them.
RECORDED = ("part", "serial", "date", "inspector")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a cell begins that a spreadsheet would compute
#: Columns of the CSV and the quantity that they are measured in, or a unit of their own; none for a name.
COLUMNS = {
    "label": "",
    "centre_z": "length",
    "centre_y": "length",
    "centre_x": "length",
    "depth_to_top": "length",
    "depth_low": "length",
    "depth_high": "length",
    "depth_to_centre": "length",
    "thickness": "length",
    "row": "pixel",
    "column": "pixel",
    "size_y": "length",
    "size_x": "length",
    "fwhm_long": "length",
    "fwhm_short": "length",
    "angle": "deg",
    "diameter": "length",
    "diameter_low": "length",
    "diameter_high": "length",
    "offset": "length",
    "area": "area",
    "fwhm_area": "area",
    "volume": "volume",
    "alpha_mean": "diffusivity",
    "alpha_min": "diffusivity",
    "contrast": "1",
    "thermal_contrast": "temperature",
    "snr": "dB",
    "evidence": "standard deviations",
    "resistance": "resistance",
    "resistance_low": "resistance",
    "resistance_high": "resistance",
    "gap_air": "length",
    "gap_polymer": "length",
    "time": "time",
    "cells": "count",
    "reaches_back": "0 or 1",
    "at_rim": "0 or 1",
    "level": "1",
}
#: What the header says where the unit of a quantity is not known.
UNKNOWN = {
    "length": "length unit",
    "area": "length unit2",
    "volume": "length unit3",
    "time": "time unit",
    "temperature": "temperature unit",
    "diffusivity": "length unit2/time unit",
    "resistance": "time unit/length unit",
}


def export(rec: Reconstruction, path: str | os.PathLike[str], rule: Rule | str = "default") -> Path:
    """Write ``rec`` in the format that the suffix of ``path`` names.

    Args:
        rec: what to write.
        path: ends in .h5 or .hdf5 (all of it; ``Reconstruction.load`` reads it), .npz (all of it, for NumPy),
            .vti (the volumes, for ParaView), .csv (the table of defects), .json (verdict, indications and the record
            of the inspection), or, experimental, .dcm (DICONDE: the volume, and beside it the depth map, whose name
            ends in ``-depth.dcm``).
        rule: of the segmentation, where the file holds defects.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".vtk":
        raise InputError(f"{Path(path)}: the legacy format .vtk is not written; give a name that ends in .vti instead.")
    one_of("the suffix", suffix, SUFFIXES)
    if suffix in (".h5", ".hdf5"):
        return write_hdf5(path, rec.record(), kind=KIND)
    if suffix == ".npz":
        return write_atomic(path, npz(rec, rule))
    if suffix == ".csv":
        return write_atomic(path, defect_table(rec, rule))
    if suffix == ".json":
        return write_atomic(path, record_json(rec, defect_table(rec, rule)))
    if suffix == ".dcm":
        path = Path(path)
        volume, depth = volume_object(rec, rule), depth_object(rec, rule)
        write_atomic(path.with_name(f"{path.stem}-depth{path.suffix}"), depth)
        return write_atomic(path, volume)
    return write_atomic(path, vti(rec.grid, volumes(rec, rule)))


def volumes(rec: Reconstruction, rule: Rule | str = "default") -> dict[str, np.ndarray]:
    """Quantities of the cells, (z, y, x): float32, and the numbers of the defects as int32."""
    found = {
        "alpha": rec.alpha,
        "alpha_over_background": rec.alpha / rec.background[:, None, None],
        "defect": rec.segmentation(rule).labels,
    }
    if rec.probability is not None and rec.spread is not None:
        found |= {"probability": rec.probability, "log_alpha_spread": rec.spread}
    if rec.truth is not None:
        found["truth"] = rec.truth
    return {name: a.astype(np.int32 if a.dtype.kind == "i" else np.float32) for name, a in found.items()}


def defect_table(rec: Reconstruction, rule: Rule | str = "default") -> str:
    """The defects as CSV, one line each, the clearest or largest first.

    The header has the units in brackets, mm for a grid in m. Part, serial number, date and inspector follow where they
    are recorded.
    Rows and columns are pixels of the frames as they were read, from 0; ``time`` is that of the frame behind the SNR.
    """
    text, units = io.StringIO(), display_units(rec.facts.units)
    rows = csv.writer(text, lineterminator="\n")
    record = {} if rec.facts.record is None else rec.facts.record.recorded()
    known = {name: plain_cell(record[name]) for name in RECORDED if name in record}
    rows.writerow([*(_header(name, measure, units) for name, measure in COLUMNS.items()), *known])
    for defect, evidence in zip(rec.defects(rule), rec.evidence(rule), strict=True):
        centre = dict(zip(("centre_z", "centre_y", "centre_x"), defect.centre, strict=True))
        gaps = {name: getattr(defect, name) / (rec.facts.units.metres or 1.0) for name in ("gap_air", "gap_polymer")}
        values = vars(defect) | vars(evidence) | centre | gaps
        cells = (_cell(values[name], measure, units) for name, measure in COLUMNS.items())
        rows.writerow([*cells, *known.values()])
    return text.getvalue()


def plain_cell(text: str) -> str:
    """Text for a table that no spreadsheet takes for a formula."""
    text = " ".join(text.split())
    return f"'{text}" if text.startswith(FORMULA) else text


def npz(rec: Reconstruction, rule: Rule | str = "default") -> bytes:
    """Everything as one NumPy archive without pickles; configuration, provenance and facts as JSON."""
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


def _header(name: str, measure: str, units: DisplayUnits) -> str:
    if not measure:
        return name
    known = getattr(units, measure).plain or UNKNOWN[measure] if measure in UNKNOWN else measure
    return f"{name} ({known})"


def _cell(value: Any, measure: str, units: DisplayUnits) -> str:
    """A number as it is shown; nothing where it is not known."""
    if not isinstance(value, float):
        return str(int(value))
    shown = getattr(units, measure)(value) if measure in UNKNOWN else value
    return "" if math.isnan(shown) else f"{shown:.9g}"


def _json(value: Any) -> str:
    def known(item: Any) -> Any:
        if isinstance(item, (np.ndarray, np.generic)):
            return item.tolist()
        raise InputError(f"{item!r} is a {type(item).__name__} and cannot be written as JSON; use plain values.")

    return json.dumps(value, default=known)
