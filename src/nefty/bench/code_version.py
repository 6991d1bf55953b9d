"""What the code that decides a result is, as one hash: comments, docstrings and layout do not count."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import nefty
from nefty.core.hdf5 import digest
from nefty.core.provenance import versions

#: Packages that a reconstruction or its score runs through.
DECIDING = ("core", "physics", "data", "fields", "synth", "inversion", "result", "metrics")
#: Modules of this package that do.
ALSO = ("task.py", "reconstructors.py", "peers_nefi.py")


@cache
def code_version() -> str:
    """Hash of the syntax trees of all modules that decide a result, and of the versions of the libraries."""
    here = Path(nefty.__file__).parent
    files = [file for name in DECIDING for file in sorted((here / name).rglob("*.py"))]
    files += [here / "bench" / name for name in ALSO]
    texts = {file.relative_to(here).as_posix(): meaning(file.read_text(encoding="utf-8")) for file in files}
    return digest(texts, versions())[:16]


def meaning(source: str) -> str:
    """The syntax tree of a module without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)
