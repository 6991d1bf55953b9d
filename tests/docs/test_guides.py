"""The code of README and of all pages runs as it stands, each page in a folder of its own, or says why not."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from support.docs.pages import DOCS, ROOT, Block, blocks, explanations, guides

FIRST = DOCS / "tutorials" / "first.md"
GUIDES = {str(page.relative_to(ROOT)): page for page in [*guides(), *explanations()]}
WITH_CODE = [name for name, page in GUIDES.items() if any(not block.reason for block in blocks(page, "python"))]


def run(code: list[Block], page: Path) -> None:
    """Run blocks as one program; its lines have the numbers of the page, so that a traceback names them."""
    lines = [""] * max(block.line + block.code.count("\n") for block in code)
    for block in code:
        lines[block.line - 1 : block.line - 1 + block.code.count("\n")] = block.code.splitlines()
    exec(compile("\n".join(lines), str(page), "exec"), {"__name__": "page"})


@pytest.mark.parametrize("name", [name for name in WITH_CODE if GUIDES[name] != FIRST])
@pytest.mark.filterwarnings("default")
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run([block for block in blocks(GUIDES[name], "python") if not block.reason], GUIDES[name])


@pytest.mark.parametrize("name", GUIDES)
def test_code_that_is_not_run_says_why_and_can_be_read(name):
    for block in blocks(GUIDES[name], "python"):
        if block.reason:
            assert len(block.reason) > 10
            ast.parse(block.code)
    assert not blocks(GUIDES[name], "py"), "write python, and why it is not run"


@pytest.mark.filterwarnings("default")
def test_the_notebook_is_the_first_tutorial_and_runs(tmp_path, monkeypatch):
    notebook = json.loads((DOCS / "tutorials" / "first.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]).strip() for cell in notebook["cells"] if cell["cell_type"] == "code"]
    of_page = [block for block in blocks(FIRST, "python") if not block.reason]
    assert cells == [block.code.strip() for block in of_page], "write it anew: python docs/_ext/notebook.py"
    monkeypatch.chdir(tmp_path)
    run(of_page, FIRST)
    assert (tmp_path / "first-run" / "report.html").is_file()
