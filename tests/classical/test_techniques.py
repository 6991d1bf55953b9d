"""Every method on one simulated part with a flat defect, through the registry."""

import numpy as np
import pytest

import nefty
from nefty.classical import contrast, decays, ppt, vwc
from nefty.classical.estimate import lift
from nefty.classical.techniques import TECHNIQUES, technique
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.synth.specimen import Defect, Specimen

BULK, TOP, THICKNESS = 0.15, 0.4, 1.0
DEEP = [name for name, m in TECHNIQUES.items() if m.depth]
#: What a method may be off by over the defect, whose heat flows around it and whose top lies between two frames.
TOLERANCE = {"tsr": 0.2, "tsr-paper": 0.3, "ppt": 0.35, "vwc-svd": 0.2, "vwc-admm": 0.2, "peak-slope": 0.25}


@pytest.fixture(scope="module")
def grid():
    return Grid((10, 12, 12), (THICKNESS, 12.0, 12.0))


@pytest.fixture(scope="module")
def sequence(grid):
    """A square air gap of 5 x 5 under 0.4, in a part of thickness 1; noise of 0.02 % of the peak."""
    flat = Defect("box", (0.55, 6.0, 6.0), (0.15, 2.5, 2.5), 0.0, 1e-3)
    part = Specimen(grid.size, (), (BULK,), (flat,))
    flash = nefty.UniformFlash(amplitude=100.0, depth=0.02)
    return nefty.simulate(part, grid=grid, times=0.05 * np.arange(1, 161), excitation=flash, noise=2e-4)


@pytest.fixture(scope="module")
def places():
    over, beside = np.zeros((12, 12), dtype=bool), np.ones((12, 12), dtype=bool)
    over[5:7, 5:7] = True
    beside[2:10, 2:10] = False
    return over, beside


@pytest.mark.parametrize("name", DEEP)
def test_the_depth_is_shallower_over_the_defect_than_beside_it(name, sequence, places):
    over, beside = places
    found = technique(name).run(sequence, BULK).estimate()
    assert np.isfinite(found.depth[over]).all()
    away = np.where(np.isfinite(found.depth), found.depth, np.inf)[beside]  # no depth: nothing above the back face
    assert found.depth[over].max() < np.median(away)
    if name in TOLERANCE:
        np.testing.assert_allclose(np.median(found.depth[over]), TOP, rtol=TOLERANCE[name])
    if name in ("tsr", "vwc-svd", "vwc-admm"):
        np.testing.assert_allclose(np.median(away), THICKNESS, rtol=0.05)
    assert found.note


@pytest.mark.parametrize("name", ["tsr", "vwc-admm", "peak-slope"])
def test_a_depth_map_becomes_a_volume_that_can_be_scored(name, sequence, grid, places):
    over, beside = places
    volume = lift(technique(name).run(sequence, BULK).estimate(), grid, BULK, 1e-3, thickness=0.3)
    assert (volume[:, over].min(axis=0) == 1e-3).all()
    assert (volume[:, beside] == BULK).mean() > 0.95
    found, true = volume < 0.03, sequence.truth < 0.03
    assert (found & true).sum() / (found | true).sum() > 0.3


def test_the_maps_without_a_depth_show_the_defect_too(sequence, places):
    over, beside = places
    largest = technique("dtt").run(sequence).maxigram
    assert largest[over].min() > 10 * np.median(largest[beside])
    images = technique("pct").run(sequence).images
    second = np.abs(images[1] - np.median(images[1]))
    assert second[over].min() > 3 * np.median(second[beside])


@pytest.mark.parametrize("name", TECHNIQUES)
def test_every_method_has_maps_to_look_at(name, sequence):
    found = TECHNIQUES[name].run(sequence, BULK)
    maps = found.maps()
    assert maps
    assert all(image.shape == (12, 12) for image in maps.values())
    assert ("depth" in maps) == TECHNIQUES[name].depth


def test_names_options_and_alpha_are_checked(sequence):
    with pytest.raises(InputError, match="Did you mean 'tsr'"):
        technique("tsrr")
    with pytest.raises(InputError, match="Did you mean 'order'"):
        technique("tsr").run(sequence, BULK, ordr=7)
    with pytest.raises(InputError, match="give --alpha"):
        technique("vwc-svd").run(sequence)
    assert technique("tsr").run(sequence, BULK, order=7).coefficients.shape[0] == 8
    assert "frequencies" in technique("ppt").known_options()


def test_the_papers_rows_are_the_papers(sequence):
    logs = technique("tsr-paper").run(sequence, BULK)
    assert (logs.peak, logs.relation, logs.coefficients.shape[0]) == ("polynomial", "paper", 6)
    np.testing.assert_allclose(logs.depth, 1.8 * np.sqrt(BULK * logs.peak_time))
    phases = technique("ppt-paper").run(sequence, BULK)
    assert (phases.rule, phases.constant, phases.frequencies.size) == ("peak", 1.82, 6)


def test_pieces_of_pixels_give_the_same(sequence, monkeypatch):
    options = {"vwc-admm": {"inverse": vwc.Admm(iterations=20)}}

    def every():
        return {name: TECHNIQUES[name].run(sequence, BULK, **options.get(name, {})).maps() for name in TECHNIQUES}

    whole = every()
    for module in (decays, contrast, ppt, vwc):
        monkeypatch.setattr(module, "BLOCK", 12_000)
    for name, maps in every().items():
        for label, image in maps.items():
            np.testing.assert_allclose(image, whole[name][label], rtol=1e-5, atol=1e-6, err_msg=f"{name}: {label}")
