"""Recordings that nefty 0.1 wrote are read with all they know; ``old_files/README.md`` says how they were made."""

from pathlib import Path

import numpy as np
import pytest

from nefty.data.facts import Hole, NoteKind, Source, Units, Window
from nefty.data.intake.load import load
from nefty.data.read import read
from nefty.physics.materials import material
from nefty.physics.pulses import TopHatPulse
from nefty.synth.camera import Camera
from nefty.synth.recording import resimulate, setup_of, simulate, specimen_of
from nefty.synth.specimen import draw_specimen
from support.known_facts import alike, defects_of, same_recording, simulation_of
from support.notes import texts

FILES = Path(__file__).parent / "old_files"
SUFFIXES = [".h5", ".npz", ".tif"]
HOLE = Hole("rectangular", (0.03, 0.07), (0.02, 0.024), 1.5e-3)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_simulated_one_is_made_again_from_its_record(suffix):
    old = read(FILES / f"simulated{suffix}")
    assert (old.facts.origin.source, old.facts.origin.name) == (Source.SIMULATION, "simulated")
    assert old.facts.simulated
    assert specimen_of(old) == draw_specimen(seed=1, defects=1)
    setup = setup_of(old)
    assert setup is not None
    assert (setup.grid, setup.seed, setup.camera) == (old.grid(4), 3, Camera(noise=1e-3, gain=0.02))
    again = resimulate(old)
    np.testing.assert_allclose(again.frames, old.frames, rtol=1e-9)
    np.testing.assert_array_equal(np.asarray(again.truth), np.asarray(old.truth))
    assert simulation_of(again).noise_sigma == pytest.approx(simulation_of(old).noise_sigma)
    assert simulation_of(old).versions["nefty"] == "0.1.0"


def test_a_simulated_one_knows_what_it_would_know_today():
    old = read(FILES / "simulated.h5")
    options = {"grid": old.grid(4), "times": old.times, "seed": 3}
    new = simulate(draw_specimen(seed=1, defects=1), camera=Camera(noise=1e-3, gain=0.02), **options)
    made = new.facts.origin.simulation
    assert made is not None
    assert simulation_of(old).record.keys() == made.record.keys()
    assert old.facts.extra == {}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_prepared_one_knows_its_part_its_steps_and_its_pixels(suffix):
    old = read(FILES / f"prepared{suffix}")
    facts = old.facts
    assert facts.units == Units(length="m", time="s", temperature="K")
    assert (facts.material, facts.material_source) == (material("cfrp"), "given")
    assert facts.camera.frame_rate == pytest.approx(10)
    assert facts.window == Window(top=2, left=4, bin=2)
    assert (facts.origin.source, facts.origin.name) == (Source.FILE, "camera.npy")
    assert (facts.origin.flash_known, facts.origin.flash_frame) == (True, 5)
    assert facts.origin.ambient == pytest.approx(295, abs=0.01)
    assert facts.origin.simulation is None
    assert facts.gain is not None
    assert facts.gain.shape == old.shape[1:] == (4, 6)
    assert [step.name for step in facts.steps][:4] == ["material", "pulse", "losses", "values"]
    assert [step.name for step in facts.steps if step.assumed] == ["losses", "drift"]
    times = facts.stepped("times")
    assert times is not None
    assert (times.values["frames"], times.values["of"]) == (12, 34)
    assert {note.kind for note in facts.notes} == {NoteKind.OTHER}
    assert texts(old)[0] == "Times follow from fps=10, as given."
    assert {step.sentence for step in facts.steps} <= set(texts(old))
    assert isinstance(old.excitation, TopHatPulse)
    assert old.excitation.duration == 8e-3
    assert (facts.extra, facts.calibration, facts.heating) == ({}, (), None)


def test_all_formats_of_the_old_version_say_the_same():
    for name in ("simulated", "prepared"):
        one, *others = (read(FILES / f"{name}{suffix}") for suffix in SUFFIXES)
        assert all(same_recording(one, other) for other in others)


def test_a_prepared_one_is_not_prepared_again():
    old = read(FILES / "prepared.h5")
    assert same_recording(load(FILES / "prepared.h5"), old)


def test_a_plate_knows_its_holes_and_its_true_gain():
    old = read(FILES / "plate.h5")
    known = defects_of(old)
    assert known.holes == (HOLE,)
    assert known.mask is not None
    assert known.depth is not None
    assert known.mask.dtype == bool
    np.testing.assert_allclose(known.depth[known.mask], HOLE.depth)
    assert np.isnan(known.depth[~known.mask]).all()
    made = simulation_of(old)
    assert made.record["plate"] == {"alpha": 1.3e-7, "h_front": 6e-6, "h_back": 1.2e-5}
    assert made.gain is not None
    assert made.gain.std() == pytest.approx(0.03, rel=1e-6)
    assert old.facts.gain is None
    assert not old.facts.simulated
    assert old.facts.material is not None
    assert old.facts.material.name == "pvc"


def test_a_plate_that_was_cut_is_read_with_the_gain_that_was_found():
    """Nefty 0.1 cut the mask of the known defects and left their depths as they were."""
    old = read(FILES / "prepared_plate.h5")
    assert old.facts.window == Window(top=1, left=4)
    known = defects_of(old)
    assert known.holes == (HOLE,)
    assert known.mask is not None
    assert known.mask.shape == old.shape[1:] == (4, 6)
    assert known.depth is None
    assert old.facts.origin.source is Source.SIMULATION
    assert old.facts.origin.flash_known
    assert old.facts.gain is not None
    assert old.facts.gain.shape == (4, 6)
    assert simulation_of(old).gain is None


def test_a_simulation_of_others_keeps_its_parameters():
    old = read(FILES / "others.npz")
    assert old.facts.origin.parameters["k1_mat"] == 8.66
    assert (old.facts.origin.name, old.facts.origin.flash_frame) == ("others.h5", 2)
    assert old.facts.origin.ambient == pytest.approx(290.3)
    assert defects_of(old).mask is not None
    assert old.size == (0.002, 0.02, 0.03)


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir() if path.suffix in SUFFIXES))
def test_what_is_saved_again_is_the_same(name, tmp_path):
    old = read(FILES / name)
    again = read(old.save(tmp_path / name))
    assert same_recording(again, old)
    assert alike(again.facts, old.facts)
