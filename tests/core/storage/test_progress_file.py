"""How far a run is, for whoever watches its folder."""

import json
import math

from nefty.core.storage.progress_file import PROGRESS, ProgressFile, read_state


def test_a_watcher_reads_what_was_told(tmp_path):
    file = ProgressFile(tmp_path)
    file.stage("Calibrate the background")
    state = read_state(tmp_path)
    assert state is not None
    assert (state.stage, state.total) == ("Calibrate the background", 0)
    file.stage("Optimise")
    file.progress("where", 3, 10, 1.5)
    file.progress("edges", 10, 10, 1.02)
    state = read_state(tmp_path)
    assert state is not None
    assert (state.stage, state.step, state.done, state.total, state.misfit) == ("Optimise", "edges", 10, 10, 1.02)
    assert state.left == 0
    assert state.told >= state.began > 0


def test_words_within_half_a_second_are_one(tmp_path):
    file = ProgressFile(tmp_path)
    file.stage("Optimise")
    before = (tmp_path / PROGRESS).stat().st_mtime_ns
    for done in range(1, 50):
        file.progress("where", done, 1000, 1.0)
    assert (tmp_path / PROGRESS).stat().st_mtime_ns == before


def test_a_misfit_that_is_no_number_is_not_known(tmp_path):
    file = ProgressFile(tmp_path)
    file.stage("Optimise")
    file.progress("where", 1, 1, math.nan)
    assert json.loads((tmp_path / PROGRESS).read_text())["misfit"] == -1


def test_a_folder_that_is_not_there_and_a_damaged_file_say_nothing(tmp_path):
    ProgressFile(tmp_path / "none").stage("Optimise")
    assert read_state(tmp_path / "none") is None
    (tmp_path / PROGRESS).write_text('{"stage": ')
    assert read_state(tmp_path) is None
