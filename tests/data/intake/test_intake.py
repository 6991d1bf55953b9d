"""From a file and what the user knows to a recording that can be reconstructed."""

import dataclasses

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import Facts, Units, Window
from nefty.data.intake.intake import is_complete, take_in
from nefty.data.intake.known import Known
from nefty.data.intake.load import load
from nefty.data.read import read
from nefty.physics.materials import material
from nefty.physics.pulses import TopHatPulse, UniformFlash
from nefty.synth.recording import simulate
from nefty.synth.specimen import draw_specimen
from support.flash_recordings import Camera
from support.known_facts import alike, material_of
from support.shared_data import shared_recording

PART = {"thickness": "2 mm", "pixel": "0.5 mm", "material": "pvc", "fps": 10.0}
CAMERA = Camera(shape=(150, 16, 20), echo=330)  # 2 mm of PVC at 10 frames per second


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """A file of counts, which says nothing else."""
    path = tmp_path_factory.mktemp("camera") / "plate.npy"
    np.save(path, CAMERA.counts())
    return path


@pytest.fixture(scope="module")
def simulated():
    part = draw_specimen(seed=1, defects=1)
    grid = Grid((6, 16, 16), (1.0, 10.0, 10.0))
    return simulate(part, noise=1e-3, grid=grid, times=0.25 * np.arange(1, 21))


def taken_in(path, **known):
    return take_in(path, Known.of({**PART, **known}, typed=True))


def test_the_facts_of_the_part_reach_the_recording(counts):
    found = taken_in(counts, calibration="0.005,250", pulse="8 ms")
    sequence = found.sequence
    assert found.missing == ()
    assert sequence.size == pytest.approx((2e-3, 16 * 0.5e-3, 20 * 0.5e-3))
    assert sequence.facts.units == Units(length="m", time="s", temperature="K")
    assert (sequence.facts.material, sequence.facts.material_source) == (material("pvc"), "given")
    assert isinstance(sequence.excitation, TopHatPulse)
    assert sequence.excitation.duration == pytest.approx(8e-3)
    h = material("pvc").loss(10)
    assert (sequence.boundary.h_front, sequence.boundary.h_back) == pytest.approx((h, h))
    assert sequence.times[0] > 0
    assert sequence.facts.camera.frame_rate == pytest.approx(10)
    assert [step.name for step in found.steps][:3] == ["material", "pulse", "losses"]
    assert sequence.facts.steps == found.steps
    assert [step.name for step in found.assumed] == ["losses", "drift"]


def test_every_step_can_be_set(counts):
    found = taken_in(
        counts,
        alpha="1.3e-7 m2/s",
        no_losses=True,
        flash_frame=11,
        onset="frame",
        ambient="9000",
        roi="2:14,:-4",
        bin="1 mm",
        frames="25",
        start="0.3 s",
        until="8 s",
        gain="early",
        corrupt="50,51",
        dead="off",
        saturation="off",
        drift="off",
    )
    sequence = found.sequence
    assert sequence.shape[1:] == (6, 8)
    assert sequence.shape[0] <= 25
    assert sequence.size == pytest.approx((2e-3, 6e-3, 8e-3))
    assert sequence.facts.window == Window(top=2, left=0, bin=2)
    assert sequence.times[0] >= 0.3
    assert sequence.times[-1] <= 8
    assert material_of(sequence).alpha_z == pytest.approx(1.3e-7)
    assert sequence.boundary.h_back == 0
    values = {step.name: step.values for step in found.steps}
    assert values["corrupt frames"]["frames"] == [50, 51]
    assert values["gain"]["applied"] is True
    assert values["ambient"]["ambient"] == 9000
    assert sequence.facts.origin.ambient == pytest.approx(9000)


def test_lookup_mask_and_pixels_that_are_not_square(counts, tmp_path):
    table = 250 + 0.005 * np.arange(2**16)
    mask = np.ones((16, 20), bool)
    mask[:4] = False
    np.save(tmp_path / "table.npy", table)
    np.save(tmp_path / "mask.npy", mask)
    found = taken_in(counts, lookup=tmp_path / "table.npy", mask=tmp_path / "mask.npy", pixel="0.5 mm,0.25 mm").sequence
    assert found.facts.units.temperature == "K"
    assert np.isnan(found.frames[:, :4]).all()
    assert found.size == pytest.approx((2e-3, 8e-3, 5e-3))
    given = taken_in(counts, lookup=table, mask=mask, pixel=(0.5e-3, 0.25e-3)).sequence  # in Python, without files
    assert given.digest() == found.digest()


