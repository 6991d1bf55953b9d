"""``--region`` and ``--tiles`` at the command line."""

import shlex

import pytest

from nefty.result.reconstruction import Reconstruction
from support.large_parts.panel import ALPHA, FLASH_FRAME, FPS, PIXEL, PULSE, QUICK, H, panel_file

SETTINGS = [word for key, value in QUICK.items() for word in ("--set", f"{key}={value}")]
CAMERA = ["--units", "K", "--flash-frame", FLASH_FRAME, "--onset", "frame"]
FACTS = [
    *("--fps", FPS, "--material", "gfrp", "--alpha", f"{ALPHA} m2/s", "--thickness", f"{1e3 * H} mm"),
    *("--pixel", f"{1e3 * PIXEL} mm", "--pulse", f"{1e3 * PULSE} ms"),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return panel_file(tmp_path_factory.mktemp("panel") / "panel.npy", (40, 40))


def test_a_closer_look_needs_nothing_that_the_overview_was_told(file, call):
    code, out, err = call("reconstruct", file, *CAMERA, *FACTS, *SETTINGS, "--bin", 2)
    assert code == 0
    said = " ".join(err.split())
    assert "2 x 2 pixels of the camera are joined to one cell of 1.5 mm" in said
    assert "smaller than about 3 mm (2 cells) may be missed" in said
    assert "may be missed" in (file.parent / "panel-run" / "report.html").read_text(encoding="utf-8")

    code, out, err = call("reconstruct", file, *CAMERA, *SETTINGS, "--region", 1)
    assert code == 0, err
    assert "A close-up of indication 1 of the run panel-run" in " ".join(out.split())
    near = Reconstruction.load(file.parent / "panel-run-region-1")
    assert near.facts.window.bin == 1
    assert near.close_up is not None
    assert near.indications()

    code, _, err = call("reconstruct", file, *CAMERA, "--region", 9)
    assert code == 2
    assert "has no indication 9" in err
    code, _, err = call("reconstruct", file, *CAMERA, "--region", 1, "--bin", 2)
    assert code == 2
    assert "--region chooses the rectangle itself" in " ".join(err.split())


def test_a_closer_look_without_an_overview_says_what_to_do(file, tmp_path, call):
    code, _, err = call("reconstruct", file, "--region", 1, "--overview", tmp_path / "none")
    assert code == 2
    assert "make one with nefty reconstruct" in err
    code, _, err = call("reconstruct", file, "--overview", tmp_path)
    assert code == 2
    assert "--region 3" in err


def test_inspect_says_what_joining_costs(file, tmp_path, call):
    words = [*CAMERA, *FACTS, "--bin", 4, "--out", tmp_path / "page.html"]
    code, out, _ = call("inspect", file, *words)
    assert code == 0
    assert "smaller than about 6 mm (2 cells) may be missed" in " ".join(out.split())
    assert shlex.join(["nefty", "reconstruct", str(file)]) in out


def test_tiles_are_solved_by_workers_and_said(tmp_path, call):
    pytest.importorskip("distributed")
    file = panel_file(tmp_path / "panel.npy", (24, 24))
    words = [*CAMERA, *FACTS, *SETTINGS, "--tiles", "--workers", 1, "--out", tmp_path / "run"]
    code, out, err = call("reconstruct", file, *words)
    assert code == 0, err
    assert "[6/6] Write the report" in err
    assert "Solved in one tile" in " ".join(out.split())
    assert (tmp_path / "run" / "overview" / "result.h5").exists()
    code, _, err = call("reconstruct", file, *CAMERA, *FACTS, "--tiles", "--region", 1)
    assert code == 2
    assert "does not go with --region" in " ".join(err.split())
