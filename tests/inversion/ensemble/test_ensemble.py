"""An ensemble says where a result is sure: the same on any machine, in any number of pieces."""

import dataclasses
import os
import signal
from typing import Any

import numpy as np
import pytest

import nefty
from nefty import InputError, Reconstruction
from nefty.core.interrupt import Interrupt
from nefty.core.stopping import INTERRUPTED
from nefty.core.storage.run_folder import is_finished
from nefty.inversion.ensemble.pool import in_processes, members
from nefty.inversion.ensemble.run import ENSEMBLE, with_ensemble
from nefty.inversion.ensemble.sheet_members import FirstSheets
from nefty.inversion.loop import Optimisation
from nefty.inversion.recipe import load_recipe
from nefty.inversion.reconstruct import NOTHING_GIVEN, Watch
from support.holed_plate import HOLE, part

EXACT = {f"ensemble.{name}": 0.0 for name in ("thickness", "diffusivity", "ratio", "pulse", "losses", "start", "gain")}


class Killed(BaseException):
    """As sudden as a kill."""


def reconstruct(*words, **more) -> Any:
    return nefty.reconstruct(*words, **more)


def sure(found, sequence, recipe, members, watch=None, **more) -> Any:
    recipe = load_recipe(recipe, {"ensemble.members": members, **more})
    return with_ensemble(found, sequence, recipe, NOTHING_GIVEN, watch or Watch(), workers=1)


def assert_same(one, other):
    for name in ("probability", "spread", "depth", "diameter", "resistance", "volume"):
        assert np.array_equal(getattr(one.ensemble, name), getattr(other.ensemble, name)), name


def after(number, what):
    def progress(stage, done, total, misfit):
        if stage == "members" and done == number:
            what()

    return Watch(progress=progress)


@pytest.fixture(scope="module")
def surely(first, plate, real):
    return sure(first, plate, real, 4)


def test_it_is_sure_of_a_clear_hole_and_of_sound_places(surely):
    probability, spread = surely.probability, surely.spread
    assert probability.shape == spread.shape == surely.grid.shape
    assert probability.min() >= 0
    assert probability.max() <= 1
    inside = slice(HOLE.start + 1, HOLE.stop - 1)
    assert probability[:, inside, inside].sum(axis=0).min() > 0.8  # a sheet lies in one cell or the next
    assert probability[2:4, inside, inside].max() > 0.4
    assert probability[:, :3].max() < 0.05
    assert probability[0].max() < 0.05
    assert spread[:, HOLE, HOLE].max() >= spread[:, :3].max() > 0


def test_it_says_how_sure_each_indication_is(surely):
    (one,) = surely.indications()
    told = surely.ensemble.of(one.label)
    assert 0.005 < told.depth / one.depth_to_top < 0.08  # a thickness of 2 %, a diffusivity that the frames tell
    assert 0 < told.diameter < 0.2 * one.diameter
    assert told.present == 1
    with pytest.raises(InputError, match="none has the label 2"):
        surely.ensemble.of(2)


def test_the_first_fit_is_not_changed(surely, first):
    assert np.array_equal(surely.alpha, first.alpha)
    assert first.probability is None
    assert first.spread is None


def test_noise_alone_spreads_more_where_there_is_more(first, plate, real):
    noisy = part(0.1)
    there = sure(reconstruct(noisy, recipe=real), noisy, real, 4, **EXACT).ensemble.of(1)
    here = sure(first, plate, real, 4, **EXACT).ensemble.of(1)
    assert there.depth > 1.5 * here.depth
    assert there.diameter > 1.2 * here.diameter


def test_facts_alone_spread_depths(first, plate, real):
    exact = sure(first, plate, real, 4, **EXACT)
    loose = sure(first, plate, real, 4, **{**EXACT, "ensemble.thickness": 0.05})
    assert loose.ensemble.of(1).depth > 2 * exact.ensemble.of(1).depth


def test_processes_make_the_same_members(first, plate, real):
    made = FirstSheets.of(first, plate, load_recipe(real, {"ensemble.members": 2}), None)
    here: list[Any] = list(members(made, [0, 1], 1, Interrupt()))
    there: list[Any] = list(in_processes(made, [0, 1], 1, Interrupt()))  # one will do, and starts sooner than two
    for one, other in zip(here, sorted(there, key=lambda member: member.number), strict=True):
        assert one.sheets[0].depth == other.sheets[0].depth
        assert np.array_equal(one.sheets[0].covered, other.sheets[0].covered)


