"""Runs that are stopped, killed and gone on with, in a folder of their own."""

import dataclasses
import os
import signal

import numpy as np
import pytest

from nefty import GaussianFlash, Grid, HeatModel, InputError, Reconstruction, UniformFlash, reconstruct
from nefty.core.stopping import FINISHED, INTERRUPTED, Stopped, StopReason
from nefty.core.storage.run_folder import read_events
from nefty.inversion.reconstruct import Watch

SLAB = Grid((6, 16, 16), (1.0, 6.0, 6.0))
TIMES = 0.25 * np.arange(1, 21)
NEURAL = {
    "name": "small",
    "model": {"layers": 6},
    "calibration": {"start": 0.12},
    "field": {
        "kind": "neural", "relative": True, "head": "log", "low": 0.02, "high": 1.05, "depth": 2, "width": 16,
        "bands": 3, "skip": None, "activation": "silu", "horizon": 20, "spread": 0.1,
    },
    "stages": [
        {"name": "where", "optimiser": "adam", "iterations": 6, "learning_rate": 1e-2},
        {"name": "shape", "optimiser": "adam", "iterations": 6, "learning_rate": 5e-3, "refine_background": 1},
    ],
}  # fmt: skip


class Killed(BaseException):
    """As sudden as a kill."""


def at(when, what):
    """Do something after an iteration."""

    def progress(stage, done, total, misfit):
        if done == when:
            what()

    return Watch(progress=progress)


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def killed():
    raise Killed


def assert_same(one, other):
    assert np.array_equal(one.alpha, other.alpha)
    assert np.array_equal(one.fitted, other.fitted)
    assert np.array_equal(one.background, other.background)
    assert one.stopped == other.stopped
    for name, column in one.history.items():
        if name != "seconds":
            assert np.array_equal(column, other.history[name]), name


@pytest.fixture(params=["voxels", "neural"])
def recipe(request, quick):
    return quick if request.param == "voxels" else NEURAL


WHOLE: dict[str, Reconstruction] = {}


@pytest.fixture
def whole(recording, recipe):
    """The run without an interruption, made once."""
    if recipe["name"] not in WHOLE:
        WHOLE[recipe["name"]] = reconstruct(recording, recipe=recipe)
    return WHOLE[recipe["name"]]


