"""Results that nefty 0.1 wrote are read with all they know; ``old_files/README.md`` says how they were made."""

from pathlib import Path

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.stopping import FINISHED, Stopped, StopReason
from nefty.data.facts import CalibratedValue, Heating, Hole, Source, Units, Window
from nefty.result.effort import Effort
from nefty.result.reconstruction import Reconstruction
from nefty.synth.specimen import Specimen, draw_specimen
from support.known_facts import alike, defects_of, material_of, simulation_of
from support.notes import texts

FILES = Path(__file__).parent / "old_files"


def test_a_result_of_fast():
    old = Reconstruction.load(FILES / "fast.h5")
    assert old.stopped == FINISHED
    assert old.lateral == "periodic"
    assert old.effort == Effort(preparation=4.18, optimisation=6.67, evaluations=35, unknowns=256)
    assert old.bulk == pytest.approx(np.exp(np.log(old.background).mean()), rel=1e-4)
    assert old.recipe["name"] == "fast"
    assert old.provenance["nefty"] == "0.1.0"
    assert texts(old) == ["3 dead pixels were found and do not count."]
    made = simulation_of(old)
    assert old.facts.origin.source is Source.SIMULATION
    assert Specimen.from_record(made.record["specimen"]) == draw_specimen(seed=1, defects=1)
    assert made.noise_sigma == pytest.approx(0.0555, rel=1e-2)
    assert (old.own_view, old.own_surface, old.reach, old.facts.heating) == (None, False, None, None)
    assert old.facts.extra == {}
    assert old.truth is not None


def test_a_result_of_real_with_all_that_was_calibrated():
    old = Reconstruction.load(FILES / "real.h5")
    assert old.stopped == Stopped(StopReason.OUT_OF_TIME, "the 1e-06 s it was given were over")
    assert old.stopped.cut_short
    assert old.lateral == "adiabatic"
    assert old.facts.units == Units(length="m", time="s", temperature="K")
    assert material_of(old).name == "pvc"
    assert old.facts.material_source == "given"
    assert old.facts.heating == Heating("TopHatPulse", 5e-3)
    assert old.facts.window == Window(top=2, left=2, bin=2)
    assert old.facts.steps[-1].name == "gain"
    assert texts(old)[0] == "Simulated on cells of 1 x 5 mm, seen at the surface."
    assert texts(old)[-1].startswith("Frames before 25.9 s do not tell about the volume")
    names = [row.name for row in old.facts.calibration]
    assert names == ["bulk alpha_z", "h_front/(rho c)", "h_back/(rho c)", "amplitude", "heated margin"]
    first, *_, last = old.facts.calibration
    assert first == CalibratedValue("bulk alpha_z", first.value, start=1.2e-7, unit="m2/s")
    assert last.start is None
    assert old.bulk == pytest.approx(first.value, rel=1e-4)
    assert defects_of(old).holes == (Hole("rectangular", (0.03, 0.07), (0.02, 0.024), 1.5e-3),)


def test_the_calibrated_gain_of_a_simulated_plate_is_not_taken_for_the_true_one():
    old = Reconstruction.load(FILES / "real.h5")
    assert old.facts.gain is not None
    assert old.facts.gain.shape == old.grid.shape[1:]
    assert simulation_of(old).gain is None


def test_a_classical_method_has_its_own_map():
    old = Reconstruction.load(FILES / "classical.h5")
    assert old.stopped == Stopped(StopReason.FINISHED, "done")
    over = np.zeros((8, 8), bool)
    over[2:4, 3:6] = True
    assert old.own_view is not None
    np.testing.assert_array_equal(old.own_view.mask, over)
    np.testing.assert_allclose(old.own_view.depth[over], 0.4, atol=0.05)
    assert np.isnan(old.own_view.depth[~over]).all()
    assert old.bulk == 0.15


def test_a_pinn_has_its_own_surface():
    old = Reconstruction.load(FILES / "pinn.h5")
    assert old.own_surface
    assert old.effort == Effort(evaluations=4, unknowns=330, collocation=64)
    assert old.bulk is None


@pytest.mark.parametrize("name", ["fast", "real", "classical", "pinn"])
def test_what_is_saved_again_is_the_same_and_has_a_report(name, tmp_path):
    old = Reconstruction.load(FILES / f"{name}.h5")
    again = Reconstruction.load(old.save(tmp_path / f"{name}.h5"))
    assert alike(again.facts, old.facts)
    for field in ("stopped", "effort", "bulk", "lateral", "own_surface"):
        assert getattr(again, field) == getattr(old, field)
    np.testing.assert_array_equal(again.alpha, old.alpha)
    assert again.report(tmp_path / "report.html").stat().st_size > 10_000


def test_the_sides_come_from_the_first_that_names_them():
    kept = ("grid_shape", "grid_size", "alpha", "background", "times", "measured", "fitted")
    record = {name: value for name, value in Reconstruction.load(FILES / "fast.h5").record().items() if name in kept}

    def lateral(meta, recipe):
        return Reconstruction.from_record({**record, "meta": meta, "recipe": recipe}).lateral

    around = {"boundary": {"lateral": "periodic"}}
    assert lateral({"lateral": "adiabatic"}, around) == "adiabatic"
    assert lateral(around, {}) == lateral({}, around) == "periodic"
    assert lateral({"boundary": "none", "lateral": "round"}, {}) == "adiabatic"
    with pytest.raises(InputError, match=r"not the record of a reconstruction|damaged"):
        lateral({"holes": 3}, {})
