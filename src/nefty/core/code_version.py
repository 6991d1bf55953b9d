"""What the code that decides a result is, as one hash: comments, docstrings and layout do not count.

Which modules decide follows from the folders. The outcome of a benchmark's task is decided by every package of nefty
but those in ``ONLY_SHOW`` and ``EXPERIMENTS``; a reconstruction by those in ``RECONSTRUCTION`` alone. A test walks the
imports of a task and of a reconstruction and finds all of them in the hash.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import nefty
from nefty.core.errors import NeftyError
from nefty.core.provenance import versions
from nefty.core.storage.files import write_atomic
from nefty.core.storage.hdf5 import digest

#: Packages that show results, arrange runs or check nefty itself, and that no number comes from.
ONLY_SHOW = (
    *("nefty.app", "nefty.batches", "nefty.bench.suites", "nefty.bench.tables", "nefty.cli", "nefty.report"),
    "nefty.testing",
)
#: Packages of experiments of their own, which no task runs through.
EXPERIMENTS = ("nefty.bench.illposedness", "nefty.bench.solver", "nefty.bench.studies")
#: Packages that a reconstruction runs through, from the file to the indications.
RECONSTRUCTION = ("nefty.core", "nefty.physics", "nefty.fields", "nefty.data", "nefty.result", "nefty.inversion")
#: Libraries that compute in a reconstruction, and those of the methods it is compared with.
NUMERICS = ("numpy", "scipy", "numba", "torch", "scikit-image")
PEERS = ("phiflow", "phiml", "nefi", "monai")
ROOT = Path(nefty.__file__).parent
KEPT = ROOT / "__pycache__" / "meanings.json"
MOST_KEPT = 5_000


@cache
def code_version() -> str:
    """Of all that decides the outcome of a benchmark's task, and the versions of the libraries it computes with."""
    return _hash(deciding_modules(), (*NUMERICS, *PEERS))


@cache
def code_version_of(*packages: str) -> str:
    """Of some packages, such as ``code_version_of(*RECONSTRUCTION)``, and the versions of the numerical libraries.

    Args:
        *packages: dotted names; modules in folders below them count too.
    """
    return _hash({name: file for name, file in _modules().items() if is_in(name, packages)}, NUMERICS)


@cache
def meaning_of(*packages: str, without: tuple[str, ...] = ()) -> str:
    """Of some packages alone, whatever the libraries are.

    Args:
        *packages: dotted names; modules in folders below them count too.
        without: packages or modules of these that do not count.
    """
    chosen = {n: file for n, file in _modules().items() if is_in(n, packages) and not is_in(n, without)}
    return _hash(chosen, ())


def deciding_modules() -> dict[str, Path]:
    """Dotted names and files of the modules that ``code_version`` is of."""
    return {name: file for name, file in _modules().items() if not is_in(name, (*ONLY_SHOW, *EXPERIMENTS))}


def is_in(module: str, packages: tuple[str, ...]) -> bool:
    """Whether a module is one of ``packages`` or lies below one; all by dotted names."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def source_version(path: Path) -> str:
    """Hash of the syntax tree of a module's file, or of all files in a folder and below."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return digest({str(file.relative_to(path)): _file_hash(file) for file in files})[:16]


def meaning(source: str) -> str:
    """The syntax tree of a module without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    # As Python 3.11 writes it: later ones have a field more, or leave empty ones out, and hashes would not agree.
    text = ast.dump(tree, **({"show_empty": True} if sys.version_info >= (3, 13) else {}))
    return text.replace(", type_params=[]", "")


def _hash(modules: dict[str, Path], libraries: tuple[str, ...]) -> str:
    return digest(_hashes(modules), versions(libraries))[:16]


def _hashes(modules: dict[str, Path]) -> dict[str, str]:
    before = len(_known())
    with _without_collection():
        found = {name: _hash_of(file) for name, file in modules.items()}
    if len(_known()) > before:
        _keep(_known())
    return found


def _file_hash(file: Path) -> str:
    source = file.read_text(encoding="utf-8")
    key, known = hashlib.sha256(f"{sys.version_info[:2]} {source}".encode()).hexdigest(), _known()
    if key not in known:
        known[key] = hashlib.sha256(meaning(source).encode()).hexdigest()
    return known[key]


#: Of nefty's own modules: a process reads each file once.
_hash_of = cache(_file_hash)


@cache
def _known() -> dict[str, str]:
    """Hashes of meanings by the hash of the text and the version of Python, which syntax trees depend on.

    Kept beside the compiled modules: to parse them all takes a second, and to read them a few hundredths.
    """
    try:
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(kept) if isinstance(kept, dict) and all(isinstance(v, str) for v in kept.values()) else {}


def _keep(known: dict[str, str]) -> None:
    """Keep them for the next process, where the folder can be written to."""
    newest = dict(list(known.items())[-MOST_KEPT:])
    with suppress(OSError, NeftyError):
        KEPT.parent.mkdir(exist_ok=True)
        write_atomic(KEPT, json.dumps(newest))


def _modules() -> dict[str, Path]:
    """Every module of nefty by its dotted name; the root itself only lists names."""
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        name = ".".join(("nefty", *(parts[:-1] if parts[-1] == "__init__" else parts)))
        if name != "nefty":
            found[name] = file
    return found


@contextmanager
def _without_collection() -> Iterator[None]:
    """Hundreds of trees are many objects and no garbage: looking through them takes longer than building them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
