"""Large recordings are read in pieces: little more memory than the frames take in the end."""

import tracemalloc

import h5py
import numpy as np
import pytest

from nefty.data.read import read
from support.recordings import matlab5, npz, ptw, tiff

SHAPE = (2000, 64, 64)
RESULT = 4 * 2000 * 64 * 64  # bytes, as float32
MORE = 2**24  # bytes: a few pieces


def write_h5(path, counts):
    with h5py.File(path, "w") as file:
        file.create_dataset("Data/Tdata", data=np.moveaxis(counts, 0, -1), chunks=(16, 16, 125), compression="gzip")
        file["MetaData/DomainValues"] = np.arange(len(counts)) / 10
        file["MetaData/LookUpTable"] = np.linspace(290, 300, 2**16)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.npy", np.save),
        ("a.ptw", lambda path, counts: path.write_bytes(ptw(counts))),
        ("a.npz", lambda path, counts: path.write_bytes(npz(counts=counts))),
        ("a.mat", lambda path, counts: path.write_bytes(matlab5(imageArray=np.moveaxis(counts, 0, -1)))),
        ("b.mat", lambda path, counts: path.write_bytes(matlab5(True, imageArray=np.moveaxis(counts, 0, -1)))),
        ("a.h5", write_h5),
        ("a.tif", lambda path, counts: path.write_bytes(tiff(counts.reshape(125, 256, 256)))),
    ],
)
def test_the_peak_stays_near_the_size_of_the_result(tmp_path, name, write):
    ramp = (np.arange(2000 * 64 * 64, dtype=np.uint32) // 128).astype(np.uint16).reshape(SHAPE)
    write(tmp_path / name, ramp)
    read(tmp_path / name, fps=10)  # what is imported late
    tracemalloc.start()
    found = read(tmp_path / name, fps=10, flash_frame=5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.frames.size == ramp.size
    assert found.frames.dtype == np.float32
    assert peak < 1.5 * RESULT + MORE, f"{peak / RESULT:.2f} times the frames"
