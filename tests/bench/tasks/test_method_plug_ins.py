"""Methods of other packages, by the entry points of a distribution that lies on ``sys.path``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from nefty.bench.suites.load import load_suite
from nefty.bench.tasks import methods
from nefty.bench.tasks.methods import Method, method, method_code, plug_ins
from nefty.bench.tasks.runner import run_tasks
from nefty.bench.tasks.task import perform
from nefty.core.cluster.place import Place
from nefty.core.errors import InputError
from support.plug_in_site import install
from support.tiny_suite import tiny_suite

OURS = """
import nefty
from nefty.bench.tasks.methods import Method

FIRM = Method("firm", "Firm", "plugged.ours:reconstruct", takes="means", note="much total variation")
MORE = [Method("soft", "Soft", "plugged.ours:reconstruct")]
TAKEN = Method("fast", "Not so fast", "plugged.ours:reconstruct")
NONE = 3


def reconstruct(sequence, settings, budget):
    changes = {"weight.tv": 8.0, "model.layers": sequence.truth.shape[0], "stages.where.iterations": 2}
    return nefty.reconstruct(sequence, overrides={**changes, "stop.seconds": 1.0})
"""
MODULES = {"plugged/__init__.py": "", "plugged/ours.py": OURS}


@pytest.fixture
def plug(tmp_path, monkeypatch):
    """Install a distribution with these entry points; may be called again."""

    def forget():
        plug_ins.cache_clear()
        methods._plugged_code.cache_clear()
        for name in [name for name in sys.modules if name.partition(".")[0] == "plugged"]:
            del sys.modules[name]
        importlib.invalidate_caches()

    def install_again(entries, modules=MODULES, version="1.0"):
        install(tmp_path / "site", modules, entries, version)
        monkeypatch.syspath_prepend(tmp_path / "site")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"), prepend=":")  # for workers
        forget()

    yield install_again
    forget()


def rows(*names):
    return tiny_suite("0", methods=[{"method": name} for name in names])


def test_a_method_of_another_package_is_a_row_like_any_other(plug, tmp_path):
    plug({"firm": "plugged.ours:FIRM", "more": "plugged.ours:MORE"})
    assert method("soft").title == "Soft"
    assert method("firm").takes == "means"
    suite = load_suite(rows("firm", "fast"))
    assert [row.name for row in suite.methods] == ["Firm", "nefty fast"]
    firm = [entry for entry in suite.entries() if entry.row == "Firm"]
    found = run_tasks(firm, tmp_path / "out", Place(workers=1))  # in a worker process
    assert not found.failed
    assert found.done[0][1].alpha.shape == (6, 12, 12)


def test_the_example_of_the_docs_works(plug):
    text = (Path(__file__).parents[3] / "docs" / "suites.md").read_text(encoding="utf-8")
    example = text.partition("`my_package/methods.py`:\n\n```python\n")[2].partition("```")[0]
    plug({"firm": "plugged.methods:FIRM"}, {**MODULES, "plugged/methods.py": example.replace("my_package", "plugged")})
    suite = load_suite(tiny_suite("0", methods=[{"method": "firm", "seconds": 1, "set": {"tv": 4.0}}]))
    (entry,) = suite.entries()
    assert entry.task.settings == {"tv": 4.0}
    assert perform(entry.task).alpha.shape == (6, 12, 12)


def test_it_takes_no_settings_unless_its_module_has_a_function_for_them(plug):
    plug({"firm": "plugged.ours:FIRM"})
    with pytest.raises(InputError, match="method 'firm' takes no settings, got weight"):
        load_suite(tiny_suite("0", methods=[{"method": "firm", "set": {"weight": 1}}]))
    checked = OURS + "\n\ndef settings(changes):\n    return {'weight': 2.0, **changes}\n"
    plug({"firm": "plugged.ours:FIRM"}, {**MODULES, "plugged/ours.py": checked})
    assert load_suite(rows("firm")).entries()[0].task.settings == {"weight": 2.0}


def test_its_code_and_version_are_in_the_keys_of_its_own_tasks(plug):
    def keys():
        return {entry.task.method: entry.task.key for entry in load_suite(rows("firm", "fast")).entries()}

    entries = {"firm": "plugged.ours:FIRM"}
    plug(entries)
    before = keys()
    assert method_code("fast") == ""
    plug(entries, {**MODULES, "plugged/ours.py": f"# a comment\n{OURS}"})
    assert keys() == before
    plug(entries, {**MODULES, "plugged/ours.py": OURS.replace("8.0", "9.0")})
    changed = keys()
    plug(entries, {**MODULES, "plugged/beside.py": "TUNED = 3\n"})
    helped = keys()
    plug(entries, MODULES, version="1.1")
    newer = keys()
    assert len({found["firm"] for found in (before, changed, helped, newer)}) == 4
    assert {found["fast"] for found in (before, changed, helped, newer)} == {before["fast"]}


def test_broken_ones_are_warned_about_and_do_not_stop_the_others(plug):
    plug(
        {
            "lost": "plugged.lost:FIRM",
            "none": "plugged.ours:NONE",
            "taken": "plugged.ours:TAKEN",
            "firm": "plugged.ours:FIRM",
        }
    )
    with pytest.warns(UserWarning, match="method plug-in") as warned:
        assert isinstance(method("firm"), Method)
    assert len(warned) == 3
    assert set(plug_ins().broken) == {"lost", "none", "taken"}
    assert "there is a method 'fast' already" in plug_ins().broken["taken"]
    assert method("fast").title == "nefty fast"
    with pytest.raises(InputError, match=r"method='frm' is unknown.*Did you mean 'firm'\?.*plug-in 'lost' could not"):
        method("frm")


def test_the_doctor_lists_them(plug):
    from nefty.cli.doctor import _plug_ins

    plug({"lost": "plugged.lost:FIRM", "firm": "plugged.ours:FIRM"})
    told = _plug_ins()
    assert told["method firm"] == "found, of plugged 1.0"
    assert told["methods lost"].startswith("broken: ModuleNotFoundError")
