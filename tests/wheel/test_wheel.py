"""The wheel as a stranger gets it: built, checked, installed where nothing else is, and used from there.

It takes minutes and installs packages: ``make test-wheel``. ``NEFTY_TEST_PYTHON`` names another Python for it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest

import nefty

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "nefty"
PYTHON = os.environ.get("NEFTY_TEST_PYTHON", sys.executable)

pytestmark = [
    pytest.mark.skipif("NEFTY_TEST_WHEEL" not in os.environ, reason="takes minutes: make test-wheel"),
    pytest.mark.skipif(importlib.util.find_spec("build") is None, reason="needs the extra release"),
]


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder, without this repository on the path; its output."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder, env=clean)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built of a copy of the sources, so that nothing is left behind here."""
    copy, out = tmp_path_factory.mktemp("source") / "nefty", tmp_path_factory.mktemp("dist")
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(PACKAGE, copy / "src" / "nefty", ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", out, folder=copy)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The folder of programs of an environment that has the wheel and its extra ``app``."""
    where = tmp_path_factory.mktemp("environment")
    run(PYTHON, "-m", "venv", where, folder=where)
    programs = where / ("Scripts" if os.name == "nt" else "bin")
    pins = ROOT / "constraints.txt"
    run(programs / "python", "-m", "pip", "install", "-q", "-c", pins, f"{wheel}[app]", folder=where)
    return programs


def test_its_name_and_its_metadata(wheel):
    assert wheel.name.startswith(f"nefty-{nefty.__version__}-py3-none-any")
    assert "PASSED" in run(sys.executable, "-m", "twine", "check", "--strict", wheel, folder=wheel.parent)


def test_it_holds_all_files_of_the_package_and_no_other(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = [file for file in PACKAGE.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    assert held == {f"nefty/{file.relative_to(PACKAGE).as_posix()}" for file in files}
    assert {"nefty/py.typed", "nefty/__init__.pyi", "nefty/report/templates/page.html.j2"} < held
    assert {"nefty/inversion/recipes/fast.toml", "nefty/bench/suites/trials.toml"} < held


def test_the_library_is_the_installed_one(installed, tmp_path):
    code = "import nefty; print(nefty.__version__, nefty.__file__); print(nefty.Grid((2, 2, 2), (1, 1, 1)).spacing)"
    said = run(installed / "python", "-c", code, folder=tmp_path)
    assert said.startswith(nefty.__version__)
    assert str(installed.parent) in said


def test_the_demo_runs_from_it(installed, tmp_path):
    run(installed / "nefty", "demo", "--out", "demo", folder=tmp_path)
    assert "<html" in (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")[:2000]


def test_the_app_answers_from_it(installed, tmp_path):
    said = tmp_path / "said.txt"
    with said.open("w") as file:
        app = subprocess.Popen(
            [str(installed / "nefty"), "app", str(tmp_path), "--port", "0", "--no-open"],
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": ""},
        )
    try:
        link = None
        until = time.monotonic() + 180
        while link is None and time.monotonic() < until and app.poll() is None:
            time.sleep(0.5)
            link = re.search(r"Open: (http://\S+)", said.read_text(encoding="utf-8"))
        assert link, said.read_text(encoding="utf-8")
        # The link is worth one session, which a cookie carries on; and this machine is not reached through a proxy.
        browser = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
        with browser.open(link[1], timeout=60) as answer:
            assert b"nefty" in answer.read()
    finally:
        app.send_signal(signal.SIGINT)
        try:
            app.wait(30)
        except subprocess.TimeoutExpired:
            app.kill()
            app.wait()
