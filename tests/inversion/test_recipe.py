"""Recipes: those that come with nefty, what overrides them, and what is refused."""

from pathlib import Path

import pytest

from nefty import InputError
from nefty.core.configuration import parse_assignment
from nefty.inversion.recipe import Recipe, load_recipe, recipe_names

LEAST = {"name": "mine", "field": {"relative": True}, "stages": [{"name": "only", "iterations": 5}]}


def test_the_recipes_that_come_with_nefty():
    assert recipe_names() == ["fast", "grid", "neural", "paper", "real", "warm"]


@pytest.mark.parametrize("name", ["fast", "grid", "neural", "paper", "real", "warm"])
def test_each_of_them_is_complete(name):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.summary
    assert recipe.stages
    assert len({stage.name for stage in recipe.stages}) == len(recipe.stages)
    assert load_recipe(recipe) == recipe
    assert load_recipe(recipe.model_dump(mode="json")) == recipe


def test_fast_is_the_default():
    assert load_recipe() == load_recipe("fast")


def test_a_mapping_needs_a_name_and_a_stage():
    recipe = load_recipe(LEAST)
    assert (recipe.name, recipe.seed, recipe.stages[0].iterations) == ("mine", 0, 5)
    with pytest.raises(InputError, match="stages"):
        load_recipe({"name": "mine"})
    with pytest.raises(InputError, match="stages"):
        load_recipe({"name": "mine", "stages": []})


def test_a_mapping_is_not_changed_by_overrides():
    given = {"name": "mine", "stages": [{"name": "only", "iterations": 5}], "weight": {"tv": 1.0}}
    changed = load_recipe(given, {"stages.0.iterations": 7, "weight.tv": 2.0})
    assert (changed.stages[0].iterations, changed.weight.tv) == (7, 2.0)
    assert given == {"name": "mine", "stages": [{"name": "only", "iterations": 5}], "weight": {"tv": 1.0}}


def test_a_recipe_cannot_be_changed_in_place():
    with pytest.raises(ValueError, match="frozen"):
        load_recipe("fast").seed = 3


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("seed", 4, lambda r: r.seed),
        ("weight.tv", 0.5, lambda r: r.weight.tv),
        ("weight.tv", "auto", lambda r: r.weight.tv),
        ("stop.seconds", 20, lambda r: r.stop.seconds),
        ("noise.sigma", 0.1, lambda r: r.noise.sigma),
        ("field.wrap", (False, True, False), lambda r: r.field.wrap),
        ("field.skip", None, lambda r: r.field.skip),
        ("stages.0.iterations", 3, lambda r: r.stages[0].iterations),
        ("stages.only.weights.voids", 2.5, lambda r: r.stages[0].weights.of("voids")),
        ("stages.only.buried", 2, lambda r: r.stages[0].buried),
        ("calibration.strata", 2, lambda r: r.calibration.strata),
    ],
)
@pytest.mark.parametrize("kind", ["mapping", "recipe"])
def test_dotted_keys_override(key, value, read, kind):
    base = LEAST if kind == "mapping" else load_recipe(LEAST)
    assert read(load_recipe(base, {key: value})) == value


def test_stages_are_found_by_number_or_name():
    recipe = load_recipe("fast")
    for index, stage in enumerate(recipe.stages):
        by_name = load_recipe("fast", {f"stages.{stage.name}.iterations": 7})
        assert by_name == load_recipe("fast", {f"stages.{index}.iterations": 7})
        assert [s.iterations for s in by_name.stages].count(7) >= 1
    one = {"name": "one", "iterations": 4}
    assert len(load_recipe("fast", {"stages": [one]}).stages) == 1
    assert load_recipe("fast", {"stages.0": one}).stages[0].name == "one"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"sead": 1}, r"'sead'.*Did you mean 'seed'"),
        ({"weigth.tv": 1}, r"'weigth'.*Did you mean 'weight'"),
        ({"weight.unit": 1}, r"'weight\.unit'.*Did you mean 'units'"),
        ({"field.widht": 1}, r"'field\.widht'.*Did you mean 'width'"),
        ({"model.layer": 1}, r"'model\.layer'.*Did you mean 'layers'"),
        ({"noise.sigm": 1}, "Did you mean 'sigma'"),
        ({"calibration.backgruond": "none"}, "Did you mean 'background'"),
        ({"penalties.tv.smothing": 1}, "Did you mean 'smoothing'"),
        ({"variation.smoothing": 1}, r"key 'variation' is unknown; the section is \[penalties\.tv\] now"),
        ({"stages.0.voids": 1}, r"key 'stages\.0\.voids' is unknown; write weights = \{ voids"),
        ({"penalties.tvs.smoothing": 1}, "Did you mean 'tv'"),
        ({"stages.0.weights.void": 1}, "Did you mean 'voids'"),
        ({"calibration.layered.wort": 1}, "Did you mean 'worth'"),
        ({"stop.second": 1}, "Did you mean 'seconds'"),
        ({"stages.0.iteration": 1}, r"'stages\.0\.iteration'.*Did you mean 'iterations'"),
        ({"stages.only.memry": 1}, "Did you mean 'memory'"),
        ({"stages.onyl.memory": 1}, r"'onyl' is none of the stages only \(0 to 0\)"),
        ({"stages.1.memory": 1}, "'1' is none of the stages"),
        ({"stages.-1.memory": 1}, "'-1' is none of the stages"),
        ({"seed.x": 1}, "'seed' is a value, not a section"),
        ({"name.x.y": 1}, "there is nothing below"),
    ],
)
def test_unknown_keys_are_refused_with_the_nearest_name(overrides, message):
    with pytest.raises(InputError, match=message):
        load_recipe(load_recipe(LEAST), overrides)


