"""The loop: stages, limits, the weight, and a state that goes on where it stood."""

import dataclasses
import time
from typing import Any

import numpy as np
import pytest
import torch

from nefty import HeatModel
from nefty.core.stopping import FINISHED
from nefty.core.storage.run_folder import RunFolder
from nefty.inversion.build import build_model
from nefty.inversion.calibration.layered import LayeredCalibration
from nefty.inversion.loop import Optimisation, State, history_of
from nefty.inversion.penalties import PENALTIES
from nefty.inversion.recipe import load_recipe
from nefty.inversion.reconstruct import observe

LAYERS = np.full(6, 0.15)
NEURAL = {
    "field": {
        "kind": "neural",
        "relative": True,
        "head": "log",
        "low": 0.02,
        "high": 1.05,
        "depth": 2,
        "width": 16,
        "bands": 3,
        "skip": None,
        "activation": "silu",
        "horizon": 20,
        "spread": 0.1,
    },
    "stages": [
        {"name": "coarse", "optimiser": "adam", "iterations": 6, "learning_rate": 1e-2},
        {"name": "fine", "optimiser": "adam", "iterations": 6, "learning_rate": 5e-3, "refine_background": 1},
    ],
}


@pytest.fixture
def start(recording, quick):
    """An optimisation of the recording by the quick recipe, with changes."""

    def make(sequence=None, state=None, **overrides: Any) -> Optimisation:
        sequence = sequence or recording
        recipe = load_recipe(quick, {key.replace("__", "."): value for key, value in overrides.items()})
        model = build_model(sequence, recipe)
        seen, _ = observe(sequence, model, recipe)
        calibration = LayeredCalibration(model, seen, LAYERS.copy(), recipe.calibration)
        return Optimisation(recipe, calibration, state or State(2.0))

    return make


def columns(state):
    """The history without the clock."""
    return {name: column for name, column in history_of(state).items() if name != "seconds"}


def assert_same(one: State, other: State) -> None:
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(one.calibration["background"], other.calibration["background"])
    assert (one.done, one.evaluations, one.weight) == (other.done, other.evaluations, other.weight)
    first, second = columns(one), columns(other)
    assert first.keys() == second.keys()
    for name, column in first.items():
        assert np.array_equal(column, second[name]), name


def test_it_goes_down_through_all_stages(start):
    work = start()
    assert work.run() == FINISHED
    history = history_of(work.state)
    assert history["stage"].tolist() == [0] * 6 + [1] * 6
    for stage in (0, 1):
        assert (np.diff(history["objective"][history["stage"] == stage]) <= 0).all()
    assert history["misfit"][-1] < history["misfit"][0] / 10
    assert (np.diff(history["evaluations"]) >= 1).all()
    assert (np.diff(history["seconds"]) >= 0).all()
    assert work.state.done == 12


def test_the_history_is_that_of_the_volume(start):
    """The misfit of the last iteration is that of the volume which is returned."""
    work = start()
    work.run()
    residual = work.model(work.volume()).double().numpy() - work.seen.frames
    assert work.misfit == pytest.approx(np.mean(residual**2) / work.seen.noise**2, rel=1e-4)


def test_the_history_has_a_column_for_every_penalty(start):
    """0 while it does not count."""
    work = start(stages__1__weights={"voids": 5.0, "sparse": 1.0})
    work.run()
    history = history_of(work.state)
    assert set(PENALTIES) <= set(history)
    assert (history["tv"] > 0).all()
    for name in ("voids", "sparse"):
        assert (history[name][:6] == 0).all()
        assert (history[name][6:] > 0).all()
    counted = history["tv"] + 5 * history["voids"] + history["sparse"]
    misfit = history["objective"] - history["weight"] * np.where(history["stage"] == 0, history["tv"], counted)
    np.testing.assert_allclose(misfit, history["misfit"] * work.seen.floor, rtol=1e-6)


def test_the_volume_stays_in_the_box(start):
    work = start(field__low=0.3, field__high=1.02)
    work.run()
    ratio = work.volume() / work.calibration.background[:, None, None]
    assert ratio.min() == pytest.approx(0.3, rel=1e-5)
    assert ratio.max() <= 1.02 * (1 + 1e-5)


