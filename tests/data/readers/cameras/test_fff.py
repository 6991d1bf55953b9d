"""FLIR .seq and .fff: a camera's file, files made here by the layout, and heads that lie."""

import struct

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.radiometry import Scene
from nefty.data.read import read
from support.cameras.files import fff, seq
from support.notes import texts
from support.recordings import COUNTS
from support.shared_data import shared_recording

WARM = COUNTS + 15000  # counts of a camera at room temperature


def test_a_recording_of_a_camera():
    path = shared_recording("flir_sample.seq")
    counts = read(path, units="counts")
    assert counts.shape == (2, 480, 640)
    assert counts.times.tolist() == [0, 3.967]  # every 119th frame of 30 per second
    raw = path.read_bytes()
    assert (counts.frames[0].ravel() == np.frombuffer(raw, "<u2", 640 * 480, 2748 + 32)).all()
    assert (counts.frames[1].ravel() == np.frombuffer(raw, "<u2", 640 * 480, 617180 + 2620 + 32)).all()
    found = read(path)
    camera = found.facts.camera
    assert (camera.model, camera.lens, camera.serial, camera.frame_rate) == ("FLIR SC660", "FOL38", "404003980", 30)
    assert found.facts.scene == Scene(0.95, 293.15, 293.15, 0.5, 1.0, 293.15, 1.0)
    assert found.facts.units.temperature == "K"
    assert 290 < found.frames.min() < found.frames.max() < 315  # a room with somebody in it
    assert any("emissivity 0.95" in note and "as the file says" in note for note in texts(found))


def test_a_recording_of_a_camera_as_flirpy_reads_it():
    library = pytest.importorskip("flirpy.io.seq", reason="flirpy wants an older numpy; see docs/formats.md")
    path = shared_recording("flir_sample.seq")
    theirs = library.Seq(str(path))
    ours, counts = read(path), read(path, units="counts")
    for i in range(2):
        assert (counts.frames[i] == theirs[i].get_image()).all()
        # flirpy takes 273.14 for 273.15 and halves the way through the air
        assert np.allclose(ours.frames[i], theirs[i].get_radiometric_image() + 273.15, atol=0.05)


@pytest.mark.parametrize("order", ["<", ">"])
def test_counts_and_times(tmp_path, order):
    (tmp_path / "a.seq").write_bytes(seq(order=order))
    found = read(tmp_path / "a.seq", units="counts")
    assert (found.frames == COUNTS).all()
    assert np.allclose(found.times, 0.02 * np.arange(6), atol=1e-12)
    assert any("50 frames per second" in note for note in texts(found))
    assert found.facts.camera.recorded == "2012-06-13 19:52:08"


def test_frames_that_were_not_kept_show_in_the_clock(tmp_path):
    (tmp_path / "a.seq").write_bytes(seq(WARM, step=500))
    found = read(tmp_path / "a.seq")
    assert np.allclose(found.times, 0.5 * np.arange(6))
    assert any("not all were kept" in note for note in texts(found))


def test_a_frame_alone(tmp_path):
    (tmp_path / "a.fff").write_bytes(fff(WARM[0]))
    assert read(tmp_path / "a.fff").shape == (1, 4, 5)


def test_what_fills_up_between_frames_is_passed_over(tmp_path):
    (tmp_path / "a.seq").write_bytes(
        b"".join(fff(frame, milliseconds=20 * i) + bytes(77) for i, frame in enumerate(COUNTS))
    )
    assert (read(tmp_path / "a.seq", units="counts").frames == COUNTS).all()


def test_what_the_user_says_of_the_scene_goes_before_the_file(tmp_path):
    (tmp_path / "a.seq").write_bytes(seq(WARM))
    file, given = read(tmp_path / "a.seq"), read(tmp_path / "a.seq", emissivity=0.6, reflected=280.0, distance=0)
    assert given.facts.scene == Scene(0.6, 280.0, 293.15, 0.5, 0.0, 293.15, 1.0)
    assert (given.frames > file.frames).all()  # a part that shines less and reflects cold is warmer than it looks
    assert any("emissivity and reflected and distance as given, instead of the file's" in n for n in texts(given))
    celsius = read(tmp_path / "a.seq", units="C")
    assert np.allclose(celsius.frames, file.frames - 273.15, atol=1e-4)
    assert celsius.facts.units.temperature == "C"


def test_a_calibration_goes_before_the_cameras_constants(tmp_path):
    (tmp_path / "a.seq").write_bytes(seq())
    assert np.allclose(read(tmp_path / "a.seq", calibration=(0.5, 100)).frames, 0.5 * COUNTS + 100)
    with pytest.raises(InputError, match="emissivity cannot be with calibration"):
        read(tmp_path / "a.seq", calibration=(0.5, 100), emissivity=0.9)
    with pytest.raises(InputError, match='emissivity cannot be with units="counts"'):
        read(tmp_path / "a.seq", units="counts", emissivity=0.9)


@pytest.mark.parametrize("wrong", [{"r1": 0.0}, {"b": float("nan")}, {"e": 0.0}, {"refl": -4.0}, {"h": 1e30}])
def test_constants_that_make_no_sense_leave_counts(tmp_path, wrong):
    (tmp_path / "a.seq").write_bytes(seq(**wrong))
    found = read(tmp_path / "a.seq")
    assert (found.frames == COUNTS).all()
    assert found.facts.units.temperature == "counts"


def test_a_range_that_changes_is_refused(tmp_path):
    (tmp_path / "a.seq").write_bytes(
        fff(WARM[0]) + fff(WARM[1], milliseconds=20) + fff(WARM[2], milliseconds=40, r1=9e3)
    )
    with pytest.raises(InputError, match=r"other constants of the camera from frame 2 on.*units=.counts."):
        read(tmp_path / "a.seq")
    assert read(tmp_path / "a.seq", units="counts").shape == (3, 4, 5)


CAMERA, DATA = 128, 128 + 1200


@pytest.mark.parametrize(
    ("kind", "at", "value", "message"),
    [
        ("<I", 20, 250, "damaged head of frame 0"),
        ("<I", 24, 2**31, "cut off or damaged: the table of frame 0"),
        ("<I", 28, 2**31, "2147483648 records"),
        ("<I", 28, 1, "no counts in frame 0"),
        ("<I", 64 + 32 + 16, 2**31, "cut off or damaged: a record of frame 0"),
        ("<H", 64 + 32 + 2, 3, r"packed in another way \(3"),
        ("<H", DATA + 2, 60000, "cut off or damaged: 60000 x 4 pixels"),
        ("<H", DATA + 4, 0, "packed in another way"),
    ],
)
def test_a_head_that_lies_is_named(tmp_path, kind, at, value, message):
    raw = bytearray(fff())
    struct.pack_into(kind, raw, at, value)
    (tmp_path / "a.fff").write_bytes(raw)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.fff")


def test_a_file_cut_anywhere_is_refused(tmp_path):
    raw = seq(COUNTS[:2])
    half = len(raw) // 2
    for length in [*range(5, half, 61), *range(half + 5, len(raw), 61)]:
        (tmp_path / "a.seq").write_bytes(raw[:length])
        with pytest.raises(InputError, match=r"a\.seq"):
            read(tmp_path / "a.seq")
