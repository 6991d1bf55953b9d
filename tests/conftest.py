"""What all tests share."""

from __future__ import annotations

import os

# Workers of pytest-xdist share the cores: one thread each, set before numba and torch are imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("nefty", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("nefty")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261116)
