"""FLIR .ats: files made here by the layout that pyflir states, also read by it if it is here."""

import struct

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.radiometry import Scene
from nefty.data.read import read
from support.cameras.files import ats
from support.recordings import COUNTS

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
