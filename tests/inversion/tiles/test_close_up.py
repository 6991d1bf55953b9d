"""A closer look at one indication of an overview."""

import dataclasses

import numpy as np
import pytest

import nefty
from nefty import InputError
from nefty.data.intake.known import Known
from nefty.inversion.tiles.close_up import box_around, rims, with_facts_of
from nefty.result.reconstruction import Reconstruction
from support.large_parts.panel import ALPHA, FILMS, KNOWN, PIXEL, QUICK, H, panel_file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("panel")


@pytest.fixture(scope="module")
def file(folder):
    return panel_file(folder / "panel.npy")


@pytest.fixture(scope="module")
def overview(file, folder):
    sequence = nefty.load(file, **KNOWN, bin=2)
    nefty.reconstruct(sequence, overrides=QUICK, run=folder / "panel-run")
    return Reconstruction.load(folder / "panel-run")  # as a later command finds it


@pytest.fixture(scope="module")
def near(file, folder, overview):
    number = smaller(overview)
    return nefty.close_up(file, folder / "panel-run", number, overrides=QUICK, run=folder / "near", **OF_THE_CAMERA)


OF_THE_CAMERA = {name: KNOWN[name] for name in ("units", "flash_frame", "onset")}


def smaller(overview):
    found = overview.indications()
    assert len(found) == len(FILMS)
    return min(found, key=lambda one: one.area).label


def test_the_piece_is_the_indication_and_what_heat_spreads_over(overview):
    row, column, radius, _ = FILMS[1]
    top, bottom, left, right = box_around(overview, smaller(overview))
    rim = max(np.sqrt(4 * ALPHA * overview.times[-1]), 2 * H) / PIXEL
    assert rims(overview) == pytest.approx((rim * PIXEL, rim * PIXEL), rel=0.02)
    assert (top, left) == pytest.approx((row - radius - rim, column - radius - rim), abs=3)
    assert (bottom, right) == pytest.approx((row + radius + rim, column + radius + rim), abs=3)
    assert box_around(overview, 3 - smaller(overview))[2] >= 0  # no further than the overview


def test_it_is_solved_in_pixels_with_what_the_overview_calibrated(overview, near):
    top, _, left, _ = box_around(overview, smaller(overview))
    assert near.grid.spacing[1] == pytest.approx(PIXEL)
    assert overview.grid.spacing[1] == pytest.approx(2 * PIXEL)
    assert (near.facts.window.top, near.facts.window.left, near.facts.window.bin) == (top, left, 1)
    whole, own = overview.calibrated, near.calibrated
    for name in ("alpha", "h_front", "h_back", "margin", "delay", "amplitude"):
        assert getattr(own, name) == pytest.approx(getattr(whole, name))
    np.testing.assert_allclose(own.common, whole.common)
    assert [row.value for row in near.facts.calibration] == pytest.approx(
        [row.value for row in overview.facts.calibration]
    )


def test_it_finds_the_defect_with_its_own_size(overview, near):
    (one,) = near.indications()
    row, column, radius, layer = FILMS[1]
    assert one.depth_to_top == pytest.approx((layer + 1) * H / 12, rel=0.1)
    area = np.pi * (radius * PIXEL) ** 2
    coarse = overview.indications()[smaller(overview) - 1]
    assert abs(one.area - area) < abs(coarse.area - area) + 1e-7
    assert one.area == pytest.approx(area, rel=0.25)
    window = near.facts.window
    assert one.centre[1] / PIXEL + window.top == pytest.approx(row, abs=1)
    assert one.centre[2] / PIXEL + window.left == pytest.approx(column, abs=1)


def test_the_result_says_of_what_it_is_a_close_up(near, folder):
    kept = Reconstruction.load(folder / "near")
    assert kept.close_up is not None
    assert kept.close_up == near.close_up
    assert kept.close_up.run == "panel-run"
    assert kept.close_up.joined == 2
    sentence = f"A close-up of indication {kept.close_up.indication} of the run panel-run"
    page = kept.report(folder / "near.html").read_text(encoding="utf-8")
    assert sentence in page
    assert "2 x 2 camera pixels were one cell" in page


def test_an_indication_that_is_not_there_is_refused(overview, file):
    with pytest.raises(InputError, match="no indication 7; it has 1 to 2"):
        nefty.close_up(file, overview, 7)


def test_an_overview_without_calibration_is_refused(overview, file):
    with pytest.raises(InputError, match="--recipe real, --fresh"):
        nefty.close_up(file, dataclasses.replace(overview, calibrated=None), 1)


def test_another_fact_than_the_overviews_is_refused(overview, file):
    with pytest.raises(InputError, match=r"thickness is 3 mm in the overview and 3\.3 mm here"):
        nefty.close_up(file, overview, 1, **OF_THE_CAMERA, thickness="3.3 mm")
    with pytest.raises(InputError, match="give flash_frame, onset"):
        nefty.close_up(file, overview, 1, **{**OF_THE_CAMERA, "flash_frame": 3})


def test_what_is_not_said_is_the_overviews_and_what_is_said_wins(overview):
    known = with_facts_of(overview, Known(pulse="2 ms"))
    assert known.pulse == "2 ms"
    assert known.thickness == pytest.approx(H)
    assert known.pixel == pytest.approx((PIXEL, PIXEL))
    assert known.material is overview.facts.material
