import numpy as np
import pytest

from nefty.core import resident_memory
from nefty.core.resident_memory import PeakMemory

MIB = 2**20


def _touch(size: int) -> None:
    np.ones(size, dtype=np.uint8)


def test_a_known_amount_is_seen_and_freed_memory_counts():
    with PeakMemory() as memory:
        _touch(100 * MIB)
    if memory.source != "VmHWM":
        pytest.skip("the kernel does not let us reset its high-water mark here")
    assert 95 * MIB < memory.peak < 120 * MIB


def test_an_earlier_peak_does_not_hide_a_smaller_one():
    _touch(200 * MIB)
    with PeakMemory() as memory:
        _touch(50 * MIB)
    if memory.source != "VmHWM":
        pytest.skip("the kernel does not let us reset its high-water mark here")
    assert 45 * MIB < memory.peak < 70 * MIB


def test_without_the_kernels_help_the_source_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(resident_memory, "CLEAR", tmp_path / "missing" / "clear_refs")
    with PeakMemory() as memory:
        _touch(MIB)
    assert memory.source == "ru_maxrss"
    assert memory.peak >= 0