@pytest.mark.parametrize("name", ["fats", "Paper", "", Path("fast")])
def test_unknown_recipes_are_refused(name):
    with pytest.raises(InputError, match=r"recipe=.* is unknown; choose one of 'fast', 'grid', 'neural', 'paper'"):
        load_recipe(name)
    with pytest.raises(InputError, match="Did you mean 'fast'"):
        load_recipe("fats")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", -1),
        ("seed", 1.5),
        ("model.layers", 0),
        ("model.integrator", "euler"),
        ("model.dtype", "float16"),
        ("model.sweeps", -1),
        ("noise.sigma", 0),
        ("noise.floor", -1e-5),
        ("noise.floor", float("nan")),
        ("calibration.background", "some"),
        ("calibration.start", -0.1),
        ("calibration.strata", 0),
        ("calibration.strata", 7),
        ("calibration.gain", -0.1),
        ("calibration.until", 0),
        ("rule", "absolut"),
        ("stages.0.weights.sparse", -1),
        ("field.kind", "voxels"),
        ("field.head", "tanh"),
        ("field.low", 0),
        ("field.width", 0),
        ("field.bands", -1),
        ("field.wrap", [True, True]),
        ("penalties.tv.on", "beta"),
        ("penalties.tv.back", "open"),
        ("penalties.tv.smoothing", 0),
        ("weight.tv", "atuo"),
        ("weight.tv", -1),
        ("weight.units", "SI"),
        ("stages.0.iterations", 0),
        ("stages.0.iterations", "many"),
        ("stages.0.optimiser", "sgd"),
        ("stages.0.memory", 0),
        ("stages.0.buried", -1),
        ("stages.0.learning_rate", 0),
        ("stop.seconds", 0),
        ("stop.plateau", -1),
        ("stages", "none"),
        ("weight", 3),
    ],
)
def test_bad_values_are_refused_by_name(key, value):
    with pytest.raises(InputError, match=f"recipe 'mine': {key.replace('.', '[.]')}"):
        load_recipe(LEAST, {key: value})


def test_a_recipe_can_be_a_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\n[[stages]]\nname = "only"\niterations = 5\n[weight]\ntv = 0.25\n')
    for given in (file, str(file)):
        recipe = load_recipe(given, {"stages.only.iterations": 6})
        assert (recipe.weight.tv, recipe.stages[0].iterations) == (0.25, 6)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no recipe file .*missing\.toml"):
        load_recipe(tmp_path / "missing.toml")
    bad = tmp_path / "bad.toml"
    bad.write_text("name = \n")
    with pytest.raises(InputError, match=r"cannot read the recipe .*bad\.toml: .*line 1"):
        load_recipe(bad)
    bad.write_bytes(b'name = "\xff\xfe"')
    with pytest.raises(InputError, match=r"cannot read the recipe .*bad\.toml"):
        load_recipe(bad)
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InputError, match=r"cannot read the recipe .*folder\.toml"):
        load_recipe(tmp_path / "folder.toml")
    bad.write_text('name = "mine"\nstagse = 3\n')
    with pytest.raises(InputError, match="recipe 'mine'"):
        load_recipe(bad)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("weight.tv=0.5", "weight.tv", 0.5),
        (" weight.tv = 1e-3 ", "weight.tv", 1e-3),
        ("weight.tv=auto", "weight.tv", "auto"),
        ("stages.how deep.iterations=10", "stages.how deep.iterations", 10),
        ('name="my own"', "name", "my own"),
        ("name=my own", "name", "my own"),
        ("calibration.flash=true", "calibration.flash", True),
        ("field.wrap=[false, true, true]", "field.wrap", [False, True, True]),
        ("summary=a=b", "summary", "a=b"),
        ("summary=", "summary", ""),
    ],
)
def test_overrides_are_read_from_the_command_line(text, key, value):
    assert parse_assignment(text) == (key, value)
    assert type(parse_assignment(text)[1]) is type(value)


