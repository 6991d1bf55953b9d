"""Pages that are made of the code: the commands by their ``--help``, every key of a recipe, the list of public names,
the decisions, the changelog. They are written before Sphinx looks for pages, and are not in the repository.
"""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

from command_pages import commands_page
from pydantic import BaseModel
from recipe_pages import recipe_page
from repository_links import localised
from sphinx.application import Sphinx
from sphinx.ext.autodoc import Options
from surface_pages import names_page

ROOT = Path(__file__).parents[2]


def decisions_page(folder: Path) -> str:
    """The decision records, by number."""
    files = sorted(folder.glob("[0-9]*.md"))
    first = "Each record says what had to be decided, what was chosen and why, and what would change it."
    return "\n".join(
        ["# Decisions", "", first, "", "```{toctree}", ":maxdepth: 1", "", *(f.stem for f in files), "```", ""]
    )


def write_pages(app: Sphinx) -> None:
    """Write all of them; a page that is the same stays as it is, so that Sphinx does not read it again."""
    docs = Path(app.srcdir)
    pages = {
        "reference/commands.md": commands_page(),
        "reference/recipe.md": recipe_page(),
        "reference/names.md": names_page(docs / "reference"),
        "decisions/index.md": decisions_page(docs / "decisions"),
        "changelog.md": localised((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), ROOT, docs),
        "contributing.md": localised((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), ROOT, docs),
    }
    for name, text in pages.items():
        file = docs / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def short_signature(
    app: Sphinx, what: str, name: str, thing: object, options: Options, signature: str | None, returned: str | None
) -> tuple[str | None, str | None] | None:
    """No signature for checked settings, whose keys have a table, and for enumerations."""
    if isinstance(thing, type) and issubclass(thing, (BaseModel, Enum)):
        return "", None
    return None


def plain_text(app: Sphinx, what: str, name: str, thing: object, options: Options, lines: list[str]) -> None:
    """Docstrings are plain text: |x| is a magnitude and no reference, keys of settings are a list."""
    if isinstance(thing, dict):
        lines.clear()
    if isinstance(thing, type) and issubclass(thing, BaseModel):
        lines[:] = _listed_keys(lines, list(thing.model_fields))
    lines[:] = ["``".join(_escaped(line.split("``"))) for line in lines]


def _escaped(pieces: list[str]) -> list[str]:
    return [piece.replace("|", r"\|") if i % 2 == 0 else piece for i, piece in enumerate(pieces)]


def _listed_keys(lines: list[str], keys: list[str]) -> list[str]:
    """Paragraphs that begin with a key become lists of keys."""
    if not keys:
        return lines
    key = "|".join(map(re.escape, keys))
    head, listed, found = re.compile(rf"((?:{key})(?:, (?:{key}))*): "), False, []
    for before, line in zip(["", *lines], lines, strict=False):
        if head.match(line) and (listed or not before.strip()):
            listed = True
            found.append("* " + head.sub(lambda m: f"``{m[1]}``: ", line, count=1))
        elif listed and line.strip():
            found.append("  " + line.strip())
        else:
            listed = False
            found.append(line)
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Let Sphinx know."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-signature", short_signature)
    app.connect("autodoc-process-docstring", plain_text, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
