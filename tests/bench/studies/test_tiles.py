"""Large parts in tiles: one small panel on an external worker, and the table of runs that are made up."""

import os

import pytest

from nefty.bench.studies import tiles
from nefty.bench.studies.panel import FILMS, PIXEL, simulated_panel
from nefty.bench.suites.experiments import EXPERIMENTS


def test_the_panel_is_a_recording_of_a_real_part():
    panel = simulated_panel((8, 64, 128), frames=5)
    assert panel.shape == (5, 64, 128)
    assert panel.facts.units.in_metres
    late = panel.frames[3]
    radius, _ = FILMS[0]
    assert late[32 - 1 : 32 + 1, 32 - 1 : 32 + 1].mean() > late[:8, :8].mean() + 0.05
    assert radius * PIXEL < 3e-3


@pytest.mark.skipif("NEFTY_TEST_LONG" not in os.environ, reason="takes a minute: make test-long")
def test_a_small_panel_runs_on_an_external_worker():
    pytest.importorskip("distributed")
    heard = []
    results = EXPERIMENTS["tiles"].run(EXPERIMENTS["tiles"].quick, lambda task, detail="": heard.append(detail))
    (row,) = results.tables[0].rows
    assert row["tiles"] > 1
    assert row["cpu_s"] > 0
    assert row["tiles_s"] > 0
    assert 50 * 2**20 < row["peak_bytes"] < row["all_bytes"]  # an interpreter with torch
    assert "Solve the tiles" in heard


def test_two_workers_are_compared_with_one(monkeypatch):
    def timed(shape, workers, *_):
        stages = {
            "Cut the recording": 1.0,
            "Solve the overview": 5.0,
            tiles.SOLVE: 20.0 / workers,
            "Join the tiles": 1.0,
        }
        return tiles.Timed(shape, workers, 9, stages, 30.0, 2**30, 3 * 2**30, 4)

    monkeypatch.setattr(tiles, "_timed", timed)
    results = tiles.run(shapes=((24, 100, 100),))
    one, two = results.tables[0].rows
    assert (one["speed"], two["speed"]) == (None, 2.0)
    assert one["per_pixel"] == pytest.approx(3.0)
    assert "16 minutes of one processor" in results.notes[-1]
    assert (one["films"], one["all_bytes"]) == (4, 3 * 2**30)
    whole = tiles.run(shapes=((24, 100, 100), (24, 512, 640)))
    assert [row["workers"] for row in whole.tables[0].rows] == [1, 2, 2]  # the large one by the most workers alone
    assert whole.tables[0].rows[-1]["films"] == 80
    assert not any("Extrapolated" in note for note in whole.notes)
