"""Suite files are checked whole before anything runs."""

from __future__ import annotations

import copy

import pytest

from nefty.bench.suites.load import load_suite, load_suites, suite_names
from nefty.bench.suites.suite import Suite
from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.methods import METHODS
from nefty.core.errors import InputError
from support.tiny_suite import tiny_suite

ISSUE = {"main", "robustness", "surface", "ablation", "efficiency", "solver", "validation", "illposedness", "noise"}


def test_the_suites_that_come_with_nefty_are_valid():
    assert {*ISSUE, "contrast", "smoke", "paper"} <= set(suite_names())
    for name in suite_names():
        suite = load_suite(name)
        assert suite.name == name
        assert suite.methods or suite.experiments or suite.includes


def test_paper_is_all_of_them_at_any_number_of_specimens():
    whole = load_suites("paper")
    assert whole[-1].name == "paper"
    assert {s.name for s in whole} >= {*ISSUE, "contrast"}
    few = load_suites("paper", seeds="0:1", only={"methods": ["fast"], "kinds": [], "data": []})
    assert {e.task.seed for s in few for e in s.entries()} == {0}
    assert {e.task.method for s in few for e in s.entries()} == {"fast"}
    assert "ablation" not in {s.name for s in few}  # it has no such method
    assert "solver" in {s.name for s in few}
    with pytest.raises(InputError, match=r"methods='fats' is unknown.*Did you mean 'fast'\?"):
        load_suites("paper", only={"methods": ["fats"]})


def test_a_row_that_is_too_slow_for_all_seeds_stays_so():
    entries = load_suite("efficiency", seeds="0:500").entries()
    assert [e.task.seed for e in entries if e.task.method == "paper"] == [0, 0]


def test_suites_that_extend_main_share_its_tasks():
    keys = {entry.task.key for entry in load_suite("main").entries()}
    for name in ("robustness", "surface"):
        assert {entry.task.key for entry in load_suite(name).entries()} == keys
    assert keys < {entry.task.key for entry in load_suite("efficiency").entries()}


def changed(*path, value):
    """The tiny suite with one value changed or added."""
    values = copy.deepcopy(tiny_suite())
    inside = values
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    return values


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (changed("methods", 0, "method", value="fats"), r"method='fats' is unknown.*Did you mean 'fast'\?"),
        (changed("methods", 0, "recipe", value="neurla"), r"recipe='neurla' is unknown.*Did you mean 'neural'\?"),
        (changed("methods", 0, "set", value={"weight.tvs": 1.0}), r"key 'weight.tvs' is unknown.*Did you mean 'tv'\?"),
        (changed("methods", 0, "set", value={"weight.tv": -1.0}), r"weight.tv.*greater than or equal to 0"),
        (
            changed("methods", 0, "iteration", value=3),
            r"key 'methods.0.iteration' is unknown.*Did you mean 'iterations'\?",
        ),
        (changed("methods", 0, "iterations", value=0), r"methods.0.iterations=0: .*greater than or equal to 1"),
        (changed("methods", 0, "iterations", value=3), r"has 5 stages, which need more than 3 iterations"),
        (changed("data", "clean", "nois", value=0.1), r"key 'data.clean.nois' is unknown.*Did you mean 'noise'\?"),
        (changed("data", "clean", "noise", value=-0.1), r"data.clean.noise=-0.1: .*greater than or equal to 0"),
        (
            changed("data", "clean", "engine", value="explict"),
            r"engine='explict' is unknown.*Did you mean 'explicit'\?",
        ),
        (changed("data", "clean", "kinds", value=["layerd"]), r"kind='layerd' is unknown.*Did you mean"),
        (changed("data", "clean", "kinds", value=["layered", "layered"]), r"repeat; each specimen counts once"),
        (changed("data", "clean", "shape", value=[8, 6, 6]), r"fewer than the 7 pixels along y and x that SSIM needs"),
        (changed("data", "clean", "ranges", value={"gap": "x"}), r"ranges \{'gap': 'x'\}"),
        (changed("data", "clean", "ranges", value={"margin": 6}), r"ranges \{'margin': 6\}"),
        (changed("data", "clean", "seeds", value="8:0"), r"seeds '8:0' must be a range such as 0:8"),
        (
            changed("data", "clean", "ranges", value={"radios": [1, 2]}),
            r"range='radios' is unknown.*Did you mean 'radius'\?",
        ),
        (changed("tables", value=["qualty"]), r"qualty.* is unknown.*Did you mean 'quality'\?"),
        (changed("figures", value=["slice"]), r"slice.* is unknown.*Did you mean 'slices'\?"),
        (changed("experiments", value=[{"name": "solvr"}]), r"experiment='solvr' is unknown.*Did you mean 'solver'\?"),
        (
            changed("experiments", value=[{"name": "solver", "options": {"repeat": 1}}]),
            r"key 'repeat' is unknown.*Did you mean 'repeats'\?",
        ),
        (
            changed("experiments", value=[{"name": "solver", "options": {"solvers": ["chebishev"]}}]),
            r"solver='chebishev' is unknown.*Did you mean 'chebyshev'\?",
        ),
        (changed("includes", value=["mian"]), r"suite='mian' is unknown.*Did you mean 'main'\?"),
        (changed("extends", value="mian"), r"suite to extend='mian' is unknown.*Did you mean 'main'\?"),
        (changed("titel", value="x"), r"key 'titel' is unknown.*Did you mean 'title'\?"),
        (changed("data", value={}), r"it has methods but no data"),
        (
            changed("methods", value=[{"method": "fast"}] * 2),
            r"two rows are called 'nefty fast'; give one of them a title",
        ),
        (changed("paper", value="mian"), r"mian.* is unknown.*Did you mean 'main'\?"),
    ],
)
def test_unknown_methods_keys_and_ranges_are_refused_with_the_nearest_name(values, message):
    with pytest.raises(InputError, match=message):
        load_suite(values)


