"""Small recordings in every format that is read without an optional library, as bytes or as a folder."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path

import h5py
import numpy as np
import scipy.io
import tifffile
from PIL import Image

COUNTS = np.random.default_rng(11).integers(100, 4000, size=(6, 4, 5)).astype(np.uint16)  # (t, y, x)
FLOATS = (COUNTS / 100).astype(np.float32)


def npy(array: np.ndarray = COUNTS) -> bytes:
    image = io.BytesIO()
    np.save(image, array)
    return image.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    image = io.BytesIO()
    np.savez_compressed(image, **(arrays or {"frames": FLOATS, "times": np.arange(6.0)}))  # pyright: ignore
    return image.getvalue()


def tiff(array: np.ndarray = COUNTS, **options) -> bytes:
    image = io.BytesIO()
    tifffile.imwrite(image, array, photometric="minisblack", metadata=None, **options)
    return image.getvalue()


def png(frame: np.ndarray) -> bytes:
    image = io.BytesIO()
    Image.fromarray(frame).save(image, "PNG")
    return image.getvalue()


def csv(frame: np.ndarray, mark: str = ",", decimal: str = ".") -> bytes:
    return "\n".join(mark.join(f"{v:.4f}".replace(".", decimal) for v in row) for row in frame).encode()


def matlab5(compressed: bool = False, **variables) -> bytes:
    image = io.BytesIO()
    found = variables or {"imageArray": np.moveaxis(COUNTS, 0, -1), "day": np.arange(3.0)}
    scipy.io.savemat(image, found, do_compression=compressed)
    return image.getvalue()


def matlab73(**fields: np.ndarray) -> bytes:
    """The struct ``SimResult`` of a COMSOL simulation, its arrays as MATLAB shows them."""
    found = fields or {
        "Tdata": np.moveaxis(COUNTS, 0, -1),
        "Time": np.arange(6.0)[:, None] / 10,
        "LookUpTable": (290 + np.arange(4000) / 100)[None],
        "ExcitationSignal": np.array([0.0, 0, 1, 0, 0, 0])[:, None],
        "GroundTruth/DefectMask": (COUNTS[0] > 2000).astype(np.uint8),
    }
    image = io.BytesIO()
    with h5py.File(image, "w", userblock_size=512) as file:
        for name, array in found.items():
            file.create_dataset(f"SimResult/{name}", data=np.asarray(array).T)
        file["SimResult"].attrs["MATLAB_class"] = np.bytes_(b"struct")
        rows = [["Name", "Expression", "Description", "Value", "Unit"], ["th_mat", "2[mm]", "", 0.002, "m"]]
        rows += [["X_mat", "", "", 0.05, "m"], ["Y_mat", "", "", 0.04, "m"]]
        cells = np.empty((5, len(rows)), h5py.ref_dtype)
        for j, row in enumerate(rows):
            for i, value in enumerate(row):
                text = isinstance(value, str)
                data = np.array([[ord(c)] for c in value] or [[0]], np.uint16) if text else np.array([[value]])
                item = file.create_dataset(f"#refs#/{i}{j}", data=data)
                item.attrs["MATLAB_class"] = np.bytes_(b"char" if text else b"double")
                if text and not value:
                    item.attrs["MATLAB_empty"] = np.uint8(1)
                cells[i, j] = item.ref
        file.create_dataset("SimResult/ComsolParameters", data=cells)
    return b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM" + image.getvalue()[128:]


def thermo(path: Path) -> bytes:
    """HDF5 as pyThermoNDT writes it, with text of variable length."""
    with h5py.File(path, "w") as file:
        file.create_dataset("Data/Tdata", data=np.moveaxis(COUNTS, 0, -1), chunks=(2, 5, 6), compression="gzip")
        file["MetaData/DomainValues"] = np.arange(6.0) / 10
        file["MetaData/LookUpTable"] = 290 + np.arange(4000) / 100
        file["MetaData/ExcitationSignal"] = np.array([0.0, 0, 1, 0, 0, 0])
        file["MetaData/DomainValues"].attrs["Unit"] = json.dumps({"symbol": "s"})
        file["MetaData"].attrs["SimulationParameter"] = json.dumps([["Name"], ["th_mat", "", "", 0.002, "m"]])
    return path.read_bytes()


def ptw(counts: np.ndarray = COUNTS, period: float = 0.01, main: int = 3476, each: int = 1016) -> bytes:
    """As the camera Jade writes it."""
    t, y, x = counts.shape
    head = bytearray(main)
    head[:10] = b"CED\0\x005.60\0"
    struct.pack_into("<5I", head, 11, main, each, (each + 2 * y * x) // 2, y * x, t)
    head[44:48], head[64:69] = b"Jade", b"50 mm"
    struct.pack_into("<2H", head, 377, x, y)
    struct.pack_into("<2f", head, 403, period, 1.5e-4)
    return bytes(head) + b"".join(bytes(each) + frame.astype("<u2").tobytes() for frame in counts)


def frames_in(folder: Path, suffix: str, write, frames: np.ndarray = COUNTS) -> Path:
    """A folder with a file per frame, whose names must be sorted by number: frame 9, frame 10, ..."""
    folder.mkdir()
    for i, frame in enumerate(frames):
        (folder / f"frame {i + 9 - len(frames) // 2}{suffix}").write_bytes(write(frame))
    return folder
