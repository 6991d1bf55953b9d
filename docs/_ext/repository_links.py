"""Links to files of the repository that are no pages become plain words, so that the site needs no forge."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")
PAGES = {  # files outside of docs/, and the page that shows them
    ROOT / "CHANGELOG.md": "changelog.md",
    ROOT / "CONTRIBUTING.md": "contributing.md",
    ROOT / "README.md": "index.md",
}


def localised(text: str, folder: Path, docs: Path) -> str:
    """Text with links as they hold within ``docs``.

    Args:
        text: Markdown.
        folder: from which its links count.
        docs: of the pages.
    """

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        file = (folder / target).resolve()
        if file in PAGES:
            return f"[{words}](/{PAGES[file]})"
        if file == docs / "decisions":
            return f"[{words}](/decisions/index.md)"
        if file.is_dir() or docs not in file.parents:
            return words
        return f"[{words}](/{file.relative_to(docs)}{anchor})"

    return LINK.sub(link, text)


def _read(app: Sphinx, name: str, content: list[str]) -> None:
    source = Path(app.env.doc2path(name))
    if source.suffix == ".md":
        content[0] = localised(content[0], source.parent, Path(app.srcdir))


def setup(app: Sphinx) -> dict[str, bool]:
    """Let Sphinx know."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
