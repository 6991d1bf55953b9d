"""Nothing outside of the root is seen, however it is named."""

from __future__ import annotations

import pytest

from nefty.app.root import WORK, Root
from nefty.core.errors import InputError


@pytest.fixture
def root(tmp_path) -> Root:
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    (inside / "plate.npy").write_bytes(b"x")
    (inside / "deep" / "other.h5").write_bytes(b"x")
    (inside / "notes.docx").write_bytes(b"x")
    (inside / ".hidden.npy").write_bytes(b"x")
    (tmp_path / "secret.npy").write_bytes(b"x")
    (inside / "link.npy").symlink_to(tmp_path / "secret.npy")
    (inside / "out").symlink_to(tmp_path)
    (inside / "own.npy").symlink_to(inside / "plate.npy")
    return Root.of(inside)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.npy", "deep/../../secret.npy", "/etc/passwd", "..", "deep/..", "link.npy", "out/secret.npy", "out",
        "\\windows\\x", "..\\secret.npy", "C:\\x.npy", "plate.npy\0.h5",
    ],
)  # fmt: skip
def test_what_leads_out_is_refused(root, name):
    with pytest.raises(InputError):
        root.inside(name)


def test_what_is_inside_is_found_and_a_link_within_is_fine(root):
    assert root.inside("deep/other.h5") == root.path / "deep" / "other.h5"
    assert root.inside("own.npy") == root.path / "plate.npy"
    assert root.inside("") == root.path
    assert root.relative(root.path / "deep" / "other.h5") == "deep/other.h5"


def test_the_listing_shows_folders_and_recordings_alone(root):
    names = [entry.name for entry in root.listing()]
    assert names == ["deep", WORK, "own.npy", "plate.npy"]
    assert [entry.path for entry in root.listing("deep")] == ["deep/other.h5"]


def test_a_folder_of_frames_is_a_recording(root):
    for number in range(4):
        (root.path / "deep" / f"{number}.tiff").write_bytes(b"x")
    assert next(entry for entry in root.listing() if entry.name == "deep").recording


def test_a_root_must_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        Root.of(tmp_path / "file")
    with pytest.raises(InputError, match="there is no folder"):
        Root.of(tmp_path / "none")
