"""TIFF, and folders with a file per frame."""

import struct
import time
import zlib

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.read import read
from nefty.data.readers.folder import in_order
from support.notes import texts
from support.recordings import COUNTS, FLOATS, csv, frames_in, png, tiff


@pytest.mark.parametrize(
    "options", [{}, {"compression": "zlib", "bigtiff": True}, {"byteorder": ">", "tile": (16, 16)}]
)
@pytest.mark.parametrize("frames", [COUNTS, FLOATS, COUNTS[:1]], ids=["counts", "floats", "one"])
def test_pages_are_frames(tmp_path, frames, options):
    (tmp_path / "plate.tiff").write_bytes(tiff(frames, **options))
    found = read(tmp_path / "plate.tiff", fps=10)
    assert (found.frames == frames).all()
    assert found.facts.origin.name == "plate.tiff"
    with pytest.raises(InputError, match=r"does not say when .* give fps="):
        read(tmp_path / "plate.tiff")


def test_a_tiff_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "plate.tif"
    raw = tiff()
    for length in range(1, len(raw) - 50, len(raw) // 20):  # the last bytes are of no use
        path.write_bytes(raw[:length])
        with pytest.raises(InputError, match=r"plate\.tif"):
            read(path, fps=1)


def test_colours_and_pages_that_differ_are_named(tmp_path):
    import tifffile

    path = tmp_path / "plate.tif"
    tifffile.imwrite(path, np.zeros((2, 8, 8, 3), np.uint8), photometric="rgb")
    with pytest.raises(InputError, match="shows colours or more than one value per pixel"):
        read(path, fps=1)
    with tifffile.TiffWriter(path) as file:
        file.write(np.zeros((4, 5), np.uint16))
        file.write(np.zeros((4, 6), np.uint16))
    with pytest.raises(InputError, match=r"pages of several sizes or types: page 1 has \(4, 6\)"):
        read(path, fps=1)


def test_a_tiff_that_unpacks_to_far_more_is_refused(tmp_path):
    """A page of 64 GB in a few bytes."""
    packed = zlib.compress(bytes(1000))
    tags = [(256, 4, 2**17), (257, 4, 2**18), (258, 3, 16), (259, 3, 8), (262, 3, 1), (273, 4, 8), (277, 3, 1)]
    tags += [(278, 4, 2**18), (279, 4, len(packed))]
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    head = b"II*\0" + struct.pack("<I", 8 + len(packed))
    (tmp_path / "bomb.tif").write_bytes(head + packed + struct.pack("<H", len(tags)) + entries + bytes(4))
    start = time.perf_counter()
    with pytest.raises(InputError, match="made to fill the memory"):
        read(tmp_path / "bomb.tif", fps=1)
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("suffix", "write", "frames"),
    [
        (".tif", tiff, COUNTS),
        (".png", png, COUNTS),
        (".PNG", png, (COUNTS // 16).astype(np.uint8)),
        (".csv", csv, FLOATS),
        (".csv", lambda f: csv(f, ";", ","), FLOATS),
        (".csv", lambda f: csv(f, "\t"), FLOATS),
        (".csv", lambda f: csv(f, " "), FLOATS),
        (".csv", lambda f: b"\xef\xbb\xbf" + csv(f).replace(b"\n", b",\r\n"), FLOATS),
        (".csv", lambda f: b"Camera: A655\nFrame 3\n1,2\n" + csv(f), FLOATS),
    ],
)
def test_a_folder_of_frames_is_read_in_the_order_of_numbers(tmp_path, suffix, write, frames):
    folder = frames_in(tmp_path / "plate", suffix, write, frames)
    (folder / "notes.md").write_text("of no use")
    found = read(folder, fps=5)
    assert np.abs(found.frames - frames).max() <= (1e-4 if suffix == ".csv" else 0)
    assert found.times.tolist() == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert any(note.startswith(f"Frames in the order of their names, frame 6{suffix}") for note in texts(found))
    assert "1 files of the folder are no frames and were passed over." in texts(found)
    with pytest.raises(InputError, match="give fps="):
        read(folder)


def test_names_are_sorted_by_their_numbers():
    names = ["b1.csv", "a10.csv", "a9.csv", "a09.csv", "A2.csv", "a1b3.csv", "a1b20.csv"]
    assert sorted(names, key=in_order) == ["a1b3.csv", "a1b20.csv", "A2.csv", "a09.csv", "a9.csv", "a10.csv", "b1.csv"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("3.csv", b"\0\1\2\3", "holds binary data"),
        ("3.csv", b"\xff\xfe\x01\x02", "no row of"),
        ("3.csv", b"", r"3\.csv is empty"),
        ("3.csv", b"1,2,3\n4,5,6", r"has \(2, 3\) float64, and 0\.csv \(4, 5\)"),
        ("3.csv", b"1,2,3,4,5\n1,2,x,4,5\n1,2,3,4,5", "rows that differ or are no numbers"),
        ("3.png", b"x", "holds 3 CSV and 1 PNG files"),
        ("3.csv", b"1,2,3,4,inf\n" * 4, "is infinite"),
    ],
)
def test_frames_that_are_none_are_named(tmp_path, name, content, message):
    for i in range(3):
        (tmp_path / f"{i}.csv").write_bytes(csv(FLOATS[i]))
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(tmp_path, fps=1)


def test_a_png_must_be_grey_and_as_large_as_it_says(tmp_path):
    path = tmp_path / "0.png"
    path.write_bytes(png(np.zeros((4, 5, 3), np.uint8)))
    with pytest.raises(InputError, match="shows colours"):
        read(tmp_path, fps=1)
    raw = bytearray(png(COUNTS[0]))
    raw[16:24] = struct.pack(">II", 2**30, 2**30)
    path.write_bytes(raw)
    with pytest.raises(InputError, match="made to fill the memory"):
        read(tmp_path, fps=1)
    path.write_bytes(png(COUNTS[0])[:-30])
    with pytest.raises(InputError, match=str(tmp_path)):
        read(tmp_path, fps=1)


def test_a_folder_with_very_many_files_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("nefty.data.readers.folder.MOST_FRAMES", 100)  # of 50,000
    for i in range(101):
        (tmp_path / f"{i}.csv").write_bytes(b"not even looked at")
    with pytest.raises(InputError, match="holds more than 100 files; put the frames into a folder of their own"):
        read(tmp_path, fps=1)
