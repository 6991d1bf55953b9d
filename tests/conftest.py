"""What all tests share."""

from __future__ import annotations

import os

# Workers of pytest-xdist share the cores: one thread each, set before numba and torch are imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# A shell that starts a command in the background has it ignore Ctrl-C, and its children too; tests of Ctrl-C need it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: What takes longest begins first, so that no worker waits for another one at the end; `--no-loadscope-reorder` keeps
#: the order. Of the two at the head only one is of the kernels, so that most of them are compiled once and not twice.
LONGEST = (
    "physics/test_derivatives_of_the_model.py",
    "app/test_browser.py",
    "bench/tasks/test_runner.py",
    "batches/test_run.py",
    "app/test_jobs.py",
    "cli/test_large_parts.py",
    "cli/test_reconstruct.py",
    "inversion/recipes/test_real_recipe.py",
    "docs/test_reference.py",
    "inversion/tiles/test_tiles_run.py",
    "inversion/test_reconstruct_recording.py",
    "physics/test_cell_physics.py",
    "inversion/test_interrupted_runs.py",
    "docs/test_guides.py",
    "cli/test_camera_files.py",
)

settings.register_profile("nefty", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("nefty")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files of ``LONGEST`` first."""
    place = {Path(__file__).parent / name: k for k, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261116)
