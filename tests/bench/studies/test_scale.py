"""Whole reconstructions by grid: one real one in its own process, and tables of runs that are made up."""

import re

import pytest

from nefty.bench.studies import scale
from nefty.bench.studies.scale_worker import Finding, Request, answer

GOOD = Finding(10.0, 15.0, 2**29, 300, 0.9, 0.9, 30.0, 0, 0)


def test_a_reconstruction_runs_alone_and_tells_what_it_took():
    heard = []
    results = scale.run(
        kinds=("homogeneous",),
        seeds="0",
        shapes=((6, 12, 12),),
        frames=8,
        more_frames=0,
        iterations=10,
        tell=lambda task, detail="": heard.append((task, detail)),
    )
    (row,) = results.tables[0].rows
    assert row["remark"] == ""
    assert 0 <= row["iou"].mean <= 1
    assert row["wall_s"] > 0
    assert row["cpu_s"] > 0
    assert row["peak_bytes"] > 50 * 2**20  # an interpreter with torch
    assert row["evaluations"] >= 10
    assert ("12 x 12 x 6, 8 frames, homogeneous 0", "Calibrate the background") in heard


def test_rows_compare_with_the_first_grid_of_their_kind(monkeypatch):
    ious = {(6, 12, 12): 0.9, (8, 24, 24): 0.85}

    def alone(request: Request, tell):
        found = None if request.seed == 1 else Finding(**{**GOOD.__dict__, "iou": ious[request.shape]})
        return scale.Run(request.shape, request.frames, request.kind, request.seed, found, "" if found else "no memory")

    monkeypatch.setattr(scale, "_alone", alone)
    results = scale.run(kinds=("layered",), seeds="0:2", shapes=tuple(ious), frames=8, more_frames=16)
    small, large, more = results.tables[0].rows
    assert (small["change"], more["change"]) == (None, 0.0)
    assert large["change"] == pytest.approx(-0.05)
    assert (large["grid"], more["frames"], small["n"]) == ("24 x 24 x 8", 16, 1)
    assert small["remark"] == "no memory"


def test_a_limit_of_iterations_is_kept(tmp_path):
    """Of iterations: moves and refinements of the background count among the evaluations too."""
    heard: list[str] = []
    answer(Request(str(tmp_path), "fast", "homogeneous", 0, (6, 12, 12), 8, iterations=5), heard.append)
    done = [int(found[1]) for text in heard if (found := re.search(r"(\d+) of \d+ iterations", text))]
    assert done
    assert max(done) <= 5
