"""MATLAB's files of versions 5 and 7.3, written by SciPy, h5py and MATLAB."""

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.facts import Units
from nefty.data.read import read
from nefty.physics.pulses import TopHatPulse
from support.known_facts import defects_of
from support.notes import texts
from support.recordings import COUNTS, matlab5, matlab73

SHARED = Path(os.environ.get("NEFTY_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
YXT = np.moveaxis(COUNTS, 0, -1)


@pytest.mark.skipif(not (SHARED / "comsol_cfrp_v73.mat").exists(), reason="the shared recordings are not here")
def test_a_simulation_by_others_equals_its_twin_in_hdf5():
    found = read(SHARED / "comsol_cfrp_v73.mat")
    assert found.shape == (1000, 100, 100)
    assert found.size == (0.002, 0.02, 0.02)
    assert np.allclose(found.anisotropy, (1.34 / 0.53, 8.66 / 0.53))
    assert isinstance(found.excitation, TopHatPulse)
    assert found.excitation.duration == 0.02
    assert found.facts.units == Units(length="m", time="s", temperature="K")
    twin = read(SHARED / "comsol_cfrp_sound.hdf5")
    assert (found.frames == twin.frames).all()
    assert np.allclose(found.times, twin.times, atol=1e-12)
    np.testing.assert_array_equal(defects_of(found).mask, defects_of(twin).mask)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "u2", "i4", "f4", "f8"])
def test_version_5_as_scipy_writes_it(tmp_path, compressed, dtype):
    frames = (YXT % 250).astype(dtype)
    (tmp_path / "Z_001.mat").write_bytes(matlab5(compressed, imageArray=frames, day=np.arange(3.0), name="plate"))
    found = read(tmp_path / "Z_001.mat", fps=10)
    assert (found.frames == COUNTS % 250).all()
    assert "The frames are the variable 'imageArray'." in texts(found)
    assert any("order yxt" in note for note in texts(found))
    assert found.facts.units.temperature == ("" if dtype[0] == "f" else "counts")
    with pytest.raises(InputError, match=r"Z_001\.mat does not say when its 6 frames of 4 x 5 .* give fps="):
        read(tmp_path / "Z_001.mat")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("axes", ["yxt", "xyt", "tyx"])
def test_other_orders_and_the_flash(tmp_path, compressed, axes):
    array = np.transpose(COUNTS, ["tyx".index(axis) for axis in axes])
    (tmp_path / "a.mat").write_bytes(matlab5(compressed, a=array, b=array[:1]))
    found = read(tmp_path / "a.mat", fps=10, axes=axes, variable="a", flash_frame=3)
    assert np.allclose(found.frames, COUNTS - np.median(COUNTS[:3]))
    assert np.allclose(found.times, np.arange(-3, 3) / 10)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_struct_of_version_5(tmp_path, compressed):
    struct_ = {"Tdata": YXT, "Time": np.arange(6.0) / 4, "LookUpTable": 290 + np.arange(4000) / 100, "Note": "text"}
    (tmp_path / "a.mat").write_bytes(matlab5(compressed, SimResult=struct_))
    found = read(tmp_path / "a.mat")
    assert np.allclose(found.frames, 290 + COUNTS / 100)
    assert found.times.tolist() == [0, 0.25, 0.5, 0.75, 1, 1.25]
    assert found.facts.units.temperature == "K"


def test_the_struct_of_version_73(tmp_path):
    (tmp_path / "a.mat").write_bytes(matlab73())
    found = read(tmp_path / "a.mat")
    ambient = np.median(290 + COUNTS[:2] / 100)
    assert np.allclose(found.frames, 290 + COUNTS / 100 - ambient, atol=1e-5)
    assert np.allclose(found.times, np.arange(6) / 10 - 0.2)
    assert found.size == (0.002, 0.04, 0.05)
    np.testing.assert_array_equal(defects_of(found).mask, COUNTS[0] > 2000)
    (tmp_path / "b.mat").write_bytes(matlab73(one=YXT, two=YXT[..., :4]))
    with pytest.raises(InputError, match=r"several arrays with three axes: SimResult\.one \(4, 5, 6\), .* variable="):
        read(tmp_path / "b.mat", fps=1)
    for name in ("SimResult.two", "SimResult/two"):
        assert (read(tmp_path / "b.mat", fps=1, variable=name).frames == COUNTS[:4]).all()


def element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def hostile(shape, length: int | None = None, packed: bool = False) -> bytes:
    """A variable of a few bytes that declares another size."""
    dims = struct.pack(f"<{len(shape)}i", *shape)
    values = bytes(64) if length is None else struct.pack("<II", 4, length)[8:] + bytes(64)
    parts = element(6, struct.pack("<II", 11, 0)) + element(5, dims) + element(1, b"imageArr")
    body = parts + struct.pack("<II", 4, 64 if length is None else length) + values
    matrix = struct.pack("<II", 14, len(body)) + body
    if packed:
        squeezed = zlib.compress(matrix)
        matrix = struct.pack("<II", 15, len(squeezed)) + squeezed
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM" + matrix


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("shape", "length", "message"),
    [
        ((4, 4, 2), None, None),
        ((2**30, 2**30, 2**30), None, "needs .* bytes, and has 64"),
        ((1024, 1024, 1024), 2**31, "cut off or damaged: values of 'imageArr' need 2147483648 bytes"),
        ((-4, -4, 2), None, "a variable of shape"),
        ((32,), None, "a variable of shape"),
    ],
)
def test_sizes_that_cannot_be_are_refused(tmp_path, packed, shape, length, message):
    (tmp_path / "a.mat").write_bytes(hostile(shape, length, packed))
    if message is None:
        assert read(tmp_path / "a.mat", fps=1).shape == (2, 4, 4)
        return
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.mat", fps=1)


def test_a_packed_variable_that_fills_the_memory_is_refused(tmp_path):
    squeezed = zlib.compress(hostile((4, 4, 2))[128:] + bytes(2**27))
    content = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM" + struct.pack("<II", 15, len(squeezed)) + squeezed
    (tmp_path / "a.mat").write_bytes(content)
    assert read(tmp_path / "a.mat", fps=1).shape == (2, 4, 4)  # what follows the variable is not unpacked


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_cut_anywhere_is_refused(tmp_path, compressed):
    raw = matlab5(compressed, imageArray=YXT)
    for length in range(1, len(raw) - 8, 23):
        (tmp_path / "a.mat").write_bytes(raw[:length])
        with pytest.raises(InputError, match=r"a\.mat"):
            read(tmp_path / "a.mat", fps=1)
