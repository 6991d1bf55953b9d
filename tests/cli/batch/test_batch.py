"""``nefty batch``: a thin door to ``nefty.batch``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nefty.batches.outcome import Outcome
from nefty.batches.run import Step
from nefty.cli import main
from nefty.cli.batch.progress import BatchProgress


def run(capsys, *words):
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main.main([str(word) for word in words])
    printed = capsys.readouterr()
    return int(end.value.code or 0), " ".join(printed.out.split()), " ".join(printed.err.split())


def test_the_help_names_what_an_inspector_needs(capsys):
    code, out, _ = run(capsys, "batch", "--help")
    assert code == 0
    for word in ("--facts", "--record", "--workers", "--scheduler", "--slurm", "--fresh", "summary.html", "Ctrl-C"):
        assert word in out


def test_recordings_whose_own_facts_are_wrong_have_their_reasons_without_a_cluster(tmp_path, capsys):
    scans = tmp_path / "scans"
    scans.mkdir()
    np.save(scans / "a.npy", np.zeros((3, 4, 5)))
    (scans / "a.toml").write_text("thicknes = '1 mm'")
    (scans / "notes.txt").write_text("")
    code, out, err = run(capsys, "batch", scans, "--thickness", "2 mm", "--scheduler", "tcp://127.0.0.1:1")
    assert code == 1
    assert "0 of 1 recordings have a result" in out
    assert "No result: a.npy" in out
    assert "Did you mean 'thickness'" in out
    assert "Skipped, because their suffix belongs to no known format: notes.txt." in out
    assert "Look what is done" in err
    assert json.loads((tmp_path / "scans-batch" / "summary.json").read_text())["recordings"][0]["name"] == "a.npy"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "there is no file or folder nowhere"),
        ([".", "--facts", "nowhere.toml"], "there is no facts file"),
        ([".", "--slurm", "--scheduler", "tcp://a:1"], "exclude each other"),
        ([".", "--false-calls", "99"], "at most 10"),
    ],
)
def test_what_is_wrong_is_named_at_once(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "batch", *words)
    assert code == 2
    assert message in err


def test_the_time_left_counts_only_what_is_computed_now(capsys):
    with BatchProgress() as progress:
        progress._start -= 10
        progress.step(
            Step(Outcome("a.tif", "k", level="explained", worked=True, seconds=9.0), done=31, total=33, kept=30)
        )
        progress.step(Step(Outcome("b.tif", "k", reason="it is empty."), done=32, total=33, kept=30))
    err = capsys.readouterr().err
    assert "31 of 33: a.tif: explained, no indications, 9 s, about 20" in err
    assert "32 of 33: b.tif: NO RESULT: it is empty., about 5" in err
