"""What the code that decides a result is, as one hash: comments, docstrings and layout do not count."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import nefty
from nefty.core.hdf5 import digest
from nefty.core.provenance import versions

#: Packages and modules that a reconstruction or its score runs through.
DECIDING = (
    "core",
    "physics",
    "data",
    "fields",
    "synth",
    "inversion",
    "classical",
    "pinn",
    "supervised",
    "result",
    "metrics",
)
DECIDING += ("testing/slab.py", "report/findings.py", "bench/task.py", "bench/reconstructors.py", "bench/peers_nefi.py")
DECIDING += ("bench/simulated.py", "bench/front_view.py", "bench/plate_recording.py", "bench/plate_adaptation.py")
DECIDING += ("bench/plate_score.py", "bench/classical.py", "bench/networks.py", "bench/pinns.py")
#: Libraries that do.
LIBRARIES = ("numpy", "scipy", "numba", "torch", "scikit-image", "phiflow", "phiml", "nefi", "monai")


@cache
def code_version(parts: tuple[str, ...] = DECIDING) -> str:
    """Hash of the syntax trees of all modules in ``parts`` of the package, and of the versions of the libraries."""
    texts = {name: meaning(file.read_text(encoding="utf-8")) for name, file in _modules(parts)}
    return digest(texts, versions(LIBRARIES))[:16]


def meaning(source: str) -> str:
    """The syntax tree of a module without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)


def _modules(parts: Iterable[str]) -> list[tuple[str, Path]]:
    here = Path(nefty.__file__).parent
    files = [
        file for part in parts for file in ([here / part] if part.endswith(".py") else (here / part).rglob("*.py"))
    ]
    return sorted((file.relative_to(here).as_posix(), file) for file in files)
