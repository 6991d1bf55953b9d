"""The page of public names: what each package offers, and where its entry is. Read from the ``__init__.pyi`` files."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import nefty

PACKAGE = Path(nefty.__file__).parent
ENTRY = re.compile(r"^\.\. auto(?:class|function|exception|data):: ([\w.]+)$", re.MULTILINE)
IMPORT = re.compile(r"^from \.([\w.]+) import (\w+) as \2$", re.MULTILINE)


def surfaces() -> dict[str, dict[str, str]]:
    """Of each package that has a surface: its names, and where each is defined, as ``"module:name"``."""
    found = {}
    for stub in sorted(PACKAGE.rglob("__init__.pyi")):
        package = ".".join(["nefty", *stub.parent.relative_to(PACKAGE).parts])
        names = IMPORT.findall(stub.read_text(encoding="utf-8"))
        found[package] = {name: f"{package}.{module}:{name}" for module, name in names}
    return found


def thing(path: str) -> object:
    """What a dotted path names, such as ``"nefty.physics.Boundary"``."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def entries(folder: Path) -> dict[str, str]:
    """Dotted paths that have an entry, and the page of each."""
    pages = {page.name: page.read_text(encoding="utf-8") for page in sorted(folder.glob("*.md"))}
    return {path: name for name, text in pages.items() for path in ENTRY.findall(text)}


def first_words(found: object) -> str:
    """The first sentence of a docstring; of a table, how many it holds."""
    if isinstance(found, dict):
        return f"A table of {len(found)}, by name."
    text = " ".join((inspect.getdoc(found) or "").split("\n\n")[0].split())
    if isinstance(found, type) is False and not callable(found):
        return "A type."
    return re.split(r"(?<=[.:]) ", text)[0].replace("|", "\\|").replace("*", "\\*")


def names_page(folder: Path) -> str:
    """The page.

    Args:
        folder: of the pages that hold the entries.
    """
    where = {id(thing(path)): path for path in entries(folder)}
    lines = ["# Public names", "", "What each package offers. These names stay; what is not here may change.", ""]
    for package, names in surfaces().items():
        lines += [f"## `{package}`", "", "| name | what it is |", "|---|---|"]
        module = importlib.import_module(package)
        for name in names:
            found = getattr(module, name)
            path = where.get(id(found))
            shown = f"[`{name}`](#{path})" if path else f"`{name}`"
            lines.append(f"| {shown} | {first_words(found)} |")
        lines.append("")
    return "\n".join(lines)
