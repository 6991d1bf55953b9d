"""Soft-constrained PINNs as rows of the benchmark."""

import pytest

from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.methods import method
from nefty.bench.tasks.simulated import Simulated
from nefty.bench.tasks.task import Task, perform
from nefty.core.errors import InputError
from nefty.metrics.surface import frames_score

SMALL = Simulated(shape=(6, 12, 12), frames=8)
ROWS = ("pinn", "spinn", "causal-pinn", "dcgd-center", "dcgd-projection", "dcgd-average")
TINY = {
    "diffusivity.depth": 3,
    "diffusivity.width": 8,
    "diffusivity.skip": 1,
    "temperature.depth": 2,
    "temperature.width": 8,
    "points.collocation": 64,
    "points.axes": (4, 4, 4, 4),
    "causal.chunks": 4,
}


@pytest.mark.parametrize("name", ROWS)
def test_every_variant_is_a_method(name):
    budget = Budget(iterations=3)
    done = perform(Task(SMALL, "homogeneous", 0, name, method(name).settings(TINY, budget), budget))
    assert done.facts["iterations"] == 3
    assert done.facts["collocation"] == (256 if name == "spinn" else 64)
    assert {"data", "pde", "ic"} <= done.history.keys()
    # The surface is the temperature network's own; that of the volume is another.
    assert done.scores["surface_psnr"] != done.scores["simulated_psnr"]
    given = SMALL.sequence("homogeneous", 0)
    found = method(name).run(given, done.task.settings, budget)
    assert done.scores["surface_psnr"] == pytest.approx(frames_score(found.fitted, given.frames).psnr, rel=1e-4)


def test_settings_that_are_not_known():
    with pytest.raises(InputError, match="collocation"):
        method("pinn").settings({"points.colocation": 3}, Budget())
