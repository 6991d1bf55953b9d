"""edevis .di, .OTvis, .ITvisPulse: files made here by the layout, and archives that lie."""

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.read import read
from support.cameras.files import edevis, tar_member
from support.notes import texts
from support.recordings import COUNTS, FLOATS

TABLE = np.linspace(-273.15, 382.2, 2**16)


@pytest.mark.parametrize("name", ["a.di", "a.OTvis", "a.ITvisPulse"])
def test_counts_times_and_camera(tmp_path, name):
    (tmp_path / name).write_bytes(edevis())
    found = read(tmp_path / name)
    assert (found.frames == COUNTS).all()
    assert np.allclose(found.times, 0.02 * np.arange(6))
    assert (found.facts.camera.model, found.facts.camera.lens) == ("ImageIR 8300", "25 mm")
    assert found.facts.camera.frame_rate == 50
    assert any("excitation lasted 0,5 s" in note for note in texts(found))


def test_its_calibration_gives_kelvin(tmp_path):
    (tmp_path / "a.OTvis").write_bytes(edevis(COUNTS + 29000, table=TABLE))
    found = read(tmp_path / "a.OTvis")
    assert found.facts.units.temperature == "K"
    assert np.allclose(found.frames, TABLE.astype(np.float32)[COUNTS + 29000] + 273.15, rtol=1e-6)
    assert (read(tmp_path / "a.OTvis", units="counts").frames == COUNTS + 29000).all()


def test_floats_have_an_unknown_unit(tmp_path):
    (tmp_path / "a.di").write_bytes(edevis(FLOATS, kind=5))
    found = read(tmp_path / "a.di")
    assert (found.frames == FLOATS).all()
    assert found.facts.units.temperature == ""


def test_without_times_the_rate_counts(tmp_path):
    (tmp_path / "a.di").write_bytes(edevis(times=False))
    assert np.allclose(read(tmp_path / "a.di").times, np.arange(6) / 50)


def test_a_lock_in_image_is_no_recording(tmp_path):
    (tmp_path / "a.di").write_bytes(edevis(kind=13))
    with pytest.raises(InputError, match=r"amplitude and phase \(lock-in\) alone"):
        read(tmp_path / "a.di")
    (tmp_path / "a.di").write_bytes(edevis())
    with pytest.raises(InputError, match="kind 13"):
        read(tmp_path / "a.di", variable="sequence0")
    with pytest.raises(InputError, match="Did you mean 'sequence1'"):
        read(tmp_path / "a.di", variable="sequence11")


def test_the_archive_is_one_that_pythermondt_reads(tmp_path):
    """It reads lock-in images alone, so that is what can be compared: the first image of the same file."""
    library = pytest.importorskip("pythermondt.io", reason="pythermondt wants an older numpy; see docs/formats.md")
    (tmp_path / "a.di").write_bytes(edevis())
    theirs = library.EdevisParser.parse(library.IOPathWrapper(str(tmp_path / "a.di")))
    assert np.array_equal(np.asarray(theirs.get_dataset("/Data/Tdata"))[..., 0], COUNTS[0].astype(np.complex64))


def test_entities_are_not_expanded(tmp_path):
    bomb = '<!DOCTYPE a [<!ENTITY b "' + "c" * 99 + '">]>'
    (tmp_path / "a.di").write_bytes(edevis(also=bomb.encode("utf-16-le")))
    with pytest.raises(InputError, match="declares entities"):
        read(tmp_path / "a.di")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: raw.replace(tar_member("content.xml", b"")[:11], b"Content.xml"), "no content.xml"),
        (
            lambda raw: raw.replace(b"DIFFJPBG00000001\5\0\0\0", b"DIFFJPBG00000001\6\0\0\0"),
            "cut off or damaged: 6 x 4",
        ),
        (
            lambda raw: raw.replace(
                "<FrameInfo><Frame T".encode("utf-16-le"), "<FrameInfo<Frame  T".encode("utf-16-le")
            ),
            "damaged content.xml",
        ),
        (
            lambda raw: raw.replace("4294967298".encode("utf-16-le"), "4294967299".encode("utf-16-le")).replace(
                "4294967299</FrameIndex><FrameTime>0.06".encode("utf-16-le"),
                "4294967499</FrameIndex><FrameTime>0.06".encode("utf-16-le"),
            ),
            "lacks frame '4294967499'",
        ),
        (lambda raw: raw[: len(raw) - 2500], "no content.xml|cut off or damaged"),
        (lambda raw: b"no archive" * 400, "no content.xml"),
    ],
)
def test_an_archive_that_lies_is_named(tmp_path, change, message):
    raw = change(edevis())
    (tmp_path / "a.di").write_bytes(raw)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.di")