@pytest.mark.parametrize("text", ["weight.tv", "", "=3", "  = 3"])
def test_what_is_no_override_is_refused(text):
    with pytest.raises(InputError, match="is not of the form key=value, such as"):
        parse_assignment(text)


def test_overrides_from_the_command_line_fit_a_recipe():
    texts = ["weight.tv=auto", "field.wrap=[false, true, true]", "stages.only.learning_rate=1e-4", "stop.seconds=20"]
    recipe = load_recipe(LEAST, dict(map(parse_assignment, texts)))
    assert isinstance(recipe, Recipe)
    assert (recipe.field.wrap, recipe.stages[0].learning_rate) == ((False, True, True), 1e-4)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"calibration.flash": True}, "calibration.background to constant"),
        ({"field.kind": "neural", "field.horizon": 0, "stages.0.buried": 1}, "buried"),
        ({"field.kind": "neural"}, r"field\.horizon=2500"),
    ],
)
def test_choices_that_do_not_go_together_are_refused(overrides, message):
    with pytest.raises(InputError, match=message):
        load_recipe(LEAST, overrides)


CELLS = {"unknown": "cells", "name": "first", "iterations": 1}
REST = {"name": "rest", "iterations": 1}
NETWORK = {"field.kind": "neural", "field.head": "log", "field.horizon": 0, "field.relative": False}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stages": [CELLS, REST]}, "need field.kind to be neural"),
        ({**NETWORK, "field.head": "softplus", "stages": [CELLS, REST]}, "field.head to be sigmoid or log"),
        ({**NETWORK, "cells.kind": "neural", "stages": [CELLS, REST]}, "cells.kind to be voxel"),
        ({**NETWORK, "field.relative": True, "stages": [CELLS, REST]}, "field.relative and cells.relative must be"),
        ({**NETWORK, "stages": [REST, CELLS]}, "come first"),
        ({**NETWORK, "stages": [CELLS]}, "at least one of the field follows"),
        ({**NETWORK, "cells.preconditioner.kind": "penalties"}, r"cells\.preconditioner\.kind=penalties needs voxels"),
        ({**NETWORK, "stages": [CELLS, {**REST, "move_bottoms": True}]}, "'rest' moves bottoms, which needs voxels"),
    ],
)
def test_cells_come_before_a_network_that_can_begin_with_them(changes, message):
    with pytest.raises(InputError, match=message):
        load_recipe(LEAST, changes)


def test_a_stage_says_what_its_unknown_is_made_of():
    recipe = load_recipe("neural")
    assert [recipe.field_of(stage).kind for stage in recipe.stages] == ["voxel"] * 3 + ["neural"] * 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"calibration.gain": 0.05}, r"calibration\.gain needs calibration\.background to be part"),
        ({"calibration.background": "part", "field.relative": False}, "needs a field of voxels relative to it"),
        ({"calibration.background": "part", "field.kind": "neural"}, "needs a field of voxels relative to it"),
        ({"calibration.background": "none", "stages.0.weights.sparse": 1.0}, "weighs sparse, which needs a background"),
    ],
)
def test_calibrations_of_real_parts_that_contradict_themselves_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        load_recipe(LEAST, {"field.horizon": 0, **changes})


def test_the_recipe_for_real_parts_calibrates_them():
    real = load_recipe("real")
    assert real.calibration.background == "part"
    assert real.calibration.gain > 0
    assert (real.rule, real.evidence.regions) == ("evidence", "sheets")
    fast, paper = load_recipe("fast"), load_recipe("paper")
    assert (fast.rule, fast.evidence.regions) == ("evidence", "volume")
    assert (paper.rule, paper.evidence.regions) == ("default", "none")
