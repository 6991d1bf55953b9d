import json

import numpy as np
import pytest
import torch

from nefty.bench.solver.case import Case
from nefty.bench.solver.disturbance import Disturbance
from nefty.bench.solver.measure import Measurement, measure
from nefty.bench.solver.solvers import Solver, solver
from nefty.core.errors import InputError

SMALL = Case(shape=(6, 12, 12), frames=5)


@pytest.fixture(scope="module")
def measured() -> tuple[Measurement, list[str]]:
    heard: list[str] = []
    data = np.full((5, 12, 12), 3.0)
    found = measure(
        "chebyshev", SMALL, repeats=2, data=data, patience=0, tell=lambda task, detail: heard.append(detail)
    )
    return found, heard


def test_seconds_and_bytes_come_back(measured):
    found, _ = measured
    assert found.failed is None
    assert 1 <= len(found.forward_s) == len(found.backward_s) <= 2  # fewer where other programs disturbed a run
    assert found.total is not None
    assert found.total > 0
    assert found.peak_bytes is not None
    assert found.memory_source in ("VmHWM", "ru_maxrss")
    assert found.counters["applications"] > 0


def test_stages_are_named(measured):
    _, heard = measured
    assert heard[0] == "warming up"
    assert "run 1 of 2" in heard


def test_arrays_are_those_of_the_same_model_in_this_process(measured):
    found, _ = measured
    alpha = torch.from_numpy(SMALL.alpha()).float().requires_grad_()
    frames = solver("chebyshev").build(SMALL).forward(alpha)
    (0.5 * ((frames - 3.0) ** 2).sum()).backward()
    assert alpha.grad is not None
    np.testing.assert_allclose(found.frames, frames.detach().numpy(), rtol=1e-5)
    np.testing.assert_allclose(found.gradient, alpha.grad.numpy(), rtol=1e-3, atol=1e-3)


def test_a_measurement_is_plain_json(measured):
    found, _ = measured
    assert json.loads(json.dumps(found.plain()))["solver"] == "chebyshev"


def test_a_refusal_of_the_solver_becomes_the_rows_remark():
    found = measure("chebyshev", SMALL, repeats=1, integrator="chebichev")
    assert found.failed is not None
    assert "Did you mean 'chebyshev'" in found.failed
    assert found.total is None


def test_a_crash_leaves_its_last_words():
    found = measure("chebyshev", SMALL, repeats=1, colour="red")
    assert found.failed is not None
    assert found.failed.startswith("stopped with code 1: TypeError")


def test_a_missing_library_is_a_remark_and_starts_nothing(monkeypatch):
    monkeypatch.setattr(Solver, "installed", property(lambda self: self.package is None))
    found = measure("nefi", SMALL)
    assert found.failed == "not installed: pip install nefty[peers]"


def test_an_unknown_solver_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="Did you mean 'sdirk2'"):
        measure("sdirk", SMALL)


def test_disturbed_runs_do_not_count_while_there_are_others(monkeypatch):
    from nefty.bench.solver import worker

    noise = iter([True, False, True, False])
    monkeypatch.setattr(Disturbance, "noticeable", property(lambda self: next(noise)))
    monkeypatch.setattr(worker, "wait_for_quiet", lambda seconds: True)
    seconds = iter([(9.0, 9.0), (1.0, 2.0), (8.0, 8.0), (1.5, 2.5)])

    class Fake:
        def run(self):
            return next(seconds)

    good, disturbed = worker._timed_runs(Fake(), 2, 60.0, lambda text: None)  # pyright: ignore[reportArgumentType]
    assert good == [(1.0, 2.0), (1.5, 2.5)]
    assert disturbed == [(9.0, 9.0), (8.0, 8.0)]


def test_without_patience_disturbed_runs_end_the_measurement(monkeypatch):
    from nefty.bench.solver import worker

    monkeypatch.setattr(Disturbance, "noticeable", True)

    class Fake:
        def run(self):
            return 1.0, 2.0

    good, disturbed = worker._timed_runs(Fake(), 3, 0.0, lambda text: None)  # pyright: ignore[reportArgumentType]
    assert (good, len(disturbed)) == ([], 3)
    assert Measurement("am", quiet=False).remark == "disturbed by other programs: too slow"
