"""The folder that the app sees. Every path that a page names is relative to it and stays inside, links included."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from nefty.core.errors import InputError
from nefty.core.storage.files import cannot_write

WORK = "nefty-app"  # folder of the app inside the root: uploads, looks, runs
MOST = 500  # entries of a folder that are shown
PICTURES = (".tif", ".tiff", ".png", ".csv")  # single frames, of which a folder may be a recording
FEWEST = 3  # of them


@dataclass(frozen=True)
class Entry:
    """Something in a folder.

    Args:
        name: its own name.
        path: relative to the root, with ``/`` between folders.
        folder: whether it is one.
        recording: whether it can be opened.
        size: in bytes; 0 for a folder.
        changed: seconds since 1970.
    """

    name: str
    path: str
    folder: bool
    recording: bool
    size: int
    changed: float


@dataclass(frozen=True)
class Root:
    """The folder.

    Args:
        path: absolute and without links.
    """

    path: Path

    @staticmethod
    def of(given: Path) -> Root:
        """A folder that is there, made ready."""
        try:
            path = given.resolve(strict=True)
        except OSError:
            raise InputError(f"there is no folder {given}; name the one that holds your recordings.") from None
        if not path.is_dir():
            raise InputError(f"{given} is a file; name the folder that holds it: nefty app {given.parent}.")
        root = Root(path)
        for name in ("uploads", "looks", "runs"):
            try:
                (path / WORK / name).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise cannot_write(path / WORK, error) from error
        return root

    @property
    def uploads(self) -> Path:
        """Where dropped files go."""
        return self.path / WORK / "uploads"

    @property
    def looks(self) -> Path:
        """Where looks at recordings are kept."""
        return self.path / WORK / "looks"

    @property
    def runs(self) -> Path:
        """Where runs are."""
        return self.path / WORK / "runs"

    def inside(self, relative: str) -> Path:
        """A path of a page as one of the system, links followed; or an error if it leaves the root."""
        parts = relative.replace("\\", "/").split("/")
        absolute = relative.startswith(("/", "\\")) or Path(relative).is_absolute() or ":" in parts[0][1:2]
        if "\0" in relative or absolute or ".." in parts:
            raise InputError(f"{relative[:80]!r} does not lie inside the folder of this app; choose a file of it.")
        try:
            found = (self.path / relative).resolve()
        except (OSError, RuntimeError, ValueError):
            raise InputError(f"{relative[:80]!r} cannot be followed; choose another file.") from None
        if not found.is_relative_to(self.path):
            raise InputError(f"{relative[:80]!r} is a link that leads out of the folder of this app; copy the file.")
        return found

    def relative(self, path: Path) -> str:
        """A path inside the root as pages name it."""
        return path.relative_to(self.path).as_posix()

    def listing(self, relative: str = "") -> list[Entry]:
        """Folders and recordings of a folder, by name; what is hidden, and what leads out of the root, is not shown."""
        folder = self.inside(relative)
        suffixes = recording_suffixes()
        found = []
        try:
            with os.scandir(folder) as entries:
                some = sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name.lower())
        except OSError as error:
            raise InputError(f"cannot read the folder {relative or '.'}: {error.strerror}.") from error
        for entry in some:
            path = f"{relative}/{entry.name}".lstrip("/")
            try:
                real = self.inside(path)
                info = real.stat()
            except (InputError, OSError):
                continue
            if real.is_dir():
                found.append(Entry(entry.name, path, True, _holds_frames(real), 0, info.st_mtime))
            elif real.suffix.lower() in suffixes:
                found.append(Entry(entry.name, path, False, True, info.st_size, info.st_mtime))
        return sorted(found, key=lambda e: not e.folder)[:MOST]


def recording_suffixes() -> tuple[str, ...]:
    """Endings of files that nefty reads."""
    from nefty.data.formats import built_in, plug_ins
    from nefty.data.readers.refused import FORMATS

    refused = {suffix for one in FORMATS for suffix in one.suffixes}
    known = {suffix for one in (*built_in(), *plug_ins()[0]) for suffix in one.suffixes}
    return tuple(sorted(known - refused))


def _holds_frames(folder: Path) -> bool:
    """Whether a folder holds several frames of one kind."""
    counts: dict[str, int] = {}
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(200), entries, strict=False):
                suffix = os.path.splitext(entry.name)[1].lower()
                counts[suffix] = counts.get(suffix, 0) + 1
    except OSError:
        return False
    return any(counts.get(suffix, 0) >= FEWEST for suffix in PICTURES)
