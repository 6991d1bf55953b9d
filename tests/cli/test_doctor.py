import json

import pytest

from nefty.cli import doctor, main


@pytest.fixture(autouse=True)
def no_speed(monkeypatch):
    monkeypatch.setattr(doctor, "_speed", lambda: {"forward": 0.01, "gradient": 0.05})


def call(*words):
    with pytest.raises(SystemExit) as end:
        main.main(["doctor", *words])
    return end.value.code


def test_a_healthy_installation(capsys):
    assert call() == 0
    out = capsys.readouterr().out
    assert "All well: 8 of 8 checks passed." in out
    assert "one forward 10 ms, one gradient 50 ms" in out
    assert "✗" not in out


def test_json_is_all_that_is_printed(capsys):
    assert call("--json") == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert printed.err == ""
    assert report["healthy"] is True
    assert all(check["passed"] for check in report["checks"])
    assert report["speed"]["gradient"] == 0.05
    assert report["system"]["devices"].startswith("cpu")


def test_a_wrong_result_is_shown_and_exits_with_1(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "_cosine", lambda: ("3.0e-01", False))
    assert call() == 1
    out = capsys.readouterr().out
    assert "✗ decay of a cosine mode" in out
    assert "Not well: 1 of 8 checks failed" in out


def test_a_check_that_raises_is_a_failed_check(monkeypatch, capsys):
    def broken():
        raise RuntimeError("no compiler [found]")

    monkeypatch.setattr(doctor, "_compile", broken)
    assert call() == 1
    out = capsys.readouterr().out
    assert "RuntimeError: no compiler [found]" in out
    assert "Speed" not in out


def test_the_speed_is_measured(monkeypatch):
    monkeypatch.undo()
    speed = doctor._speed()
    assert speed["forward"] > 0
    assert speed["gradient"] > 0
