"""InfraTec .irb: pictures of cameras, files made here by the layout, and tables that lie."""

import struct

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.read import read
from support.cameras.files import PALETTE, irb, irb_video, kelvin
from support.notes import texts
from support.recordings import COUNTS
from support.shared_data import shared_recording


@pytest.mark.parametrize(
    ("name", "shape", "numbers", "camera", "when", "distance"),
    [
        ("infratec_a.irb", (1, 480, 640), (294.8, 306.6, 295.88), "VARIOCAM", "2014-01-15 13:11:13", 0.80208),
        ("infratec_b.irb", (1, 768, 1024), (230.2, 289.2, 236.65), "VARIOCAM_HD", "2017-01-17 01:06:58", 2.0),
    ],
)
def test_pictures_of_cameras(name, shape, numbers, camera, when, distance):
    found = read(shared_recording(name))
    assert found.shape == shape
    frames = found.frames.astype(float)
    assert (frames.min(), frames.max(), frames.mean()) == pytest.approx(numbers, abs=0.05)
    assert frames.mean() == pytest.approx(numbers[2], abs=0.005)
    assert found.facts.units.temperature == "K"
    assert found.facts.camera.model == camera
    assert found.facts.camera.recorded == when
    assert found.facts.scene.emissivity == 1.0
    assert found.facts.scene.distance == pytest.approx(distance, abs=1e-5)


@pytest.mark.parametrize("compression", [0, 1])
def test_a_picture(tmp_path, compression):
    (tmp_path / "a.irb").write_bytes(irb(COUNTS[0], compression))
    found = read(tmp_path / "a.irb")
    assert np.allclose(found.frames[0], kelvin(COUNTS[0]), rtol=1e-7)
    assert found.times.tolist() == [0]
    scene, camera = found.facts.scene, found.facts.camera
    assert (scene.emissivity, scene.distance, scene.reflected, scene.atmosphere) == (0.93, 1.5, 296.15, 295.15)
    assert (camera.model, camera.lens, camera.serial) == ("VARIOCAM_HD", "30 mm", "4711")
    assert camera.recorded == "2014-01-15 12:00:10"


def test_the_warmest_place_of_the_palette_has_nothing_above_it(tmp_path):
    places = np.full((3, 4), 255 * 256 + 200, np.uint16)
    (tmp_path / "a.irb").write_bytes(irb(places))
    assert (read(tmp_path / "a.irb").frames == PALETTE[-1]).all()


def test_runs_that_are_longer_than_a_byte(tmp_path):
    places = np.repeat(np.array([5 * 256 + 9, 6 * 256 + 1], np.uint16), 900).reshape(40, 45)
    packed = irb(places, 1)
    assert len(packed) < len(irb(places)) - 1000
    (tmp_path / "a.irb").write_bytes(packed)
    assert np.allclose(read(tmp_path / "a.irb").frames[0], kelvin(places))


@pytest.mark.parametrize("compression", [0, 1])
def test_a_sequence_by_the_headers_of_its_frames(tmp_path, compression):
    (tmp_path / "a.irb").write_bytes(irb_video(COUNTS, compression))
    found = read(tmp_path / "a.irb")
    assert np.allclose(found.frames, kelvin(COUNTS), rtol=1e-7)
    assert np.allclose(found.times, 0.02 * np.arange(6), atol=1e-9)
    assert any("camera's clock" in note for note in texts(found))


def test_a_sequence_of_whole_files(tmp_path):
    parts = [irb(places, i % 2, seconds=3 * i) for i, places in enumerate(COUNTS)]
    (tmp_path / "a.irb").write_bytes(b"".join(parts))
    found = read(tmp_path / "a.irb")
    assert np.allclose(found.frames, kelvin(COUNTS), rtol=1e-7)
    assert np.allclose(found.times, 3 * np.arange(6))


def test_milliseconds_that_the_day_holds_already_count_once(tmp_path):
    parts = [irb(places, seconds=0.25 * i, milliseconds=250 * i) for i, places in enumerate(COUNTS[:3])]
    (tmp_path / "a.irb").write_bytes(b"".join(parts))
    assert np.allclose(read(tmp_path / "a.irb").times, [0, 0.25, 0.5], atol=1e-5)


def test_a_clock_that_stands_asks_for_fps(tmp_path):
    (tmp_path / "a.irb").write_bytes(irb() * 3)
    with pytest.raises(InputError, match="give fps="):
        read(tmp_path / "a.irb")
    assert read(tmp_path / "a.irb", fps=50).times.tolist() == [0, 0.02, 0.04]


def test_emissivity_cannot_be_changed_without_the_cameras_constants(tmp_path):
    (tmp_path / "a.irb").write_bytes(irb())
    with pytest.raises(InputError, match=r"does not hold the constants of its camera.*export it with that value"):
        read(tmp_path / "a.irb", emissivity=0.9)


IMAGE = 64 + 4 * 32 + 10  # place of the image in irb()


@pytest.mark.parametrize(
    ("kind", "at", "value", "message"),
    [
        ("<i", 25, 2**30, "damaged header: a table of 4 blocks"),
        ("<i", 29, 2**30, "damaged header: a table of 1073741824 blocks"),
        ("<i", 29, -1, "damaged header"),
        ("<i", 64 + 32 + 12, 2**30, "cut off or damaged"),
        ("<i", 64 + 32 + 16, 2**30, "no image with pixels"),
        ("<i", 64 + 32 + 16, 1728, "no image with pixels"),
        ("<h", IMAGE + 4, 30000, "damaged image of 30000 x 4"),
        ("<h", IMAGE + 4, 9000, "9000 x 4 pixels of the image"),
        ("<h", IMAGE + 6, -3, "damaged image of 5 x -3"),
        ("<h", IMAGE, 4, "pixels of 4 bytes"),
        ("<h", IMAGE + 2, 2, "compression 2; known are 2 bytes with 0 or 1"),
    ],
)
def test_a_table_that_lies_is_named(tmp_path, kind, at, value, message):
    raw = bytearray(irb())
    struct.pack_into(kind, raw, at, value)
    (tmp_path / "a.irb").write_bytes(raw)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.irb")


def test_runs_that_end_too_early_are_named(tmp_path):
    raw = irb(np.full((4, 5), 7 * 256, np.uint16), 1)
    assert raw.count(b"\x14\x07[") == 1
    (tmp_path / "a.irb").write_bytes(raw.replace(b"\x14\x07[", b"\x13\x07["))
    with pytest.raises(InputError, match=r"pixels of the image at byte .* need 20 bytes"):
        read(tmp_path / "a.irb")


def test_headers_that_lead_back_end(tmp_path):
    raw = bytearray(irb_video(COUNTS[:2]))
    struct.pack_into("<i", raw, 64 + 11 * 32 + 32 + 12, 64 + 11 * 32)  # the next header of the first frame: itself
    (tmp_path / "a.irb").write_bytes(raw)
    assert read(tmp_path / "a.irb", fps=1).shape[0] in (1, 2)


def test_pictures_of_two_sizes_are_refused(tmp_path):
    (tmp_path / "a.irb").write_bytes(irb() + irb(COUNTS[0, :3]))
    with pytest.raises(InputError, match="images of several sizes"):
        read(tmp_path / "a.irb")


def test_a_file_cut_anywhere_is_refused(tmp_path):
    raw = irb()[: -len(b"[Settings]\r\n")]
    for length in range(5, len(raw), 97):
        (tmp_path / "a.irb").write_bytes(raw[:length])
        with pytest.raises(InputError, match=r"a\.irb"):
            read(tmp_path / "a.irb")
