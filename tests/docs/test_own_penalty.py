"""The page on penalties enters one into the table before any recipe is read: so it runs in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from support.docs.pages import DOCS, blocks


def test_a_penalty_of_ones_own_counts_in_a_recipe(tmp_path):
    code = "\n".join(block.code for block in blocks(DOCS / "howto" / "new-penalty.md", "python"))
    code += '\nassert max(rec.history["smooth"]) > 0\n'
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
