import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from nefty.cli.bench import _shape, app
from nefty.core.errors import InputError


def test_importing_the_command_is_cheap():
    code = (
        "import sys, nefty.cli.bench; "
        "print(sorted({'numpy', 'torch', 'numba', 'plotly', 'rich', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_benchmark_has_help():
    said = CliRunner().invoke(app, ["--help"]).output
    for name in ("solver", "growth", "memory", "contrast", "validate", "profile"):
        assert name in said


def test_a_shape_is_read_in_the_order_z_y_x():
    assert _shape("16x64x32") == (16, 64, 32)
    with pytest.raises(InputError, match="such as 16x64x64"):
        _shape("64x64")


def test_an_unknown_method_is_an_error_with_the_nearest_name():
    result = CliRunner().invoke(app, ["solver", "--methods", "chebyshef"])
    assert isinstance(result.exception, InputError)
    assert "Did you mean 'chebyshev'" in str(result.exception)


def test_a_quick_run_prints_a_table_and_writes_the_files(tmp_path):
    arguments = ["solver", "--quick", "--frames", "3", "--methods", "chebyshev", "--patience", "0"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "surface RMSE" in result.output
    assert "written:" in result.output
    assert json.loads((tmp_path / "solver.json").read_text())["tables"][0]["rows"][0]["method"] == "chebyshev"
    assert {p.suffix for p in tmp_path.iterdir()} == {".json", ".md", ".html", ".tex", ".csv"}


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
