"""Where trained networks are kept: one folder each, by name."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nefty.core.storage.run_folder import RESULT

if TYPE_CHECKING:
    from nefty.supervised.network import VolumeNetwork

#: Environment variable of the folder; ``networks`` where the program runs if it is not set.
VARIABLE = "NEFTY_NETWORKS"


def network_path(name: str | os.PathLike[str]) -> Path:
    """The file of a network: given itself, as the folder of a training, or by name on the shelf."""
    given = Path(name)
    for path in (given, Path(os.environ.get(VARIABLE, "networks")) / given):
        if path.is_file():
            return path
        if (path / RESULT).is_file():
            return path / RESULT
    return Path(os.environ.get(VARIABLE, "networks")) / given / RESULT


def shelved_network(name: str | os.PathLike[str]) -> tuple[VolumeNetwork, dict[str, Any]]:
    """The network and what is known of its training; read once as long as the file does not change.

    Raises:
        InputError: it is not there, or its file is no network's.
    """
    path = network_path(name)
    changed = path.stat().st_mtime_ns if path.is_file() else 0
    return _read(str(path), changed)


@lru_cache(maxsize=4)
def _read(path: str, changed: int) -> tuple[VolumeNetwork, dict[str, Any]]:
    from nefty.supervised.network import load_network

    return load_network(path)
