"""NumPy's files: known arrays come back, hostile headers are refused before memory is taken."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.read import read
from nefty.data.sequence import Sequence
from support.notes import texts
from support.recordings import COUNTS, FLOATS, npy, npz


@pytest.mark.parametrize("dtype", ["u1", "<u2", ">u2", "i4", "f2", "f4", ">f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_number_are_read(tmp_path, dtype, order):
    array = (COUNTS % 200).astype(dtype, order=order)
    for name, content, facts in [("a.npy", npy(array), {}), ("a.npz", npz(counts=array), {"variable": "counts"})]:
        (tmp_path / name).write_bytes(content)
        found = read(tmp_path / name, fps=2, **facts)
        assert found.frames.dtype == np.float32
        assert (found.frames == COUNTS % 200).all()
        assert found.times.tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
        assert ("counts" in found.facts.units.temperature) == (np.dtype(dtype).kind in "iu")


def test_rounding_is_said(tmp_path):
    (tmp_path / "a.npy").write_bytes(npy(FLOATS.astype(float) + 1e-12))
    assert "Values were rounded from float64 to float32." in texts(read(tmp_path / "a.npy", fps=1))


def test_ambient_is_subtracted_before_rounding(tmp_path):
    exact = 293.15 + np.random.default_rng(2).random((5, 3, 3)) * 1e-3
    exact[:2] = 293.15
    (tmp_path / "a.npy").write_bytes(npy(exact))
    found = read(tmp_path / "a.npy", fps=1, flash_frame=2, units="K")
    assert np.abs(found.frames - (exact - 293.15)).max() < 1e-10


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(3), r"array of shape \(3,\)"),
        (np.ones((2, 3)), r"array of shape \(2, 3\)"),
        (np.ones((0, 3, 3)), r"shape \(0, 3, 3\)"),
        (np.ones((2, 3, 3), complex), "holds complex128, and a recording real numbers"),
        (np.ones((2, 3, 3), bool), "holds bool"),
        (np.full((2, 3, 3), "x"), "holds <U1"),
        (np.full((2, 3, 3), np.inf), "is infinite"),
        (np.full((2, 3, 3), 1e300), "is infinite"),
        (np.zeros((2, 3, 3), [("a", "f4")]), "only numbers, truth values and text"),
    ],
)
def test_arrays_that_are_no_recording_are_named(tmp_path, array, message):
    (tmp_path / "a.npy").write_bytes(npy(array))
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.npy", fps=1)


def hostile(shape: str) -> bytes:
    """An array of a few bytes whose header declares another shape."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(64)


@pytest.mark.parametrize("shape", ["(1000000, 100000, 1000000)", "(4, 4, 4)", "(-1, 4, 4)", "(4, 4.0, 4)"])
def test_a_header_that_promises_too_much_takes_no_memory(tmp_path, shape):
    (tmp_path / "a.npy").write_bytes(hostile(shape))
    image = io.BytesIO()
    with zipfile.ZipFile(image, "w") as archive:
        archive.writestr("frames.npy", hostile(shape))
        archive.writestr("times.npy", npy(np.arange(4.0)))
    (tmp_path / "a.npz").write_bytes(image.getvalue())
    for name in ("a.npy", "a.npz"):
        tracemalloc.start()
        with pytest.raises(InputError, match=name.replace(".", r"\.")):
            read(tmp_path / name, fps=1)
        assert tracemalloc.get_traced_memory()[1] < 2**22
        tracemalloc.stop()


def test_a_zip_that_unpacks_to_far_more_is_refused(tmp_path):
    image = io.BytesIO()
    with zipfile.ZipFile(image, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("frames.npy", "w") as file:
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {(96, 512, 512)}, }}".ljust(117) + "\n"
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        for _ in range(96):
            file.write(bytes(2**20))
    (tmp_path / "bomb.npz").write_bytes(image.getvalue())
    with pytest.raises(InputError, match=r"frames\.npy of shape \(96, 512, 512\).*made to fill the memory"):
        read(tmp_path / "bomb.npz", fps=1)


def test_an_archive_of_other_things_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("readme.txt", "text")
    with pytest.raises(InputError, match=r"holds 'readme\.txt', which is no array"):
        read(tmp_path / "a.npz")


def test_frames_without_times_take_the_rate_that_is_given(tmp_path):
    (tmp_path / "a.npz").write_bytes(npz(frames=FLOATS))
    assert read(tmp_path / "a.npz", fps=4).times.tolist() == [0, 0.25, 0.5, 0.75, 1, 1.25]


def test_one_wrong_byte_in_an_archive_is_found(tmp_path):
    path = Sequence(frames=FLOATS, times=np.arange(6.0)).save(tmp_path / "a.npz")
    raw = bytearray(path.read_bytes())
    raw[raw.index(FLOATS[3].tobytes()) + 5] ^= 1
    path.write_bytes(raw)
    with pytest.raises(InputError, match="Bad CRC-32"):
        read(path)