def test_a_suite_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"suite='smok' is unknown.*Did you mean 'smoke'\?"):
        load_suite("smok")
    with pytest.raises(InputError, match="there is no suite file"):
        load_suite(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("name = ")
    with pytest.raises(InputError, match="cannot read the suite"):
        load_suite(tmp_path / "bad.toml")


def test_a_part_of_a_suite_can_be_chosen():
    only = {"kinds": ["layered"], "methods": ["grid"], "data": ["clean"]}
    entries = load_suite("main", seeds="5,7", only=only).entries()
    assert {(e.task.kind, e.task.seed, e.task.method) for e in entries} == {
        ("layered", 5, "grid"),
        ("layered", 7, "grid"),
    }
    with pytest.raises(InputError, match=r"methods='gird' is unknown.*Did you mean 'grid'\?"):
        load_suite("main", only={"methods": ["gird"]})


def test_the_key_depends_on_everything_that_decides_the_outcome():
    def key(values):
        return load_suite(values).entries()[0].task.key

    base = key(tiny_suite())
    assert base == key(tiny_suite(title="other words", lead="more words"))
    different = [
        key(tiny_suite("1:3")),
        key(changed("data", "clean", "noise", value=1e-3)),
        key(changed("data", "clean", "frames", value=9)),
        key(changed("data", "clean", "ranges", value={"radius": [0.5, 1.6]})),
        key(changed("methods", 0, "set", value={"weight.tv": 1.0})),
        key(changed("methods", 0, "iterations", value=11)),
        key(changed("budget", value={"seconds": 5})),
        load_suite(tiny_suite()).entries(threads=2)[0].task.key,
    ]
    assert len({base, *different}) == len(different) + 1


def test_a_budget_reaches_the_recipe():
    recipe = METHODS["fast"].settings({}, Budget(seconds=7.0, iterations=28))
    assert recipe["stop"]["seconds"] == 7.0
    assert METHODS["fast"].settings({"stop.seconds": 500.0}, Budget(seconds=7.0))["stop"]["seconds"] == 7.0
    assert METHODS["fast"].settings({"stop.seconds": 5.0}, Budget(seconds=7.0))["stop"]["seconds"] == 5.0
    assert [s["iterations"] for s in recipe["stages"]] == [7, 6, 5, 5, 5]


def test_defaults_of_a_suite_are_complete():
    suite = Suite(name="empty", title="Empty")
    assert suite.entries() == []
    assert suite.absent() == []
