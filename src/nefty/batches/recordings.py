"""Which recordings a batch has: those of a folder, those that fit a pattern, or a list."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nefty.core.cluster.worker import MARKER
from nefty.core.errors import InputError
from nefty.core.storage.run_folder import CONFIG
from nefty.data.formats import built_in, plug_ins

Given = str | os.PathLike[str]
MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Listed:
    """The recordings of a batch.

    Args:
        root: folder that all of them lie in; their names are counted from it.
        recordings: files, or folders of frames, in the order of their names.
        passed_over: files of a folder whose suffix is that of no format.
    """

    root: Path
    recordings: tuple[Path, ...]
    passed_over: tuple[Path, ...] = ()

    def name(self, recording: Path) -> str:
        """Of a recording, such as ``"monday/plate 7.tif"``."""
        return recording.relative_to(self.root).as_posix()


def list_recordings(given: Given | Iterable[Given]) -> Listed:
    """A folder stands for the recordings in it, a pattern (``"scans/**/*.tif"``) for all that fit, else it is a file.

    Folders within a folder are not looked into; a pattern may name folders of frames (``"scans/*/"``). What lies in the
    folder of a run or a batch is never a recording.

    Raises:
        InputError: there are none.
    """
    one = isinstance(given, (str, os.PathLike))
    asked = [given] if one else list(given)
    found: dict[Path, None] = {}
    passed_over: list[Path] = []
    roots = []
    for each in asked:
        root, paths, others = _listed(os.fspath(each))
        roots.append(root)
        passed_over += others
        found |= dict.fromkeys(path for path in paths if not _is_of_nefty(path))
    if not found:
        more = f"; {len(passed_over)} files there have the suffix of no format" if passed_over else ""
        raise InputError(
            f"no recording was found in {', '.join(map(str, asked)) or 'nothing'}{more}. Give a folder of recordings, "
            'or a pattern in quotes such as "scans/*.tif".'
        )
    root = Path(os.path.commonpath(roots))
    return Listed(root, tuple(sorted(found, key=_by_number)), tuple(passed_over))


def _listed(text: str) -> tuple[Path, list[Path], list[Path]]:
    """The root, the recordings and what was passed over, of one folder, pattern or file."""
    path = Path(text).absolute()
    if path.is_dir():
        files = [file for file in path.iterdir() if file.is_file() and not file.name.startswith(".")]
        known = suffixes()
        taken = [file for file in files if file.suffix.lower() in known]
        return path, taken, [file for file in files if file not in taken and file.suffix.lower() != ".toml"]
    if path.exists():
        return path.parent, [path], []
    if not MAGIC.search(text):
        raise InputError(f"there is no file or folder {text}; check its name.")
    parts = path.parts
    first = next(i for i, part in enumerate(parts) if MAGIC.search(part))
    paths = [
        Path(os.path.abspath(found))
        for found in glob.glob(os.path.abspath(text) + "/" * text.endswith("/"), recursive=True)
    ]
    return Path(*parts[:first]), [p for p in paths if p.suffix.lower() not in (".toml", ".html")], []


def suffixes() -> set[str]:
    """Of the files of all formats, in lower case with the dot."""
    return {suffix for format in (*built_in(), *plug_ins()[0]) for suffix in format.suffixes}


def _is_of_nefty(path: Path) -> bool:
    """Whether it is a file of a run, or lies in the folder of a batch."""
    return (path.parent / CONFIG).is_file() or any((folder / MARKER).is_file() for folder in path.parents)


def _by_number(path: Path) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """For sorting: plate 9 before plate 10."""
    return tuple(
        tuple((0, int(word), "") if word.isdigit() else (1, 0, word) for word in re.split(r"(\d+)", part) if word)
        for part in path.parts
    )
