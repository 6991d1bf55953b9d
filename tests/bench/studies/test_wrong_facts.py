"""Sound parts of which one thing is told wrongly."""

import numpy as np
import pytest

from nefty.bench.studies import wrong_facts
from nefty.core.grid import Grid
from nefty.synth.recording import simulate
from nefty.synth.specimen import PAPER_GRID, draw_specimen

TIMES = 0.5 * np.arange(1, 11)


@pytest.mark.parametrize("fault", wrong_facts.FAULTS[1:], ids=lambda fault: fault.name)
def test_every_fault_is_one(fault):
    """Either the user says something else, or the frames are others than the model makes of what he says."""
    grid = Grid((4, 8, 8), PAPER_GRID.size)
    setup = {k: v for k, v in fault.setup.items() if k != "gain"}
    recording = simulate(draw_specimen(0, "sound"), grid=grid, times=TIMES, **setup)
    told = fault.told(recording)
    right = simulate(draw_specimen(0, "sound"), grid=grid, times=TIMES)
    said = [(r.size, r.excitation, tuple(r.times), r.boundary, r.anisotropy) for r in (told, right)]
    assert "gain" in fault.setup or said[0] != said[1] or not np.allclose(told.frames, right.frames)
    if setup:
        assert said[0] == said[1]


def test_the_table_counts_what_is_called(monkeypatch):
    monkeypatch.setattr(wrong_facts, "FAULTS", wrong_facts.FAULTS[:1])
    results = wrong_facts.run(seeds="0:1", shape=(4, 12, 12), frames=12)
    (row,) = results.tables[0].rows
    assert row["n"] == 2
    assert row["false"] == 0
    assert row["highest"] < row["threshold"]
