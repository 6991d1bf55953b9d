"""The code of a page: blocks that run, and blocks that say why not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^>]+?) -->\n+)?```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Args:
        language: after the fence.
        code: within it.
        line: of the page on which the code begins, from 1.
        reason: why it is not run; empty if it is.
    """

    language: str
    code: str
    line: int
    reason: str = ""


def blocks(page: Path, language: str) -> list[Block]:
    """All blocks of a language, in order."""
    text = page.read_text(encoding="utf-8")
    found = [
        Block(match["language"], match["code"], text[: match.start("code")].count("\n") + 1, match["reason"] or "")
        for match in BLOCK.finditer(text)
    ]
    return [block for block in found if block.language == language]


def guides() -> list[Path]:
    """README, tutorials and how-tos; the how-tos are those that the index of the how-tos lists."""
    index = (DOCS / "howto" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^(/?[\w-]+)$", index, re.MULTILINE)
    howtos = [DOCS / f"{name[1:]}.md" if name.startswith("/") else DOCS / "howto" / f"{name}.md" for name in listed]
    return [ROOT / "README.md", *sorted((DOCS / "tutorials").glob("*.md")), *howtos]


def explanations() -> list[Path]:
    """All other pages with code in Python; the examples of the reference are ``pycon``, and tested by themselves."""
    known = {page.resolve() for page in guides()}
    pages = [page for page in DOCS.rglob("*.md") if not {"_build", "auto_examples", "decisions"} & set(page.parts)]
    return sorted(page for page in pages if page.resolve() not in known and blocks(page, "python"))
