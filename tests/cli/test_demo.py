import re

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from nefty.cli import demo, main
from nefty.cli.output import Stages
from nefty.core.grid import Grid
from nefty.synth.specimen import draw_specimen

GRID = Grid((8, 24, 24), (1.0, 10.0, 10.0))

STAGES = ("where", "how deep", "which shape", "edges", "finish")
RECIPE = {"model.layers": 8} | {f"stages.{stage}.iterations": 6 for stage in STAGES}


def small(folder, *, recipe=RECIPE, fresh=False):
    stages = Stages(total=8)
    demo.demonstrate(folder, stages=stages, fresh=fresh, overrides=recipe, grid=GRID, times=0.25 * np.arange(1, 21))
    return stages.seconds


def test_the_specimen_has_three_defects_at_three_depths():
    tops = sorted(defect.top for defect in draw_specimen(demo.SEED, demo.KIND).defects)
    assert len(tops) == 3
    assert np.diff(tops).min() > 0.05


def test_it_finds_what_is_there_says_so_and_shows_it_again(tmp_path, capsys):
    small(tmp_path / "demo")
    out = capsys.readouterr().out
    said = " ".join(out.split())
    assert re.search(r"[23] of 3 true defects found, (none|\d) that (is|are) not there", said)
    assert "Errors of the depth to the top: " in said
    assert str(tmp_path / "demo" / "report.html") in out

    html = (tmp_path / "demo" / "report.html").read_text()
    assert len(html.encode()) < 15e6
    assert not re.search(r"https?://|@import|url\(", html.replace(get_plotlyjs(), ""))
    assert "truth" in html

    assert "Optimise" not in small(tmp_path / "demo")
    assert capsys.readouterr().out == out
    (tmp_path / "demo" / "recording.h5").write_bytes(b"half of it")
    assert "Optimise" not in small(tmp_path / "demo")
    assert "Optimise" in small(tmp_path / "demo", fresh=True, recipe={**RECIPE, "stop.seconds": 1e-6})


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path, capsys):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(SystemExit) as end:
        main.main(["demo", "--out", str(tmp_path / "taken" / "out")])
    assert end.value.code == 2
    assert "choose another folder" in capsys.readouterr().err
