"""The code of README, tutorials and how-tos runs as it stands, each page in a folder of its own, or says why not."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys

import pytest

from support.doc_pages import DOCS, ROOT, blocks, guides

GUIDES = {str(page.relative_to(ROOT)): page for page in guides()}
WITH_CODE = [name for name, page in GUIDES.items() if any(not block.reason for block in blocks(page, "python"))]


def run_script(script: str, folder) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    file = folder / "page.py"
    file.write_text(script, encoding="utf-8")
    return subprocess.run([sys.executable, str(file)], capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.parametrize("name", WITH_CODE)
def test_the_code_of_a_page_runs(name, tmp_path):
    page = GUIDES[name]
    script = [""] * (page.read_text(encoding="utf-8").count("\n") + 2)
    for block in blocks(page, "python"):
        if not block.reason:  # lines keep their numbers, so that a traceback names the line of the page
            for at, line in enumerate(block.code.splitlines()):
                script[block.line - 1 + at] = line
    done = run_script("\n".join(script), tmp_path)
    assert done.returncode == 0, f"{name}\n{done.stderr}"


@pytest.mark.parametrize("name", GUIDES)
def test_code_that_is_not_run_says_why_and_can_be_read(name):
    for block in blocks(GUIDES[name], "python"):
        if block.reason:
            assert len(block.reason) > 10
            ast.parse(block.code)
    assert not blocks(GUIDES[name], "py"), "write python, and why it is not run"


def test_the_notebook_is_the_first_tutorial_and_runs(tmp_path):
    """Its cells are the blocks of the page, so that the two cannot part; executed as one script."""
    notebook = json.loads((DOCS / "tutorials" / "first.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]).strip() for cell in notebook["cells"] if cell["cell_type"] == "code"]
    of_page = [block.code.strip() for block in blocks(DOCS / "tutorials" / "first.md", "python") if not block.reason]
    assert cells == of_page, "write it anew: python docs/_ext/notebook.py"
    done = run_script("\n\n".join(cells), tmp_path)
    assert done.returncode == 0, done.stderr
