import json
import re

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from nefty.cli import demo, main
from nefty.cli.output import Stages
from nefty.core.grid import Grid


@pytest.fixture(scope="module")
def study():
    grid = Grid(shape=(8, 24, 24), size=(1.0, 10.0, 10.0))
    return demo.simulate(Stages(total=5, quiet=True), grid, np.linspace(0.1, 3, 15))


def test_the_solver_predicts_the_recording(study):
    summary = study.summary()
    assert summary["rmse_part"] < 0.05
    assert summary["contrast_peak"] > 100 * summary["rmse_part"]


def test_the_gradient_points_at_the_defect(study):
    z, y, x = study.strongest
    assert study.gradient[z, y, x] > 0
    assert study.outline[y, x]


def test_it_writes_an_offline_page_and_a_summary(study, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(demo, "simulate", lambda stages: study)
    with pytest.raises(SystemExit) as end:
        main.main(["demo", "--out", str(tmp_path / "new")])
    assert end.value.code == 0
    html = (tmp_path / "new" / "index.html").read_text()
    own = html.replace(get_plotlyjs(), "")
    assert len(html.encode()) < 15e6
    assert not re.search(r"https?://|@import|url\(", own)
    assert own.count("Plotly.newPlot") == 5
    summary = json.loads((tmp_path / "new" / "summary.json").read_text())
    assert summary["rmse_part"] == study.summary()["rmse_part"]
    assert summary["provenance"]["cells (z, y, x)"] == "8 × 24 × 24"
    assert "index.html" in capsys.readouterr().out.splitlines()[-1]


def test_it_opens_the_page_only_when_asked(study, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(demo, "simulate", lambda stages: study)
    monkeypatch.setattr("webbrowser.open", opened.append)
    demo.run(tmp_path, show=False)
    assert opened == []
    demo.run(tmp_path, show=True)
    assert opened == [(tmp_path / "index.html").resolve().as_uri()]


def test_a_folder_that_cannot_be_written_is_a_clear_error(study, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(demo, "simulate", lambda stages: study)
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(SystemExit) as end:
        main.main(["demo", "--out", str(tmp_path / "taken" / "out")])
    assert end.value.code == 2
    assert "choose another folder" in capsys.readouterr().err