def test_ctrl_c_returns_the_best_so_far(recording, quick):
    found = reconstruct(recording, recipe=quick, watch=at(4, ctrl_c))
    assert found.stopped == INTERRUPTED
    assert len(found.history["stage"]) == 4
    assert found.misfit == pytest.approx(found.history["misfit"].min(), rel=1e-3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("when", [6, 9])
def test_after_ctrl_c_the_same_call_goes_on_bit_for_bit(recording, recipe, whole, tmp_path, when):
    paused = reconstruct(recording, recipe=recipe, run=tmp_path, watch=at(when, ctrl_c))
    assert len(paused.history["stage"]) == when
    assert np.array_equal(Reconstruction.load(tmp_path).alpha, paused.alpha)
    assert_same(reconstruct(recording, recipe=recipe, run=tmp_path), whole)
    assert [e["event"] for e in read_events(tmp_path)] == ["started", "paused", "resumed", "finished"]


@pytest.mark.parametrize("when", [3, 9])
def test_a_killed_run_goes_on_bit_for_bit(recording, recipe, whole, tmp_path, when):
    with pytest.raises(Killed):
        reconstruct(recording, recipe=recipe, run=tmp_path, watch=at(when, killed))
    assert (tmp_path / "checkpoint.h5").exists() == (when > 6)  # of the second stage's start
    assert_same(reconstruct(recording, recipe=recipe, run=tmp_path), whole)


def test_a_run_killed_at_a_stage_whose_box_was_another_goes_on_bit_for_bit(recording, quick, tmp_path):
    """Voxels on a side of the box must still be on it, whichever stage's box that was."""
    where, shape = quick["stages"]
    recipe = {**quick, "stages": [{**where, "high": 1.2}, shape, {**shape, "name": "finish"}]}
    whole = reconstruct(recording, recipe=recipe)
    with pytest.raises(Killed):
        reconstruct(recording, recipe=recipe, run=tmp_path, watch=at(13, killed))
    assert_same(reconstruct(recording, recipe=recipe, run=tmp_path), whole)


@pytest.mark.parametrize("free_layers", [False, True])
def test_a_run_that_knows_its_penalties_and_moves_bottoms_goes_on_bit_for_bit(recording, quick, tmp_path, free_layers):
    where, shape = quick["stages"]
    moving = {**shape, "move_bottoms": True, "weights": {"voids": 20.0, "sparse": 1.0}}
    field = {**quick["field"], "preconditioner": {"kind": "penalties"}, "free_layers": free_layers}
    recipe = {**quick, "field": field, "moves": {"cells": 2}, "stages": [where, moving, {**moving, "name": "finish"}]}
    whole = reconstruct(recording, recipe=recipe)
    for when, what in ((9, killed), (13, killed), (15, ctrl_c)):
        if what is killed:
            with pytest.raises(Killed):
                reconstruct(recording, recipe=recipe, run=tmp_path, watch=at(when, what))
        else:
            reconstruct(recording, recipe=recipe, run=tmp_path, watch=at(when, what))
    assert_same(reconstruct(recording, recipe=recipe, run=tmp_path), whole)


def test_a_run_whose_cells_become_a_network_goes_on_bit_for_bit(recording, quick, tmp_path):
    where, shape = quick["stages"]
    network = {**NEURAL["field"], "horizon": 0, "fit": 10}
    stages = [{**stage, "unknown": "cells"} for stage in (where, shape)]
    stages += [{"name": name, "iterations": 5, "refine_background": 1} for name in ("network", "finish")]
    recipe = {**quick, "field": network, "cells": quick["field"], "stages": stages}
    whole = reconstruct(recording, recipe=recipe)
    assert whole.effort.unknowns < recording.truth.size / 2
    for when, what in ((8, killed), (12, ctrl_c), (13, killed), (15, ctrl_c), (16, killed), (18, killed)):
        if what is killed:
            with pytest.raises(Killed):
                reconstruct(recording, recipe=recipe, run=tmp_path, watch=at(when, what))
        else:
            reconstruct(recording, recipe=recipe, run=tmp_path, watch=at(when, what))
    assert_same(reconstruct(recording, recipe=recipe, run=tmp_path), whole)


def test_a_run_killed_again_and_again_ends_the_same(recording, quick, tmp_path):
    whole = reconstruct(recording, recipe=quick)
    for when, what in ((3, ctrl_c), (5, killed), (8, killed), (9, ctrl_c), (11, killed)):
        watch = at(when, what)
        if what is killed:
            with pytest.raises(Killed):
                reconstruct(recording, recipe=quick, run=tmp_path, watch=watch)
        else:
            assert reconstruct(recording, recipe=quick, run=tmp_path, watch=watch).stopped == INTERRUPTED
    assert_same(reconstruct(recording, recipe=quick, run=tmp_path), whole)


def test_a_run_in_a_folder_is_the_run_without_one(recording, recipe, whole, tmp_path):
    assert_same(reconstruct(recording, recipe=recipe, run=tmp_path / "new"), whole)


def test_a_finished_run_is_returned_at_once(recording, quick, tmp_path):
    first = reconstruct(recording, recipe=quick, run=tmp_path)
    again = reconstruct(recording, recipe=quick, run=tmp_path, watch=Watch(stage=lambda name: pytest.fail(name)))
    assert_same(first, again)
    assert again.stopped == FINISHED
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix) == ["config.json", "events.jsonl", "result.h5"]


def test_fresh_starts_over(recording, quick, tmp_path):
    reconstruct(recording, recipe=quick, run=tmp_path)
    told = []
    reconstruct(recording, recipe=quick, run=tmp_path, fresh=True, watch=Watch(stage=told.append))
    assert told


