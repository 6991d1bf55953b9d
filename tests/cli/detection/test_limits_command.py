"""``nefty limits``: of a recording and of its run the same table; what cannot be said is refused."""

import numpy as np
import pytest

import nefty
from nefty.inversion.seen import HASTY
from support.batch_folders.scans import FACTS, write_plate


@pytest.fixture(scope="module")
def plate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    write_plate(folder / "plate.tif", 3)
    (folder / "plate.toml").write_text(FACTS)
    return folder / "plate.tif"


def test_a_recording_and_its_run_say_the_same(plate, call, tmp_path):
    code, said, _ = call("limits", plate)
    assert code == 0
    assert "an air gap of 50 um" in said
    assert "depth (mm)" in said
    nefty.reconstruct(nefty.load(plate), overrides=HASTY, run=tmp_path / "run")
    assert call("limits", tmp_path / "run")[1] == said


def test_numbers_come_in_metres_and_are_written_in_the_report(plate, tmp_path):
    seen = nefty.limits(nefty.load(plate))
    assert isinstance(seen, nefty.Limits)
    assert 1e-4 < np.nanmax(seen.depths) < 2e-3
    rec = nefty.reconstruct(nefty.load(plate), overrides=HASTY)
    assert "What would have been seen" in rec.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "What would have been seen" in rec.verdict().text


def test_a_recording_without_metres_is_refused():
    grid, times = nefty.Grid((4, 8, 8), (1.0, 10.0, 10.0)), 0.25 * np.arange(1, 11)
    unitless = nefty.simulate(nefty.draw_specimen(seed=1, defects=1), grid=grid, times=times)
    with pytest.raises(nefty.InputError, match="in metres"):
        nefty.limits(unitless)
