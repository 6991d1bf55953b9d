"""Which modules decide an outcome: it follows from the folders, and the imports of a task prove it."""

from __future__ import annotations

import time

import grimp
import pytest

from nefty.bench.tasks.methods import METHODS
from nefty.core import code_version as module
from nefty.core.code_version import (
    EXPERIMENTS,
    ONLY_SHOW,
    RECONSTRUCTION,
    code_version,
    code_version_of,
    deciding_modules,
    is_in,
    meaning,
    source_version,
)


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("nefty", exclude_type_checking_imports=True)


def reached(graph, starts) -> set[str]:
    """All modules that some can import, at once or later, and the packages that lie around them."""
    found = {name for start in starts for name in (start, *graph.find_upstream_modules(start))}
    return found | {name.rpartition(".")[0] for name in found} - {"nefty"}


def test_every_module_that_a_task_can_import_is_in_the_hash(graph):
    starts = {"nefty.bench.tasks.task", *(one.where.partition(":")[0] for one in METHODS.values())}
    found = reached(graph, starts)
    assert {"nefty.inversion.loop", "nefty.bench.plates.score", "nefty.metrics.pairing"} <= found
    assert {name for name in found if is_in(name, (*ONLY_SHOW, *EXPERIMENTS))} == set()
    assert found - {"nefty", ""} <= set(deciding_modules())


def test_every_module_that_a_reconstruction_can_import_is_in_its_hash(graph):
    found = reached(graph, {"nefty.inversion.reconstruct"}) - {"nefty", ""}
    assert {name for name in found if not is_in(name, RECONSTRUCTION)} == set()


def test_packages_that_only_show_are_named_right():
    there = {
        file.parent.relative_to(module.ROOT.parent).as_posix().replace("/", ".")
        for file in module.ROOT.rglob("__init__.py")
    }
    assert {*ONLY_SHOW, *EXPERIMENTS} - {"nefty.app"} <= there
    assert set(RECONSTRUCTION) <= there


def test_comments_and_docstrings_do_not_count():
    one = 'def f(x):\n    """Words."""\n    return x + 1\n'
    other = "# comment\ndef f(x):\n    return (x + 1)\n"
    assert meaning(one) == meaning(other)
    assert meaning(one) != meaning(other.replace("1", "2"))


def test_a_change_of_a_deciding_module_changes_the_version(monkeypatch):
    def versions() -> tuple[str, str]:
        code_version.cache_clear()
        code_version_of.cache_clear()
        return code_version(), code_version_of(*RECONSTRUCTION)

    before = versions()
    kept = module._hash_of

    def edited(part: str) -> tuple[str, str]:
        monkeypatch.setattr(module, "_hash_of", lambda file: "changed" if part in str(file) else kept(file))
        return versions()

    assert edited("bench/tasks/simulated.py")[0] != before[0]
    assert edited("bench/tasks/simulated.py")[1] == before[1]
    assert edited("inversion/loop.py")[1] != before[1]
    assert edited("report/pages/page.py") == before
    monkeypatch.setattr(module, "_hash_of", kept)
    assert versions() == before


def test_sources_of_a_folder_and_of_a_file(tmp_path):
    (tmp_path / "a.py").write_text("X = 1\n")
    one, alone = source_version(tmp_path), source_version(tmp_path / "a.py")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.py").write_text("X = 1\n")
    assert source_version(tmp_path) != one
    (tmp_path / "a.py").write_text("X = 2\n")
    assert source_version(tmp_path / "a.py") != alone


def test_it_is_fast():
    for cached in (code_version, module._hash_of):
        cached.cache_clear()
    start = time.process_time()
    code_version()
    assert time.process_time() - start < 3  # 0.7 s alone on a laptop; every run of a suite pays it once


def test_hashes_are_kept_for_the_next_process_by_the_text_of_each_file(tmp_path, monkeypatch):
    """What is kept speaks of a text; another text, or a file that says nonsense, is read anew."""
    kept = tmp_path / "__pycache__" / "meanings.json"
    source = tmp_path / "some.py"
    source.write_text("x = 1\n")
    monkeypatch.setattr(module, "KEPT", kept)

    def hashed():
        module._known.cache_clear()
        module._hash_of.cache_clear()
        return module._hashes({"some": source})["some"]

    try:
        first = hashed()
        assert first in kept.read_text()
        kept.write_text(kept.read_text().replace(first, "as it was kept"))
        assert hashed() == "as it was kept"
        source.write_text("x = 2\n")
        assert hashed() not in (first, "as it was kept")
        source.write_text("x = 1\n")
        for nonsense in ("", "[]", '{"a": 1}'):
            kept.write_text(nonsense)
            assert hashed() == first
    finally:
        module._known.cache_clear()
        module._hash_of.cache_clear()
