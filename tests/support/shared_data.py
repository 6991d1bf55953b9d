"""Recordings of others, which are not part of the package."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_recording(name: str) -> Path:
    """The file, from the folder that ``NEFTY_SHARED_DATA`` names or from ../shared/data; skips the test without it."""
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("NEFTY_SHARED_DATA") or beside)
    if not (folder / name).exists():
        pytest.skip(f"{name} is not in {folder}; set NEFTY_SHARED_DATA")
    return folder / name
