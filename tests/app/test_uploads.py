"""Dropped files: whole or not at all, under names that do no harm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.app.root import Root
from nefty.app.uploads import remove_remains, safe_name, store
from nefty.core.errors import InputError


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def sent(root: Root, name: str, size: int, *parts: bytes):
    return asyncio.run(store(root, name, size, chunks(*parts)))


def test_a_file_arrives_as_it_was_and_overwrites_none(tmp_path):
    root = Root.of(tmp_path)
    first = sent(root, "plate.npy", 6, b"abc", b"def")
    second = sent(root, "plate.npy", 3, b"xyz")
    assert (first.name, first.read_bytes()) == ("plate.npy", b"abcdef")
    assert (second.name, second.read_bytes()) == ("plate-2.npy", b"xyz")


@pytest.mark.parametrize(("size", "parts"), [(10, (b"abc",)), (2, (b"ab", b"c")), (0, ()), (10**15, (b"a",))])
def test_a_size_that_is_not_true_leaves_nothing(tmp_path, size, parts):
    root = Root.of(tmp_path)
    with pytest.raises(InputError):
        sent(root, "plate.npy", size, *parts)
    assert list(root.uploads.iterdir()) == []


def test_a_connection_that_breaks_leaves_nothing(tmp_path):
    async def broken() -> AsyncIterator[bytes]:
        yield b"abc"
        raise ConnectionResetError

    root = Root.of(tmp_path)
    with pytest.raises(ConnectionResetError):
        asyncio.run(store(root, "plate.npy", 10, broken()))
    assert list(root.uploads.iterdir()) == []
    (root.uploads / ".upload-old").write_bytes(b"x")
    remove_remains(root)
    assert list(root.uploads.iterdir()) == []


def test_names_lose_paths_and_markup():
    assert safe_name("C:\\data\\..\\plate.npy") == "plate.npy"
    assert safe_name("../../etc/plate.tif") == "plate.tif"
    assert safe_name('<img src=x onerror="alert(1)">.h5') == "_img src=x onerror=_alert(1)__.h5"
    for bad in ("plate.exe", ".npy", "", "report.html"):
        with pytest.raises(InputError, match="no recording"):
            safe_name(bad)


@given(st.text(max_size=200))
def test_any_name_becomes_a_plain_one_or_is_refused(text):
    name = safe_name(f"{text}a.npy")
    assert name.endswith(".npy")
    assert not set(name) & set('/\\<>:"|?*&\0')
    assert not name.startswith(".")
    assert len(name.encode()) <= 130
