"""HDF5 files that HDF5 itself would hang in, or fill the memory with."""

import h5py
import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.read import read
from nefty.data.readers.hdf5_safety import START, refuse_damaged_heaps, walk
from support.recordings import matlab73, thermo


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


def _other(path):
    """Another file, whose arrays fit into any recording of the tests."""
    with h5py.File(path, "w") as file:
        file["x"], file["t"] = np.ones((4, 5, 6)), np.arange(6.0)
    return path.name


@pytest.mark.parametrize("place", ["Data/Tdata", "MetaData/DomainValues", "MetaData/LookUpTable", "GroundTruth"])
def test_links_to_another_file_are_refused_where_they_would_be_read(tmp_path, place):
    path = tmp_path / "a.h5"
    thermo(path)
    with h5py.File(path, "r+") as file:
        if place in file:
            del file[place]
        file[place] = h5py.ExternalLink(_other(tmp_path / "other.h5"), "/x")
    with pytest.raises(InputError, match=rf"a\.h5 links to another file, other\.h5, at {place}.*; refused\. Give that"):
        read(path)


def test_links_within_a_file_are_refused_and_the_way_around_is_said(tmp_path):
    path = tmp_path / "a.h5"
    thermo(path)
    with h5py.File(path, "r+") as file:
        file.move("Data/Tdata", "raw")
        file["Data/Tdata"] = h5py.SoftLink("/raw")
    with pytest.raises(
        InputError, match=r"links to another place, /raw, at Data/Tdata; refused\. Give variable='/raw'"
    ):
        read(path)


def test_links_in_other_layouts_are_refused(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["x"] = h5py.ExternalLink(_other(tmp_path / "other.h5"), "/x")
        file["g"] = h5py.ExternalLink("other.h5", "/")
    for name in ("x", "g/x", "/g/./x"):
        with pytest.raises(InputError, match=r"links to another file, other\.h5"):
            read(path, fps=1, variable=name)


def test_links_in_a_matlab_file_are_refused(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(matlab73())
    with h5py.File(path, "r+") as file:
        del file["SimResult/ComsolParameters"]
        file["SimResult/ComsolParameters"] = h5py.ExternalLink(_other(tmp_path / "other.h5"), "/x")
    with pytest.raises(InputError, match=r"links to another file, other\.h5, at SimResult/ComsolParameters"):
        read(path)


@pytest.mark.parametrize("name", ["a.h5", "a.mat"])
def test_groups_within_groups_end_soon(tmp_path, name):
    with h5py.File(tmp_path / name, "w") as file:
        group = file
        for _ in range(500):
            group = group.create_group("g")
    with pytest.raises(InputError, match="groups more than 32 deep"):
        read(tmp_path / name)


def test_groups_that_hold_each_other_are_seen_once(tmp_path, monkeypatch):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        group = file
        for _ in range(30):  # 2^30 ways to the last one
            inner = group.create_group("one")
            group["two"] = inner
            group = inner
        group["root"] = file["/"]
    with h5py.File(path) as file:
        assert len(list(walk(file))) == 31
    monkeypatch.setattr("nefty.data.readers.hdf5_safety.MOST_ITEMS", 20)
    with pytest.raises(InputError, match="more than 20 arrays and groups"):
        read(path)