def test_another_recording_or_recipe_in_the_same_folder_is_refused(recording, noisy, quick, tmp_path):
    reconstruct(recording, recipe=quick, run=tmp_path)
    with pytest.raises(InputError, match=r"holds another run: its input .* is another.*--fresh"):
        reconstruct(noisy, recipe=quick, run=tmp_path)
    with pytest.raises(InputError, match=r"holds another run: recipe\.seed is 0 there and 1 now"):
        reconstruct(recording, recipe=quick, run=tmp_path, overrides={"seed": 1})
    assert Reconstruction.load(tmp_path).recipe["seed"] == 0


@pytest.mark.parametrize("what", ["initial", "times", "flash"])
def test_another_model_in_the_same_folder_is_refused(recording, quick, tmp_path, what):
    heat = 100 * GaussianFlash(1.0, 3.0, 0.2).shape(SLAB)
    other = heat.copy()
    other[3, 8, 8] += 1
    one = HeatModel(SLAB, TIMES, heat)
    two = {
        "initial": HeatModel(SLAB, TIMES, other),
        "times": HeatModel(SLAB, TIMES + 1e-3, heat),
        "flash": HeatModel(SLAB, TIMES, UniformFlash(90.0, 0.2)),
    }[what]
    reconstruct(recording, one, recipe=quick, run=tmp_path)
    again = HeatModel(SLAB, TIMES.copy(), heat.copy())
    reconstruct(recording, again, recipe=quick, run=tmp_path, watch=Watch(stage=lambda name: pytest.fail(name)))
    with pytest.raises(InputError, match="another"):
        reconstruct(recording, two, recipe=quick, run=tmp_path)


def test_limits_may_be_changed_when_it_goes_on(recording, quick, tmp_path):
    whole = reconstruct(recording, recipe=quick)
    first = reconstruct(recording, recipe=quick, run=tmp_path, overrides={"stop.seconds": 1e-6})
    assert len(first.history["stage"]) == 1
    assert first.stopped == Stopped(StopReason.OUT_OF_TIME, "the 1e-06 s it was given were over")
    assert_same(reconstruct(recording, recipe=quick, run=tmp_path, overrides={"stop.seconds": 1000}), whole)


def test_a_run_that_reached_its_limit_stays_there(recording, quick, tmp_path):
    whole = reconstruct(recording, recipe=quick)
    limits = {"stop.misfit": 1.01 * whole.history["misfit"][4]}
    first = reconstruct(recording, recipe=quick, run=tmp_path, overrides=limits)
    again = reconstruct(recording, recipe=quick, run=tmp_path, overrides=limits)
    assert first.stopped == again.stopped
    assert first.stopped.reason is StopReason.GOOD_ENOUGH
    assert "the misfit came down to" in first.stopped.text
    assert len(again.history["stage"]) == len(first.history["stage"])
    assert np.array_equal(first.alpha, again.alpha)


def test_a_damaged_checkpoint_is_refused_and_fresh_helps(recording, quick, tmp_path):
    reconstruct(recording, recipe=quick, run=tmp_path, watch=at(4, ctrl_c))
    (tmp_path / "checkpoint.h5").write_bytes(b"rubbish")
    with pytest.raises(InputError, match=r"checkpoint\.h5 .*--fresh"):
        reconstruct(recording, recipe=quick, run=tmp_path)
    assert reconstruct(recording, recipe=quick, run=tmp_path, fresh=True).stopped == FINISHED


def test_the_truth_may_come_later(recording, quick, tmp_path):
    """What is known about the part besides the frames does not make another run."""
    blind = dataclasses.replace(recording, truth=None)
    reconstruct(blind, recipe=quick, run=tmp_path, watch=at(4, ctrl_c))
    assert reconstruct(recording, recipe=quick, run=tmp_path).truth is not None
