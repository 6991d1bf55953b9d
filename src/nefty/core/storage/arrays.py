"""Arrays in files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.errors import InputError


def load_array(path: Path, what: str) -> np.ndarray:
    """Read one array from a .npy file; never unpickles."""
    try:
        with open(path, "rb") as file:
            found: Any = np.load(file, allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read the {what} {path}: {reason}; save it with np.save(path, array).") from None
    if not isinstance(found, np.ndarray):
        raise InputError(f"the {what} {path} holds several arrays; save one with np.save(path, array).")
    return found
