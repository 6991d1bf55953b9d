"""``nefty app`` from the command line: what it takes, and what it refuses before it listens."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nefty.cli import main


@pytest.fixture
def call(capsys) -> Callable[..., tuple[int, str, str]]:
    """Run ``nefty`` with these words; returns the exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main.main(list(words))
        printed = capsys.readouterr()
        return int(end.value.code or 0), printed.out, printed.err

    return run


def test_help_says_what_it_is(call):
    code, out, _ = call("app", "--help")
    assert code == 0
    assert "nothing leaves this machine" in " ".join(out.split())
    for option in ("--port", "--host", "--token", "--jobs", "--no-open"):
        assert option in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none",), "there is no folder none"),
        ((".", "--host", "0.0.0.0"), "state a token"),
        ((".", "--host", "0.0.0.0", "--token", "short"), "at least 16"),
        ((".", "--host", "256.1.1.1", "--token", "long enough to be one"), "cannot listen on 256.1.1.1"),
    ],
)
def test_what_cannot_be_is_refused(call, tmp_path, monkeypatch, words, said):
    pytest.importorskip("nicegui", reason="the app needs the extra 'app'")
    monkeypatch.chdir(tmp_path)
    code, _, err = call("app", *words)
    assert code == 2
    assert said in " ".join(err.split())
