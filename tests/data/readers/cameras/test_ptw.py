"""FLIR/Cedip .ptw: a known file, files made here, and headers that lie."""

import struct

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.facts import Units
from nefty.data.read import read
from support.notes import texts
from support.recordings import COUNTS, ptw
from support.shared_data import shared_recording


def test_a_recording_of_a_camera():
    path = shared_recording("flir_lwir.ptw")
    found = read(path, flash_frame=None)
    assert found.shape == (100, 68, 75)
    assert np.allclose(found.times, np.arange(100) * 0.01, atol=1e-6)
    assert found.facts.units == Units(**{"time": "s", "temperature": "counts"})
    assert (found.facts.camera.model, found.facts.camera.lens) == ("Jade", "50 mm")
    assert found.facts.camera.integration_time == pytest.approx(1.5e-4)
    raw = path.read_bytes()
    third = 3476 + 3 * (1016 + 68 * 75 * 2) + 1016
    assert found.frames[3, 2, 1] == struct.unpack_from("<H", raw, third + 2 * (2 * 75 + 1))[0]
    assert found.frames.sum(dtype=float) == sum(
        int(np.frombuffer(raw, "<u2", 5100, 3476 + i * 11216 + 1016).sum()) for i in range(100)
    )


@pytest.mark.parametrize("each", [0, 20, 1016])
def test_counts_and_times(tmp_path, each):
    (tmp_path / "a.ptw").write_bytes(ptw(period=0.5, each=each))
    found = read(tmp_path / "a.ptw")
    assert (found.frames == COUNTS).all()
    assert found.times.tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
    faster = read(tmp_path / "a.ptw", fps=4)
    assert faster.times[1] == 0.25
    assert any("instead of the file's" in note for note in texts(faster))


def test_a_file_without_a_period_asks_for_fps(tmp_path):
    for period in (0.0, float("nan"), -1.0, 1e9):
        (tmp_path / "a.ptw").write_bytes(ptw(period=period))
        with pytest.raises(InputError, match="give fps="):
            read(tmp_path / "a.ptw")


@pytest.mark.parametrize(
    ("kind", "at", "values", "message"),
    [
        ("<2H", 377, (65535, 65535), "damaged header"),
        ("<I", 27, (2**32 - 1,), "cut off or damaged: 4294967295 frames"),
        ("<I", 27, (0,), "damaged header: 0 frames"),
        ("<I", 15, (2**31,), "cut off or damaged"),
        ("<I", 11, (0,), "a header of 0 bytes"),
        ("<I", 23, (7,), r"\(7 in all\)"),
    ],
)
def test_a_header_that_lies_is_named(tmp_path, kind, at, values, message):
    raw = bytearray(ptw())
    struct.pack_into(kind, raw, at, *values)
    (tmp_path / "a.ptw").write_bytes(raw)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.ptw")


def test_a_file_cut_anywhere_is_refused(tmp_path):
    raw = ptw(main=500, each=20)
    for length in range(4, len(raw), 37):
        (tmp_path / "a.ptw").write_bytes(raw[:length])
        with pytest.raises(InputError, match=r"a\.ptw is cut off or damaged"):
            read(tmp_path / "a.ptw")
