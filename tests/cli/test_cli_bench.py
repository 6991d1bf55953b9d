import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from nefty.bench.suites.load import suite_names
from nefty.cli.bench import OLDER, app
from nefty.core.errors import InputError


def test_importing_the_command_is_cheap():
    code = (
        "import sys, nefty.cli.bench; "
        "print(sorted({'numpy', 'torch', 'numba', 'plotly', 'rich', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_there_is_one_door():
    said = CliRunner().invoke(app, ["--help"]).output
    assert "run" in said
    assert not any(f"\n  {name} " in said for name in OLDER)


@pytest.mark.parametrize(("name", "suite"), OLDER.items())
def test_an_older_spelling_names_the_new_one(name, suite):
    result = CliRunner().invoke(app, [name, "--methods", "all", "--quick"])
    assert isinstance(result.exception, InputError)
    assert f"`nefty bench run {suite}`" in str(result.exception)
    assert suite in suite_names()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solver", "--set", "solvers=chebyshef"], r"Did you mean 'chebyshev'"),
        (["solver", "--set", "shape=64x64"], r"such as 16x64x64"),
        (["solver", "--set", "frame=3"], r"key 'frame' is unknown.*Did you mean 'frames'"),
        (["growth", "--set", "box=grow"], r"Did you mean 'grows'"),
        (["main", "--set", "frames=3"], r"suite 'main' has no experiment"),
        (["paper", "--set", "frames=3"], r"suite 'paper' has \d+ experiments; set the options of one"),
        (["paper", "--quick"], r"--quick is for experiments"),
    ],
)
def test_options_of_an_experiment_are_checked_before_it_runs(arguments, message):
    result = CliRunner().invoke(app, ["run", *arguments])
    assert isinstance(result.exception, InputError)
    assert re.search(message, str(result.exception)), str(result.exception)


def test_a_quick_experiment_prints_a_table_writes_the_files_and_is_kept(tmp_path):
    options = ["frames=3", "solvers=chebyshev", "patience=0"]
    arguments = ["run", "solver", "--quick", *(word for option in options for word in ("--set", option))]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "surface RMSE" in result.output
    assert "written:" in result.output
    written = json.loads((tmp_path / "solver.json").read_text())
    assert written["tables"][0]["rows"][0]["solver"] == "chebyshev"
    assert written["settings"]["case"]["shape"] == [8, 32, 32]
    assert {p.suffix for p in tmp_path.iterdir()} == {".json", ".md", ".html", ".tex", ".csv"}
    again = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)])
    assert "kept" in again.output
    fresh = CliRunner().invoke(app, [*arguments, "--fresh", "--out", str(tmp_path)])
    assert "written:" in fresh.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pvc"], r"give --root FOLDER, which holds data/R_001.mat"),
        (["pvc", "--root", "/no/such/folder"], r"/no/such/folder holds no folder 'data', for there is no such folder"),
        (["main", "--root", "/tmp"], r"suite 'main' has no plates, so that root has no effect"),
        (["main", "--root", "/tmp", "--generate", "1"], r"suite 'main' has no plates"),
        (["pvc", "--generate", "1"], r"--generate needs --root FOLDER"),
        (["pvc", "--root", "x", "--generate", "1", "--generate-size", "64x80"], r"such as 256x320x1810"),
        (["pvc", "--plates", "splt=test"], r"Did you mean 'split'\?"),
        (["pvc", "--plates", "pixel=0.4"], r"0.4 m is no pixel"),
    ],
)
def test_plates_need_a_folder_and_say_so(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["run", *arguments])
    assert isinstance(result.exception, InputError)
    assert re.search(message, str(result.exception)), str(result.exception)
    assert not (tmp_path / "x").exists()
