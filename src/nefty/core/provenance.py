"""Where a result comes from: versions, host, time."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

from nefty import __version__

LIBRARIES = ("numpy", "scipy", "numba", "torch", "h5py", "plotly")


def versions(libraries: Iterable[str] = LIBRARIES) -> dict[str, str]:
    """Versions of Python, nefty and ``libraries``, without importing them; ``"absent"`` if not installed."""
    found = {"python": platform.python_version(), "nefty": __version__}
    for name in libraries:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "absent"
    return found


def host() -> dict[str, str]:
    """Name, system, processor and usable cores of this machine."""
    return {
        "host": platform.node() or "unknown",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}".strip(),
        "processor": processor(),
        "cores": str(usable_cores()),
    }


def provenance() -> dict[str, str]:
    """Everything about here and now that a result should carry."""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return {"created": now, **versions(), **host()}


def usable_cores() -> int:
    """Cores this process may run on, which in a container or a batch job are fewer than the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """The processor's name as its vendor writes it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"
