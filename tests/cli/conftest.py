"""Recordings small enough to reconstruct in a second, and the command line as a function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nefty.cli import main
from nefty.core.grid import Grid
from nefty.data.sequence import Sequence
from nefty.synth.recording import simulate
from nefty.synth.specimen import draw_specimen

TINY = Grid((6, 16, 16), (1.0, 10.0, 10.0))
TIMES = 0.25 * np.arange(1, 21)
STAGES = ("where", "how deep", "which shape", "edges", "finish")
QUICK = ["--set", "model.layers=6", *(word for s in STAGES for word in ("--set", f"stages.{s}.iterations=4"))]


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch) -> None:
    """Lines are as wide as in a pipe, whatever the shell or another test has set."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def call(capsys) -> Callable[..., tuple[int, str, str]]:
    """Run ``nefty`` with these words; returns the exit code, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main.main([str(word) for word in words])
        printed = capsys.readouterr()
        return int(end.value.code or 0), printed.out, printed.err

    return run


@pytest.fixture(scope="session")
def sequence() -> Sequence:
    """One defect, 6 x 16 x 16 cells, 20 frames, noise of 0.1 %."""
    return simulate(draw_specimen(seed=1, defects=1), noise=1e-3, grid=TINY, times=TIMES)


@pytest.fixture(scope="session")
def recording(sequence, tmp_path_factory) -> Path:
    """The same as a file."""
    return sequence.save(tmp_path_factory.mktemp("recording") / "tiny.h5")


@pytest.fixture(scope="session")
def finished(recording, tmp_path_factory) -> Path:
    """The folder of a finished run of few iterations; not to be changed."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    with pytest.raises(SystemExit) as end:
        main.main(["reconstruct", str(recording), "--out", str(folder), *QUICK])
    assert end.value.code in (0, None)
    return folder
