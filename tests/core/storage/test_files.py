"""A file is either what it was or all of what it should be."""

import errno
import os

import pytest

from nefty.core.errors import NeftyError
from nefty.core.storage.files import write_atomic, writing, writing_folder


@pytest.mark.parametrize("content", ["text with an umlaut: ü\n", b"\x00\x01\xff", ""])
def test_content_arrives_whole_and_folders_are_made(tmp_path, content):
    path = write_atomic(tmp_path / "a" / "b" / "file", content)
    expected = content if isinstance(content, bytes) else content.encode()
    assert path.read_bytes() == expected
    assert os.listdir(path.parent) == ["file"]


def test_an_existing_file_is_replaced(tmp_path):
    path = tmp_path / "file"
    path.write_text("something much longer than what follows")
    write_atomic(str(path), "new")
    assert path.read_text() == "new"


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_failure_keeps_the_old_file_and_leaves_no_litter(tmp_path, monkeypatch, call):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, call, full)
    with pytest.raises(NeftyError, match=r"cannot write .*file: No space left on device.*another folder"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(NeftyError, match="cannot write"):
        write_atomic(tmp_path / "file" / "below", "x")


def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        path = write_atomic(tmp_path / "file", "x")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_text_with_a_name_that_is_no_utf8_is_still_utf8(tmp_path):
    path = write_atomic(tmp_path / "page", "ü " + os.fsdecode(b"\xff.tif"))
    assert path.read_bytes().decode() == "ü \ufffd.tif"


def test_what_is_written_piece_by_piece_is_there_at_the_end_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "file"
    with writing(path) as file:
        file.write(b"one ")
        assert not path.exists()
        file.write(b"two")
    assert path.read_bytes() == b"one two"
    with pytest.raises(KeyError), writing(path) as file:
        file.write(bytes({}["nothing"]))
    assert path.read_bytes() == b"one two"
    assert os.listdir(path.parent) == ["file"]


def test_a_folder_is_there_at_the_end_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "folder"
    with pytest.raises(KeyError), writing_folder(path) as inside:
        (inside / "a").write_text({}["nothing"])
    assert os.listdir(path.parent) == []
    with writing_folder(path) as inside:
        (inside / "a").write_text("a")
        assert not path.exists()
    assert (path / "a").read_text() == "a"
    with pytest.raises(NeftyError, match="is there already; remove it"), writing_folder(path):
        pass
    assert os.listdir(path) == ["a"]
