"""Classical methods as rows of the benchmark."""

import numpy as np
import pytest

import nefty
from nefty.bench.suites.load import load_suite
from nefty.bench.tasks import task
from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.classical import reconstruct, settings
from nefty.bench.tasks.methods import METHODS
from nefty.bench.tasks.task import Outcome, perform
from nefty.classical.techniques import TECHNIQUES
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import Facts
from nefty.metrics.front_view import front_view
from nefty.physics.materials import Material
from nefty.synth.specimen import Defect, Specimen

GRID = Grid((10, 12, 12), (1.0, 12.0, 12.0))


@pytest.fixture(scope="module")
def sequence():
    """A square air gap under 0.4 in a part of thickness 1, under an even flash."""
    flat = Defect("box", (0.55, 6.0, 6.0), (0.15, 2.5, 2.5), 0.0, 1e-3)
    part = Specimen(GRID.size, (), (0.15,), (flat,))
    flash = nefty.UniformFlash(amplitude=100.0, depth=0.02)
    return nefty.simulate(part, grid=GRID, times=0.05 * np.arange(1, 161), excitation=flash, noise=2e-4)


@pytest.mark.parametrize("name", TECHNIQUES)
def test_every_classical_method_is_a_row(name, sequence):
    row = METHODS[name]
    assert row.installed
    assert row.paper == TECHNIQUES[name].paper
    found = row.run(sequence, row.settings({"alpha": 0.15}, Budget()), Budget())
    seen = front_view(found)
    assert found.alpha.shape == GRID.shape
    assert found.fitted.shape == found.measured.shape
    assert seen.mask[5:7, 5:7].all()
    assert not seen.mask[:2].any()
    if name == "ppt-paper":  # six frequencies for PVC plates: the mask is right, the depth is not
        assert np.nanmedian(seen.depth[5:7, 5:7]) > 0.5
    elif TECHNIQUES[name].depth:
        assert np.nanmedian(seen.depth[5:7, 5:7]) == pytest.approx(0.4, rel=0.35)
        assert (found.alpha[:, seen.mask & np.isfinite(seen.depth)].min(axis=0) < 0.03).all()
    else:
        assert np.isnan(seen.depth).all()


def test_the_diffusivity_is_given_or_of_the_material_or_fitted():
    grid = Grid((8, 6, 6), (1.0, 6.0, 6.0))
    part = Specimen(grid.size, (), (0.15,), ())
    flash = nefty.UniformFlash(amplitude=100.0, depth=0.2)
    sequence = nefty.simulate(part, grid=grid, times=0.2 * np.arange(1, 21), excitation=flash, noise=2e-4)

    def bulk(recording, **changes):
        facts = reconstruct(recording, settings({"technique": "tsr", **changes}), Budget()).provenance
        return float(facts["bulk diffusivity"]), facts["its source"]

    assert bulk(sequence, alpha=0.2) == (0.2, "as given")
    fitted, source = bulk(sequence)
    assert source == "fitted to the background"
    assert fitted == pytest.approx(0.15, rel=0.03)
    known = nefty.Sequence(
        frames=sequence.frames,
        times=sequence.times,
        size=sequence.size,
        excitation=sequence.excitation,
        facts=Facts(material=Material(name="pvc", alpha_z=0.17, alpha_y=0.17, alpha_x=0.17)),
    )
    assert bulk(known) == (0.17, "material pvc")


def test_what_a_depth_map_does_not_know_is_assumed(sequence):
    def volume(**changes):
        return reconstruct(sequence, settings({"technique": "peak-slope", "alpha": 0.15, **changes}), Budget()).alpha

    down = volume()
    assert down.min() == pytest.approx(0.15 / 15)
    assert (down[-1, 5:7, 5:7] < 0.03).all()  # down to the back face
    thin = volume(thickness=0.2, contrast=30.0)
    assert thin.min() == pytest.approx(0.15 / 30)
    assert (thin[-1] == 0.15).all()


def test_options_of_the_method_are_settings_of_the_row():
    assert settings({"technique": "tsr", "order": 7})["options"] == {"order": 7}
    with pytest.raises(InputError, match=r"setting of tsr='ordr' is unknown.*Did you mean 'order'\?"):
        settings({"technique": "tsr", "ordr": 7})
    with pytest.raises(InputError, match=r"settings of tsr: contrast=0.5"):
        settings({"technique": "tsr", "contrast": 0.5})
    with pytest.raises(InputError, match="takes no recipe"):
        METHODS["tsr"].settings({}, Budget(), "fast")


def test_a_row_runs_like_any_other_and_is_judged_by_its_own_maps(tmp_path, monkeypatch):
    monkeypatch.setattr(task, "warm_up", lambda: None)  # these methods have nothing to compile
    suite = load_suite(
        {
            "name": "tiny",
            "title": "Tiny",
            "data": {"clean": {"seeds": "0", "kinds": ["homogeneous"], "shape": [8, 16, 16], "frames": 40}},
            "methods": [
                {"method": "dtt", "set": {"alpha": 0.15}},
                {"method": "tsr", "set": {"alpha": 0.15, "order": 6}},
            ],
            "tables": ["quality", "projection"],
        }
    )
    first, second = (perform(entry.task) for entry in suite.entries())
    assert first.scores["depth_mae"] is None  # DTT knows no depth
    assert first.scores["mask_iou"] is not None
    assert first.scores["iou"] == 0.0
    assert second.task.settings["options"] == {"order": 6}
    assert second.facts["seconds"] > 0
    loaded = Outcome.load(second.save(tmp_path / "outcome.h5"))
    assert loaded.task.key == second.task.key
    assert loaded.scores == second.scores