def test_a_stage_may_have_a_box_of_its_own(start):
    work = start(stages__0__high=1.3, field__high=1.02)
    seen = []
    work.run(save=lambda state: seen.append(work.volume().max() / 0.15))
    assert max(seen) > 1.02
    assert (work.volume() / work.calibration.background[:, None, None]).max() <= 1.02 * (1 + 1e-5)


@pytest.mark.parametrize("optimiser", ["lbfgs", "adam"])
def test_buried_layers_stay_sound_until_a_stage_sets_them_free(start, optimiser):
    """The defect begins in the third layer, which is buried at first."""
    chosen = {"optimiser": optimiser, "learning_rate": 0.2}
    changes = {f"stages__{stage}__{key}": value for stage in (0, 1) for key, value in chosen.items()}
    work = start(stages__0__buried=3, **changes)
    least: dict[int, list[float]] = {0: [], 1: []}

    def look(name, done, total, misfit):
        ratio = work.volume() / work.calibration.background[:, None, None]
        least[work.state.stage].append(ratio[:3].min())

    work.run(progress=look)
    assert min(least[0]) >= 1 - 1e-6  # in single precision
    assert least[1][-1] < 0.8


def test_layers_that_a_stage_buries_become_sound_again(start):
    work = start(stages__1__buried=3)
    least = []
    work.run(
        progress=lambda *what: least.append((work.volume() / work.calibration.background[:, None, None])[:3].min())
    )
    assert least[5] < 0.8
    assert min(least[6:]) >= 1 - 1e-6


def test_the_curvature_of_a_stage_is_handed_to_the_next(start):
    """By the values of the voxels, of which the next stage has unknowns of another scale; the first step uses it."""
    work = start(stages__0__iterations=12)
    states = []
    work.run(save=lambda state: states.append(dataclasses.replace(state)))
    (second,) = states
    learned = second.learned
    assert 0 < len(learned) <= 12
    resumed = start(state=second, stages__0__iterations=12)
    resumed._enter(resumed.recipe.stages[1])
    optimiser = resumed._optimiser(resumed.recipe.stages[1])
    assert resumed.state.learned == {}  # the optimiser has it now
    scale = torch.from_numpy(resumed.state.scale).reshape(-1)
    for (s, y), pair in zip(optimiser.pairs, learned.values(), strict=True):
        np.testing.assert_allclose((s * scale).numpy(), pair["s"], rtol=1e-5, atol=1e-12)
        np.testing.assert_allclose((y / scale).numpy(), pair["y"], rtol=1e-5, atol=1e-12)


def test_voxels_at_a_side_of_the_box_are_still_there_in_the_next_stage(start):
    """Else they pass for free, and the curvature that was handed on is that of others."""
    work = start(stages__0__iterations=12)
    states = []
    work.run(save=lambda state: states.append(dataclasses.replace(state)))
    resumed = start(state=states[0], stages__0__iterations=12)
    stage = resumed.recipe.stages[1]
    resumed._enter(stage)
    optimiser = resumed._optimiser(stage)
    held = 0
    for side in (optimiser.low, optimiser.high):
        near = torch.isclose(optimiser.x, side, rtol=1e-5, atol=0)
        held += int(near.sum())
        assert torch.equal(optimiser.x[near], side[near])
    assert held > 10


def test_progress_names_the_stage_and_counts(start):
    told = []
    start().run(progress=lambda *what: told.append(what))
    assert [(name, done, total) for name, done, total, _ in told] == [
        ("where" if i <= 6 else "shape", i, 12) for i in range(1, 13)
    ]
    assert all(misfit > 0 for *_, misfit in told)


def test_a_given_weight_stays_and_an_automatic_one_stays_in_its_range(start):
    fixed = start(weight__tv=2.0)
    fixed.run()
    assert set(fixed.state.history["weight"]) == {2.0}
    loud = start(noise__sigma=50.0)  # everything fits: the weight goes up
    loud.run()
    assert loud.state.weight > 2.0
    assert loud.state.weight <= 8.0


