"""HDF5 files that HDF5 itself would hang in, or fill the memory with."""

import h5py
import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.hdf5_safety import START, refuse_damaged_heaps
from nefty.data.read import read
from support.recordings import thermo


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (16, bytes(16)),  # free space of length 0: HDF5 2.0 walks on the spot for ever
        (24, b"\xff" * 8),  # an object that goes beyond the end
        (8, bytes(8)),  # a heap of length 0
        (8, b"\xff" * 8),
    ],
)
def test_a_heap_that_leads_nowhere_is_refused(tmp_path, at, value):
    path = tmp_path / "a.h5"
    raw = bytearray(thermo(path))
    assert read(path).shape == (6, 4, 5)
    start = raw.index(START) + at
    raw[start : start + len(value)] = value
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"a\.h5 is damaged \(the heap of text at byte \d+\)"):
        read(path)


def test_heaps_with_many_texts_are_whole(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for i in range(300):
            file.attrs[f"text {i}"] = "x" * i
            if i % 3 == 0:
                del file.attrs[f"text {i}"]
    refuse_damaged_heaps(tmp_path / "a.h5")


def test_an_array_that_is_not_there_takes_no_memory(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("Data/Tdata", shape=(10**5, 10**5, 6), chunks=(100, 100, 6), dtype="u2")
        file["MetaData/DomainValues"] = np.arange(6.0)
    with pytest.raises(InputError, match=r"declares Data/Tdata of shape \(100000, 100000, 6\).* but stores 0"):
        read(path)


def test_arrays_in_another_file_are_not_followed(tmp_path):
    path = tmp_path / "a.h5"
    (tmp_path / "secret").write_bytes(bytes(240))
    with h5py.File(path, "w") as file:
        file.create_dataset("Data/Tdata", (4, 5, 6), "u2", external=[(str(tmp_path / "secret"), 0, 240)])
        file["MetaData/DomainValues"] = np.arange(6.0)
    with pytest.raises(InputError, match=r"keeps Data/Tdata in another file"):
        read(path)


def test_an_array_in_another_layout_is_read_by_name(tmp_path):
    path = tmp_path / "a.h5"
    frames = np.random.default_rng(1).random((3, 4, 5))
    with h5py.File(path, "w") as file:
        file["camera/frames"] = frames
    with pytest.raises(InputError, match=r"only camera; .* variable="):
        read(path, fps=1)
    with pytest.raises(InputError, match=r"has no array 'frames', only camera"):
        read(path, fps=1, variable="frames")
    assert np.allclose(read(path, fps=1, variable="camera/frames").frames, frames)
