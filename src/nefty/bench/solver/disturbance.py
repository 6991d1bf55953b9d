"""Whether other programs were busy while something was timed."""

from __future__ import annotations

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")


class Disturbance:
    """Processor seconds that others used inside ``with Disturbance() as others:``.

    The kernel's count of busy time (/proc/stat, in ticks of 10 ms) minus this process's own. Where the kernel does not
    count, ``seconds`` is None.

    Attributes:
        wall: seconds inside.
        seconds: processor seconds of others, over all cores.
    """

    def __enter__(self) -> Disturbance:
        self.wall, self.seconds = 0.0, None
        self._start = time.perf_counter(), time.process_time(), _busy()
        return self

    def __exit__(self, *_: object) -> None:
        wall, own, busy = self._start
        self.wall = time.perf_counter() - wall
        now = _busy()
        if busy is not None and now is not None:
            self.seconds = max(now - busy - (time.process_time() - own), 0.0)

    @property
    def noticeable(self) -> bool:
        """More than a tenth of one core, beyond what ticks can resolve."""
        return self.seconds is not None and self.seconds > 0.1 * self.wall + 0.03


def wait_for_quiet(seconds: float, sample: float = 0.5) -> bool:
    """Wait until others leave the processor alone for ``sample`` seconds; False if they did not in ``seconds``."""
    end = time.perf_counter() + seconds
    while True:
        with Disturbance() as others:
            time.sleep(sample)
        if not others.noticeable:
            return True
        if time.perf_counter() > end:
            return False


def _busy() -> float | None:
    """Processor seconds since the start of the machine that were neither idle nor waiting for a disk."""
    try:
        fields = STAT.read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return None
    user, nice, system, _idle, _iowait, *rest = (int(f) for f in fields)
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")
