"""How much memory a piece of work really took: the growth of this process's resident set at its peak."""

from __future__ import annotations

import ctypes
import gc
import sys
from contextlib import suppress
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class PeakMemory:
    """Measures what happens inside ``with PeakMemory() as memory:``.

    Before, unused memory is given back to the system, so that what the work takes is seen again. On Linux the
    kernel's high-water mark of the resident set (VmHWM) is reset by writing 5 to /proc/self/clear_refs and read
    afterwards. Elsewhere ru_maxrss is read before and after: it can't be reset, so work below an earlier peak is
    not seen and the figure is a lower bound.

    Attributes:
        peak: bytes above the resident set at entry, after the block has ended.
        highest: bytes of the whole resident set at that peak.
        source: ``"VmHWM"`` or ``"ru_maxrss"``.
    """

    def __init__(self) -> None:
        self.peak = self.highest = 0
        self.source = "VmHWM" if _reset_high_water() else "ru_maxrss"

    def __enter__(self) -> PeakMemory:
        give_back()
        if self.source == "VmHWM":
            _reset_high_water()
            self._before = _kernel_says("VmRSS")
        else:
            self._before = _largest_ever()
        return self

    def __exit__(self, *_: object) -> None:
        after = _kernel_says("VmHWM") if self.source == "VmHWM" else _largest_ever()
        self.peak, self.highest = max(after - self._before, 0), after


def give_back() -> None:
    """Collect garbage and return free pages of the C heap to the system, where the C library can."""
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _reset_high_water() -> bool:
    try:
        CLEAR.write_text("5")
    except OSError:
        return False
    return True


def _kernel_says(field: str) -> int:
    """A field of /proc/self/status in bytes."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{STATUS} has no {field}")


def _largest_ever() -> int:
    """ru_maxrss in bytes; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    import resource

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024
