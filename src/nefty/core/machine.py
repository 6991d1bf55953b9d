"""What this machine offers: devices, threads, memory, optional extras."""

from __future__ import annotations

import re
import shutil
from importlib import metadata, util
from pathlib import Path

from nefty.core.provenance import versions


def devices() -> dict[str, str]:
    """Where torch can compute."""
    try:
        import torch
    except ImportError as error:
        return {"devices": f"unknown, torch does not load: {error}"}
    found = ["cpu"]
    if torch.cuda.is_available():
        found += [f"cuda:{i} {torch.cuda.get_device_name(i)}" for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        found.append("mps")
    return {"devices": ", ".join(found)}


def threads() -> dict[str, str]:
    """How many threads numba and torch use; numba's threading layer is known after its first parallel loop."""
    try:
        import numba
        import torch
    except ImportError as error:
        return {"threads": f"unknown: {error}"}
    try:
        layer = numba.threading_layer()  # pyright: ignore[reportPrivateImportUsage]
    except ValueError:
        layer = "not started"
    return {"threads": f"numba {numba.get_num_threads()} ({layer}), torch {torch.get_num_threads()}"}


def room() -> dict[str, str]:
    """Free memory, and free disk space where the command was started."""
    memory = free_memory()
    return {
        "free memory": "unknown" if memory is None else f"{memory / 2**30:.1f} GiB",
        "free disk": f"{shutil.disk_usage('.').free / 2**30:.1f} GiB in this folder",
    }


def free_memory() -> int | None:
    """Bytes of memory that can be used without swapping; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def extras() -> dict[str, dict[str, str]]:
    """The optional extras, each with its packages and their versions, ``"absent"`` if not installed."""
    found: dict[str, list[str]] = {}
    for line in metadata.requires("nefty") or []:
        match = re.match(r"([\w.-]+).*extra\s*==\s*['\"]([\w-]+)['\"]", line)
        if match and match[2] != "dev":
            found.setdefault(match[2], []).append(match[1])
    return {
        extra: {name: version for name, version in versions(names).items() if name in names}
        for extra, names in sorted(found.items())
    }


def is_installed(package: str | None) -> bool:
    """Whether a library, by the name one imports, is there (it is not imported); ``None`` needs none."""
    return package is None or util.find_spec(package) is not None


def remedy(extra: str | None) -> str:
    """What to do where it is not; ``extra`` is nefty's that installs it."""
    return f"not installed: pip install nefty[{extra}]"
