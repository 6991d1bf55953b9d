"""FLIR .ats and .sfmov: files made here by the layouts of pyflir and pysfmov, also read by them if they are here."""

import struct

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.radiometry import Scene
from nefty.data.read import read
from support.camera_files import ats, sfmov
from support.recordings import COUNTS, FLOATS

LARGE = np.random.default_rng(3).integers(3000, 3100, size=(5, 32, 40)).astype(np.uint16)


@pytest.mark.parametrize("mark", ["1400d5033400", "1400d9040370", "140011223344"])
def test_counts_and_camera(tmp_path, mark):
    (tmp_path / "a.ats").write_bytes(ats(mark=mark))
    found = read(tmp_path / "a.ats", fps=50)
    assert (found.frames == COUNTS).all()
    camera = found.facts.camera
    assert (camera.model, camera.serial, camera.lens) == ("FLIR A8581", "0815", "50 mm")
    assert found.facts.scene == Scene(emissivity=0.92, reflected=295.65, distance=0.4)
    assert found.facts.units.temperature == "counts"


def test_as_pyflir_reads_it(tmp_path):
    library = pytest.importorskip("pyflir.io", reason="pyflir is not needed to read .ats")
    (tmp_path / "a.ats").write_bytes(ats(LARGE))
    counts, about = library.read_ats(str(tmp_path / "a.ats"))
    found = read(tmp_path / "a.ats", fps=50)
    assert (found.frames == counts).all()
    assert (found.facts.camera.model, found.facts.camera.lens) == (about.camera_model, about.lens)
    assert found.facts.scene.emissivity == about.emissivity


def test_one_frame_needs_a_mark_that_is_known(tmp_path):
    (tmp_path / "a.ats").write_bytes(ats(COUNTS[:1]))
    assert (read(tmp_path / "a.ats", fps=1).frames == COUNTS[:1]).all()
    (tmp_path / "a.ats").write_bytes(ats(COUNTS[:1], "140011223344"))
    with pytest.raises(InputError, match=r"a camera whose \.ats is not known"):
        read(tmp_path / "a.ats", fps=1)


def test_frames_end_where_the_mark_does_not_come_again(tmp_path):
    (tmp_path / "a.ats").write_bytes(ats() + b"something else " * 40)
    assert (read(tmp_path / "a.ats", fps=1).frames == COUNTS).all()


def test_it_asks_for_times_and_for_what_is_missing(tmp_path):
    raw = ats()
    (tmp_path / "a.ats").write_bytes(raw)
    with pytest.raises(InputError, match="give fps="):
        read(tmp_path / "a.ats")
    (tmp_path / "a.ats").write_bytes(raw.replace(b"SourceInfo", b"sourceinfo"))
    with pytest.raises(InputError, match="no record SourceInfo"):
        read(tmp_path / "a.ats", fps=1)
    wide = bytearray(raw)
    struct.pack_into("<2H", wide, raw.find(b"SourceInfo") + 77 + 80, 6000, 6000)
    (tmp_path / "a.ats").write_bytes(wide)
    with pytest.raises(InputError, match="no mark of a frame of 6000 x 6000"):
        read(tmp_path / "a.ats", fps=1)


@pytest.mark.parametrize("values", [COUNTS, FLOATS])
def test_sfmov(tmp_path, values):
    (tmp_path / "a.sfmov").write_bytes(sfmov(values))
    found = read(tmp_path / "a.sfmov", fps=50)
    assert (found.frames == values).all()
    assert found.facts.units.temperature == ("counts" if values is COUNTS else "")


def test_sfmov_as_pysfmov_reads_it(tmp_path):
    library = pytest.importorskip("pysfmov", reason="pysfmov is not needed to read .sfmov")
    (tmp_path / "a.sfmov").write_bytes(sfmov())
    assert (read(tmp_path / "a.sfmov", fps=1).frames == library.get_data(str(tmp_path / "a.sfmov"))).all()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b"NumDPs 6", b"NumDPs 7", "cut off or damaged: 7 frames"),
        (b"xPixls 5", b"xPixls x", "xPixls is 'x'"),
        (b"xPixls 5", b"xPixls 99999", "xPixls is '99999'"),
        (b"\nDATA", b"\nDATE", "no line DATA"),
    ],
)
def test_an_sfmov_that_lies_is_named(tmp_path, before, after, message):
    (tmp_path / "a.sfmov").write_bytes(sfmov().replace(before, after))
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.sfmov", fps=1)
