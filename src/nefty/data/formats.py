"""The formats that recordings come in: those of nefty, and those that other packages add by entry point."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from nefty.core.plug_ins import load_plug_ins
from nefty.data.given import Given
from nefty.data.sequence import Sequence

GROUP = "nefty.readers"
HEAD = 4096  # bytes of a file that ``sniff`` sees


@dataclass(frozen=True)
class Format:
    """One format of recordings.

    Args:
        name: in words, for messages.
        suffixes: of its files, in lower case with the dot; none for a folder.
        sniff: whether the first bytes of a file, or a folder, are of this format. Called as ``sniff(head, path)``; the
            head is empty for a folder.
        read: the recording, as ``read(path, given)``; raises ``InputError`` if the file is not what it should be.
    """

    name: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes, Path], bool]
    read: Callable[[Path, Given], Sequence]


def choose(head: bytes, path: Path, formats: Iterable[Format]) -> Format | None:
    """The format whose content and suffix fit, else the first whose content does."""
    fitting = [format for format in formats if _fits(format, head, path)]
    return next((format for format in fitting if path.suffix.lower() in format.suffixes), next(iter(fitting), None))


def _fits(format: Format, head: bytes, path: Path) -> bool:
    try:
        return bool(format.sniff(head, path))
    except Exception as error:  # of a plug-in; the others go on
        warnings.warn(f"the reader {format.name!r} cannot tell whether it reads {path}: {error}", stacklevel=3)
        return False


def built_in() -> tuple[Format, ...]:
    """The formats that nefty reads itself."""
    from nefty.data.readers import folder, matlab5, matlab73, numpy_arrays, refused, thermo_hdf5, tiff
    from nefty.data.readers.cameras import ats, edevis, fff, irb, ptw, sfmov

    cameras = (ptw, irb, fff, ats, sfmov, edevis)
    modules = (thermo_hdf5, matlab73, matlab5, numpy_arrays, tiff, *cameras, folder, refused)
    return tuple(format for module in modules for format in module.FORMATS)


@functools.cache
def plug_ins() -> tuple[tuple[Format, ...], dict[str, str]]:
    """Formats of other packages, entry points of the group ``nefty.readers``; and why some are broken, by name.

    An entry point is a ``Format`` or a list of them. Built-in formats come first where both fit.
    """
    loaded = load_plug_ins(GROUP, Format, "reader")
    return tuple(one.thing for one in loaded.found), loaded.broken
