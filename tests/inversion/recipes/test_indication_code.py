"""What of nefty decides indications: a change of it refuses intervals, a change of anything else does not."""

import sys

import pytest

from nefty.bench.tasks.simulated import Simulated
from nefty.core import code_version
from nefty.core.code_version import is_in, meaning_of
from nefty.inversion import indication_code
from nefty.inversion.indication_code import NOT_OF_VOLUMES, OF_NETWORKS, OF_VOLUMES, code_of_indications
from nefty.inversion.recipe import load_recipe
from nefty.inversion.reconstruct import reconstruct

#: What a reconstruction runs through and no number of an indication comes from: facts, files, the clock, the words.
ARRANGES = (
    *("nefty.core", "nefty.result.effort", "nefty.result.reach", "nefty.result.reconstruction", "nefty.result.notes"),
    *("nefty.data.facts", "nefty.data.sequence", "nefty.data.deciding", "nefty.inversion.indication_code"),
    "nefty.inversion.suspects",  # after the indications
)


@pytest.fixture(scope="module")
def ran():
    """Modules of nefty of which a function runs between a recording and its indications, by the recipe ``fast``."""
    recording, found = Simulated(shape=(8, 24, 24), frames=25, noise=1e-3).sequence("layered", 6), set()

    def called(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            found.add(frame.f_globals.get("__name__", ""))

    sys.setprofile(called)
    try:
        reconstruct(recording, recipe="fast", overrides={"model.layers": 8}).indications()
    finally:
        sys.setprofile(None)
    return {name for name in found if name.startswith("nefty.")}


def test_all_that_a_volume_runs_through_decides(ran):
    without = (*NOT_OF_VOLUMES, *OF_NETWORKS)
    counted = {name for name in ran if is_in(name, OF_VOLUMES) and not is_in(name, without)}
    assert {"nefty.inversion.loop", "nefty.inversion.evidence.weigh", "nefty.physics.heat_model"} <= counted
    assert {name for name in ran - counted if not is_in(name, ARRANGES)} == set()


def test_what_is_left_out_is_there_and_is_not_run_through(ran):
    modules = code_version._modules()
    assert all(any(is_in(name, (left,)) for name in modules) for left in NOT_OF_VOLUMES)
    assert {name for name in ran if is_in(name, NOT_OF_VOLUMES)} <= {n for n in ran if is_in(n, ARRANGES)}


def test_a_deciding_module_changes_the_code_of_its_recipes_and_no_other(monkeypatch):
    fast, real = load_recipe("fast"), load_recipe("real")
    kept = code_version._hash_of

    def codes(part=None):
        meaning_of.cache_clear()
        monkeypatch.setattr(code_version, "_hash_of", lambda f: "changed" if part and part in str(f) else kept(f))
        return code_of_indications(fast), code_of_indications(real)

    before = codes()
    for part, of_fast, of_real in (
        ("inversion/loop.py", True, False),
        ("evidence/weigh.py", True, True),
        ("evidence/sheets.py", False, True),
        ("calibration/sound_decay.py", False, True),
        ("physics/heat_model.py", True, True),
        ("indications/segmentation.py", True, False),
        ("indications/intervals.py", False, False),
        ("fields/neural.py", False, False),
        ("evidence/null.py", False, False),
        ("inversion/suspects/find.py", False, False),
        ("report/pages/page.py", False, False),
    ):
        after = codes(part)
        assert (after[0] != before[0], after[1] != before[1]) == (of_fast, of_real), part
    assert codes() == before
    meaning_of.cache_clear()


def test_networks_decide_where_one_is_fitted(monkeypatch):
    neural, kept = load_recipe("neural"), code_version._hash_of
    before = code_of_indications(neural)
    meaning_of.cache_clear()
    monkeypatch.setattr(code_version, "_hash_of", lambda f: "changed" if "fields/neural" in str(f) else kept(f))
    assert code_of_indications(neural) != before
    meaning_of.cache_clear()


@pytest.mark.parametrize("recipe", ["fast", "real"])
def test_the_threshold_of_the_default_rate_decides(monkeypatch, recipe):
    before = code_of_indications(load_recipe(recipe))
    monkeypatch.setattr(indication_code, "threshold", lambda rate: 4.0)
    assert code_of_indications(load_recipe(recipe)) != before


@pytest.mark.parametrize(
    ("change", "decides"),
    [
        ({"weight.tv": 8.0}, True),
        ({"stages.4.iterations": 29}, True),
        ({"model.layers": 8}, True),
        ({"evidence.false_calls": 1.0}, True),
        ({"calibration.strata": 1}, True),
        ({"seed": 3}, False),
        ({"stop.seconds": 10.0}, False),
        ({"ensemble.members": 8}, False),
        ({"evidence.sheet.steps": 3}, False),
        ({"calibration.decay.steps": 3}, False),
    ],
)
def test_settings_that_decide_a_volume_count(change, decides):
    assert (code_of_indications(load_recipe("fast", change)) != code_of_indications(load_recipe("fast"))) == decides
