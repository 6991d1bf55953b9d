import pytest

from nefty.cli.output import Patience, Stages
from nefty.core.words import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0123, "12.3 ms"), (0.9999, "1 s"), (2.14, "2.14 s"), (89.6, "89.6 s"), (200.2, "3 min 20 s")],
)
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_stages_are_numbered_named_and_timed(capsys):
    stages = Stages(total=2)
    with stages.stage("Load") as report:
        report(0.5)
    with stages.stage("Solve"):
        pass
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("[1/2] Load: ")
    assert lines[1].startswith("[2/2] Solve: ")
    assert list(stages.seconds) == ["Load", "Solve"]


def test_quiet_stages_say_nothing(capsys):
    with Stages(total=1, quiet=True).stage("Load"):
        pass
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_bar(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Stages(total=1).stage("Load [x]", hint="wait") as report:
        report(0.5)
    assert "[1/1] Load [x]: " in capsys.readouterr().err


def test_an_error_passes_through_a_stage():
    stages = Stages(total=1, quiet=True)
    with pytest.raises(ZeroDivisionError), stages.stage("Divide"):
        _ = 1 / 0
    assert stages.seconds == {}


def told_by(capsys, monkeypatch, patience, *, terminal=False):
    monkeypatch.setattr("nefty.cli.output.PATIENCE", patience)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    with Patience() as progress:
        progress("Read the frames", 0.25)
        progress("Read the frames", 0.5)
        progress("Clean the frames", 0.1)
    return capsys.readouterr().err


def test_quick_work_says_nothing(capsys, monkeypatch):
    assert told_by(capsys, monkeypatch, 60.0) == ""
    assert told_by(capsys, monkeypatch, 60.0, terminal=True) == ""


def test_long_work_names_its_stages(capsys, monkeypatch):
    lines = told_by(capsys, monkeypatch, 0.0).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("      Read the frames")
    assert "Clean the frames" in told_by(capsys, monkeypatch, 0.0, terminal=True)
