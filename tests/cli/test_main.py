import subprocess
import sys
import time

import pytest

import nefty
from nefty.cli import demo, main
from nefty.core.errors import InputError

HEAVY = ("torch", "numba", "numpy", "scipy", "plotly", "jinja2", "rich")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from nefty.cli.main import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_help_is_quick_and_names_every_verb():
    start = time.perf_counter()
    result = run("--help")
    assert time.perf_counter() - start < 1.5
    assert result.returncode == 0
    for verb in ("demo", "simulate", "reconstruct", "evaluate", "report", "doctor", "bench"):
        assert f"  {verb} " in result.stdout


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom nefty.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stderr.strip() == "[]"


def test_version():
    result = run("--version")
    assert result.stdout.strip() == f"nefty {nefty.__version__}"


def test_an_unknown_verb_is_refused():
    result = run("reconstrct")
    assert result.returncode == 2
    assert "reconstrct" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.fixture
def refusing(monkeypatch):
    def demonstrate(*given, **named):
        raise InputError("alpha=-1 must be above 0.")

    monkeypatch.setattr(demo, "demonstrate", demonstrate)


@pytest.mark.usefixtures("refusing")
def test_a_foreseen_error_is_one_paragraph(capsys):
    with pytest.raises(SystemExit) as end:
        main.main(["demo"])
    assert end.value.code == 2
    assert capsys.readouterr().err == "nefty: alpha=-1 must be above 0.\n"


@pytest.mark.usefixtures("refusing")
@pytest.mark.parametrize("words", [["--debug", "demo"], ["demo", "--debug"]])
def test_debug_shows_the_traceback(words):
    with pytest.raises(InputError, match="alpha=-1"):
        main.main(words)


@pytest.mark.parametrize("inside_compiled_code", [False, True])
def test_ctrl_c_is_a_short_word_and_130(monkeypatch, capsys, inside_compiled_code):
    def demonstrate(*given, **named):
        if inside_compiled_code:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "demonstrate", demonstrate)
    with pytest.raises(SystemExit) as end:
        main.main(["demo"])
    assert end.value.code == 130
    assert capsys.readouterr().err.strip() == "Stopped."


def test_an_unforeseen_error_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(demo, "demonstrate", lambda *given, **named: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main.main(["demo"])