def test_killed_and_gone_on_with(plate, real, surely, tmp_path):
    asked = {"ensemble.members": 4}

    def kill():
        raise Killed

    with pytest.raises(Killed):
        reconstruct(plate, recipe=real, overrides=asked, run=tmp_path, watch=after(2, kill))
    kept = sorted((tmp_path / ENSEMBLE).iterdir())
    assert len(kept) == 2
    before = [file.stat().st_mtime_ns for file in kept]
    found = reconstruct(plate, recipe=real, overrides=asked, run=tmp_path)
    assert [file.stat().st_mtime_ns for file in kept] == before
    assert is_finished(tmp_path)
    assert_same(found, surely)
    assert_same(Reconstruction.load(tmp_path), surely)


def test_ctrl_c_keeps_what_is_done_and_members_can_be_added(plate, real, surely, tmp_path):
    def ctrl_c():
        os.kill(os.getpid(), signal.SIGINT)

    asked = {"ensemble.members": 4}
    found = reconstruct(plate, recipe=real, overrides=asked, run=tmp_path, watch=after(2, ctrl_c))
    assert found.ensemble.members == 2
    assert not found.ensemble.whole
    assert found.stopped.finished  # the result itself is
    assert not is_finished(tmp_path)
    assert_same(reconstruct(plate, recipe=real, overrides=asked, run=tmp_path), surely)
    more = reconstruct(plate, recipe=real, overrides={"ensemble.members": 5}, run=tmp_path)
    assert more.ensemble.members == 5
    fewer = reconstruct(plate, recipe=real, run=tmp_path)  # what is there stays
    assert fewer.ensemble.members == 5


def test_damaged_and_foreign_members_are_made_again(first, plate, real, surely, tmp_path):
    recipe = load_recipe(real, {"ensemble.members": 4})

    def again(recipe):
        return with_ensemble(first, plate, recipe, NOTHING_GIVEN, Watch(), folder=tmp_path, workers=1)

    again(load_recipe(recipe, {"seed": 1}))
    (tmp_path / ENSEMBLE / "member-0001.h5").write_bytes(b"no member")
    assert_same(again(recipe), surely)


def test_a_sound_part_has_an_ensemble_too(plate, real):
    sound = dataclasses.replace(plate, frames=np.broadcast_to(plate.frames[:, :1, :1], plate.frames.shape).copy())
    sound = dataclasses.replace(
        sound, frames=sound.frames + 0.01 * np.random.default_rng(4).standard_normal(sound.frames.shape)
    )
    found = reconstruct(sound, recipe=real, overrides={"ensemble.members": 2})
    assert found.indications() == []
    assert found.probability.max() == 0
    assert found.spread.max() > 0


def test_one_member_is_refused(plate, real):
    with pytest.raises(InputError, match="one member tells no spread"):
        reconstruct(plate, recipe=real, overrides={"ensemble.members": 1})


def test_volumes_go_on_from_where_they_ended(noisy, quick):
    quick = {**quick, "ensemble": {"members": 3, "iterations": 3}}
    found, again = (reconstruct(noisy, recipe=quick) for _ in range(2))
    assert_same(found, again)
    assert found.probability[2:4, 7:9, 6:9].mean() > 0.7
    assert found.probability[:, :3].mean() < 0.05
    told = found.ensemble.of(1)
    assert told.present == 1
    assert told.depth < 0.3


def test_a_member_that_ctrl_c_cuts_short_is_not_kept(noisy, quick, tmp_path, monkeypatch):
    quick = {**quick, "ensemble": {"members": 3, "iterations": 2}}
    whole = reconstruct(noisy, recipe=quick)
    run, calls = Optimisation.run, []

    def cut_short(work, *words, **more):
        calls.append(1)
        return run(work, *words, **more) if len(calls) < 4 else INTERRUPTED  # first fit, its rest, one member

    monkeypatch.setattr(Optimisation, "run", cut_short)
    found = reconstruct(noisy, recipe=quick, run=tmp_path)
    assert found.ensemble is None  # one member tells no spread
    assert len(list((tmp_path / ENSEMBLE).iterdir())) == 1
    monkeypatch.setattr(Optimisation, "run", run)
    assert_same(reconstruct(noisy, recipe=quick, run=tmp_path), whole)


def test_networks_go_on_too(noisy):
    neural = {
        "name": "small",
        "model": {"layers": 6},
        "calibration": {"start": 0.12},
        "field": {
            "kind": "neural", "relative": True, "head": "log", "low": 0.02, "high": 1.05, "depth": 2, "width": 16,
            "bands": 3, "skip": None, "activation": "silu", "horizon": 0, "spread": 0.1, "fit": 30,
        },
        "stages": [{"name": "where", "iterations": 8}],
        "ensemble": {"members": 2, "iterations": 2},
    }  # fmt: skip
    found = reconstruct(noisy, recipe=neural)
    assert found.ensemble.members == 2
    assert np.isfinite(found.spread).all()
