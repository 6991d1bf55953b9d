import subprocess
import sys
import time

from nefty.bench.solver import disturbance
from nefty.bench.solver.disturbance import Disturbance, wait_for_quiet


def test_own_work_is_not_a_disturbance_but_a_childs_is():
    busy = "import time; end = time.perf_counter() + 1.0\nwhile time.perf_counter() < end: pass"
    with Disturbance() as others:
        child = subprocess.Popen([sys.executable, "-c", busy])
        child.wait()
    if others.seconds is None:
        return
    assert others.seconds > 0.5
    assert others.noticeable


def test_where_the_kernel_does_not_count_nothing_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setattr(disturbance, "STAT", tmp_path / "missing")
    with Disturbance() as others:
        time.sleep(0.01)
    assert others.seconds is None
    assert not others.noticeable
    assert wait_for_quiet(1.0, sample=0.01)


def test_waiting_ends_when_patience_does(monkeypatch):
    monkeypatch.setattr(Disturbance, "noticeable", True)
    assert not wait_for_quiet(0.0, sample=0.01)