def test_all_that_is_missing_is_named_at_once(counts):
    typed = take_in(counts, Known(typed=True))
    assert [fact.option for fact in typed.missing] == ["--fps", "--thickness", "--pixel", "--material"]
    assert not typed.rate_known
    with pytest.raises(InputError, match=r"Missing: .*\(--fps 50\).*\(--material cfrp\)\. Give it with these options"):
        typed.complete()
    assert typed.complete(only=("flash_frame",)) is typed.sequence
    with pytest.raises(InputError, match=r"\(thickness=\"1\.3 mm\"\); .*\(material=\"cfrp\"\)\. Give it to nefty\.l"):
        load(counts, fps=10, pixel=0.5e-3)


def test_a_flash_that_is_not_there_is_asked_for_and_then_the_ambient_value(tmp_path):
    np.save(tmp_path / "cooling.npy", CAMERA.frames()[12:])
    assert [fact.name for fact in taken_in(tmp_path / "cooling.npy").missing] == ["flash_frame"]
    assert [fact.name for fact in taken_in(tmp_path / "cooling.npy", flash_frame=0).missing] == ["ambient"]
    assert taken_in(tmp_path / "cooling.npy", flash_frame=0, ambient=0).missing == ()


def test_files_that_say_everything_are_left_alone(simulated, tmp_path):
    path = simulated.save(tmp_path / "tiny.h5")
    found = take_in(path, Known(typed=True))
    np.testing.assert_array_equal(found.sequence.frames, simulated.frames)
    assert found.sequence.digest() == read(path).digest()
    assert (found.steps, found.missing) == ((), ())
    with pytest.raises(InputError, match="--material does not go with"):
        take_in(path, Known(material="pvc", typed=True))
    with pytest.raises(InputError, match=r"^thickness does not go with"):
        load(path, thickness=2e-3)
    binned = take_in(path, Known(bin="2"))
    assert binned.sequence.shape == (20, 8, 8)
    assert binned.sequence.facts.window == Window(bin=2)
    assert "dead pixels" not in [s.name for s in binned.steps if s.values.get("pixels")]
    chosen = take_in(path, Known(roi=(2, 10, None, -4)))  # its flash is narrow: heat crosses the sides of any piece
    counts = np.zeros((16, 16), bool)
    counts[2:10, :-4] = True
    np.testing.assert_array_equal(chosen.sequence.mask, counts)
    np.testing.assert_array_equal(chosen.sequence.frames, simulated.frames)
    assert "rows 2 to 10 of 16 and columns 0 to 12 of 16 count" in chosen.sequence.facts.notes[-1].text
    assert chosen.steps == ()
    even = dataclasses.replace(simulated, excitation=UniformFlash()).save(tmp_path / "even.h5")
    cut = take_in(even, Known(roi=(2, 10, None, -4)))
    np.testing.assert_array_equal(cut.sequence.frames, simulated.frames[:, 2:10, :-4])


def test_what_was_prepared_once_is_not_prepared_again(counts, tmp_path):
    first = taken_in(counts, calibration="0.005,250").sequence
    again = take_in(first.save(tmp_path / "ready.h5"), Known())
    assert is_complete(again.loaded)
    assert again.sequence.digest() == first.digest()
    assert alike(again.sequence.facts, first.facts)
    assert again.missing == ()


def test_a_recording_of_ones_own_needs_only_what_it_lacks(simulated, tmp_path):
    own = dataclasses.replace(simulated, facts=Facts(units=Units(length="m", time="s")))
    found = take_in(own.save(tmp_path / "own.h5"), Known())
    assert found.missing == ()
    assert found.sequence.excitation == own.excitation
    bare = dataclasses.replace(own, excitation=None, size=None)
    found = take_in(bare.save(tmp_path / "bare.h5"), Known())
    assert [fact.name for fact in found.missing] == ["thickness", "pixel", "material"]


@pytest.mark.parametrize("name", ["comsol_cfrp_defect.hdf5", "comsol_cfrp_sound.hdf5"])
def test_simulations_of_others_need_nothing_more(name):
    found = take_in(shared_recording(name), Known())
    assert found.missing == ()
    assert material_of(found.sequence).alpha_z == pytest.approx(4.469e-7, rel=1e-3)
    assert found.sequence.facts.material_source == "file"
    assert found.sequence.anisotropy == pytest.approx((1.34 / 0.53, 8.66 / 0.53))
    assert [step.name for step in found.assumed] == ["drift"]
    assert found.sequence.boundary.h_back == 0
