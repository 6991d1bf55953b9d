"""What other installed packages add to nefty by entry point: readers of files, methods of the benchmark."""

from __future__ import annotations

import importlib.metadata
import warnings
from dataclasses import dataclass
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class PlugIn(Generic[Thing]):
    """One thing that an entry point adds.

    Args:
        thing: what it is.
        entry: name of the entry point.
        module: dotted name of the module that the entry point names.
        package: name and version of the distribution that it comes with, ``""`` if that is not known.
    """

    thing: Thing
    entry: str
    module: str
    package: str


@dataclass(frozen=True)
class PlugIns(Generic[Thing]):
    """All of a group: what was ``found``, and why entry points are ``broken``, by their names."""

    found: tuple[PlugIn[Thing], ...]
    broken: dict[str, str]


def load_plug_ins(group: str, kind: type[Thing], what: str) -> PlugIns[Thing]:
    """Load every entry point of a group; one that is broken is warned about, and the others go on.

    Args:
        group: such as ``"nefty.readers"``.
        kind: of the thing; an entry point is one of them or a list of them.
        what: it is called in the warning.
    """
    found: list[PlugIn[Thing]] = []
    broken: dict[str, str] = {}
    for entry in importlib.metadata.entry_points(group=group):
        try:
            loaded = entry.load()
            things = [loaded] if isinstance(loaded, kind) else list(loaded)
            for thing in things:
                if not isinstance(thing, kind):
                    raise TypeError(f"{thing!r} is no {kind.__module__}.{kind.__qualname__}")
            package = "" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
            found += [PlugIn(thing, entry.name, entry.value.partition(":")[0], package) for thing in things]
        except Exception as error:  # of somebody else's code
            broken[entry.name] = f"{type(error).__name__}: {error}"
            warnings.warn(f"the {what} plug-in {entry.name!r} ({entry.value}) is broken: {error}", stacklevel=3)
    return PlugIns(tuple(found), broken)