def test_a_plateau_ends_a_stage(start):
    work = start(stop__plateau=0.3, stages__0__iterations=200, stages__1__iterations=5)
    assert work.run() == FINISHED
    stages, values = work.state.history["stage"], work.state.history["objective"]
    last = stages.count(0) - 1
    assert 10 <= last < 199
    assert stages.count(1) == 5
    assert values[last - 10] - values[last] < 0.3 * values[last]
    for i in range(10, last):
        assert values[i - 10] - values[i] >= 0.3 * values[i]


def test_seconds_end_it(start):
    work = start(stop__seconds=1e-9)
    assert "1e-09 s it was given were over" in work.run().text
    assert work.state.done == 1
    late = start(stop__seconds=1000.0)
    late.spent = 1001.0  # of the preparation
    assert "1000 s it was given were over" in late.run().text
    assert late.state.done == 1


def test_a_good_misfit_ends_it(start):
    whole = start()
    whole.run()
    misfits = whole.state.history["misfit"]
    enough = float(f"{1.01 * misfits[4]:.3g}")
    work = start(stop__misfit=enough)
    assert f"the misfit came down to {enough:g} times the noise floor" in work.run().text
    assert work.state.history["misfit"] == misfits[: work.state.done]
    assert work.misfit <= enough < misfits[work.state.done - 2]


@pytest.mark.parametrize("kind", ["voxel", "neural", "adam voxels"])
def test_every_checkpoint_goes_on_bit_for_bit(start, tmp_path, kind):
    """Through the file, from the middle of a stage and from its start."""
    changes = {
        "voxel": {},
        "neural": NEURAL,
        "adam voxels": {"stages.0.optimiser": "adam", "stages.1.optimiser": "adam", "stages.0.learning_rate": 0.05},
    }[kind]
    changes = {key.replace(".", "__"): value for key, value in changes.items()}
    kept = []
    with RunFolder.open(tmp_path, {"a": 1}, "input") as folder:

        def save(state):
            folder.checkpoint(dataclasses.asdict(state))
            kept.append(folder.load_checkpoint())

        whole = start(**changes)
        assert whole.run(save, every=0.0) == FINISHED
    assert len(kept) >= 11
    for index in (2, 5, 6, 8):
        resumed = start(state=State(**kept[index]), **changes)
        assert resumed.run() == FINISHED
        assert_same(resumed.state, whole.state)
        assert np.array_equal(resumed.volume(), whole.volume())


def test_checkpoints_come_at_stages_and_every_so_many_seconds(start):
    seen = []
    start().run(save=lambda state: seen.append((state.stage, state.iteration)), every=1e9)
    assert seen == [(1, 0)]
    seen.clear()
    start().run(save=lambda state: seen.append((state.stage, state.iteration)), every=0.0)
    assert seen == [(0, i) for i in range(1, 7)] + [(1, 0)] + [(1, i) for i in range(1, 7)]


def test_time_spent_before_counts(start):
    state = State(2.0, seconds=100.0)
    work = start(state=state, stop__seconds=99.0)
    began = time.perf_counter()
    work.run()
    assert work.state.done == 1
    assert work.state.seconds >= 100
    assert work.state.seconds < 100 + time.perf_counter() - began + 1


def test_a_field_at_its_minimum_ends_the_stage_early(start, recording):
    """Frames of the background itself: nothing to be found, and no error."""
    model = HeatModel(recording.grid(6), recording.times, recording.excitation)
    sound = dataclasses.replace(recording, frames=model(np.full((6, 16, 16), 0.15)).double().numpy())
    work = start(sound, stages__0__iterations=50)
    assert work.run() == FINISHED
    np.testing.assert_allclose(work.volume(), 0.15, rtol=0.05)


def test_torchs_own_random_numbers_do_not_matter(start):
    changes = {key.replace(".", "__"): value for key, value in NEURAL.items()}
    volumes = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        work = start(**changes)
        work.run()
        volumes.append(work.volume())
    assert np.array_equal(*volumes)
