"""Recordings of cameras at the command line: facts from options, one error for all that is missing."""

import dataclasses
import os
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

from nefty.cli.recording_options import RecordingOptions
from nefty.core.errors import InputError
from nefty.data.facts import Units
from nefty.data.facts_file import facts_of_meta
from nefty.data.intake.intake import is_complete, read_recording
from nefty.data.intake.values import region
from nefty.data.read import read
from nefty.inversion.recipe import load_recipe
from nefty.physics.materials import material
from nefty.physics.pulses import TopHatPulse
from nefty.result.reconstruction import Reconstruction
from support.flash_recordings import Camera
from support.shared_data import shared_recording

STAGES = [stage.name for stage in load_recipe("real").stages]  # of recordings in metres
QUICK = ["--set", "model.layers=6", *(word for s in STAGES for word in ("--set", f"stages.{s}.iterations=1"))]
PART = {"thickness": "2 mm", "pixel": "0.5 mm", "material": "pvc", "fps": 10.0}
WORDS = ["--thickness", "2 mm", "--pixel", "0.5 mm", "--material", "pvc", "--fps", "10"]
CAMERA = Camera(shape=(150, 16, 20), echo=330)  # 2 mm of PVC at 10 frames per second


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """A file of counts, which says nothing else."""
    path = tmp_path_factory.mktemp("camera") / "plate.npy"
    np.save(path, np.round((CAMERA.frames() - 250) / 0.005).astype(np.uint16))
    return path


def read(path, **options):
    return read_recording(path, RecordingOptions(**{**PART, **options}))


def test_the_facts_of_the_part_reach_the_recording(counts):
    found = read(counts, calibration="0.005,250", pulse="8 ms")
    sequence = found.sequence
    assert found.missing == ()
    assert sequence.size == pytest.approx((2e-3, 16 * 0.5e-3, 20 * 0.5e-3))
    assert sequence.facts.units == Units(**{"time": "s", "temperature": "K", "length": "m"})
    assert sequence.facts.material.name == "pvc"
    assert isinstance(sequence.excitation, TopHatPulse)
    assert sequence.excitation.duration == pytest.approx(8e-3)
    h = material("pvc").loss(10)
    assert (sequence.boundary.h_front, sequence.boundary.h_back) == pytest.approx((h, h))
    assert sequence.times[0] > 0
    assert sequence.facts.camera.frame_rate == pytest.approx(10)
    assert [step.name for step in found.steps][:3] == ["material", "pulse", "losses"]
    assert [step["name"] for step in sequence.facts.steps] == [step.name for step in found.steps]
    assert [step.name for step in found.assumed] == ["losses", "drift"]


def test_every_step_can_be_set(counts):
    found = read(
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
    assert sequence.times[0] >= 0.3
    assert sequence.times[-1] <= 8
    assert sequence.facts.material.alpha_z == pytest.approx(1.3e-7)
    assert sequence.boundary.h_back == 0
    values = {step.name: step.values for step in found.steps}
    assert values["corrupt frames"]["frames"] == [50, 51]
    assert values["gain"]["applied"] is True
    assert values["ambient"]["ambient"] == 9000


def test_lookup_mask_and_pixels_that_are_not_square(counts, tmp_path):
    np.save(tmp_path / "table.npy", 250 + 0.005 * np.arange(2**16))
    mask = np.ones((16, 20), bool)
    mask[:4] = False
    np.save(tmp_path / "mask.npy", mask)
    found = read(counts, lookup=tmp_path / "table.npy", mask=tmp_path / "mask.npy", pixel="0.5 mm,0.25 mm")
    assert found.sequence.facts.units.temperature == "K"
    assert np.isnan(found.sequence.frames[:, :4]).all()
    assert found.sequence.size == pytest.approx((2e-3, 8e-3, 5e-3))


def test_one_error_names_all_that_is_missing_and_nothing_is_written(counts, call, tmp_path):
    code, out, err = call("reconstruct", counts, "--out", tmp_path / "run")
    assert code == 2
    assert out == ""
    for option in ("--fps", "--thickness", "--pixel", "--material"):
        assert option in err
    assert err.count("nefty:") == 1
    assert not (tmp_path / "run").exists()
    code, _, err = call("reconstruct", counts, "--out", tmp_path / "run", *WORDS[:4])
    assert "--thickness" not in err
    assert "--material" in err


def test_a_flash_that_is_not_there_is_asked_for(call, tmp_path):
    np.save(tmp_path / "cooling.npy", CAMERA.frames()[12:])
    code, _, err = call("reconstruct", tmp_path / "cooling.npy", *WORDS)
    assert code == 2
    assert "--flash-frame" in err
    code, _, err = call("reconstruct", tmp_path / "cooling.npy", *WORDS, "--flash-frame", 0)
    assert code == 2
    assert "--ambient" in err
    assert "--flash-frame" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--thickness", "0 mm"], "--thickness=0 must be above 0"),
        (["--thickness", "2"], "has no unit"),
        (["--pixel", "0.2 mmm"], "unknown unit"),
        (["--pixel", "3 s"], "is a time"),
        (["--material", "pvcc"], "Did you mean 'pvc'?"),
        (["--alpha", "0 m2/s"], "--alpha"),
        (["--pulse", "5 mm"], "is a length"),
        (["--roi", "0:99,0:5"], "do not lie within the 16"),
        (["--roi", "0-9"], "y0:y1,x0:x1"),
        (["--flash-frame", "150"], "not one of the 150 frames"),
        (["--flash-frame", "-1"], "from 0 on"),
        (["--bin", "17"], "larger than the frames"),
        (["--bin", "0"], "--bin"),
        (["--frames", "many"], "--frames"),
        (["--ambient", "warm"], "--ambient"),
        (["--calibration", "3"], "slope,offset"),
        (["--corrupt", "3,x"], "--corrupt"),
        (["--gain", "late"], "gain"),
        (["--units", "F"], "units"),
        (["--lookup", "none.npy"], "cannot read the lookup table"),
        (["--start", "99 s"], "no frame lies between"),
        (["--fps", "-3"], "fps=-3 must be above 0"),
    ],
)
def test_what_does_not_fit_is_a_clear_error(counts, call, tmp_path, words, said):
    code, _, err = call("reconstruct", counts, "--out", tmp_path / "run", *WORDS, *words)
    assert code == 2
    assert said in err
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


def test_a_cameras_file_is_reconstructed_and_resumed_with_all_its_options(counts, call, tmp_path):
    words = [*WORDS, "--calibration", "0.005,250", "--roi", "2:14,2:-2", "--frames", "20", "--bin", "2"]
    code, out, err = call("reconstruct", counts, "--out", tmp_path / "run", *words, "--seconds", 1e-6, *QUICK)
    assert code == 0, err
    assert "Assumed, losses" in err
    command = shlex.split(out.splitlines()[-1])
    for word in words:
        assert word in command
    code, out, _ = call(*command[1:])
    assert code == 0
    assert "To go on" not in out
    rec = Reconstruction.load(tmp_path / "run")
    assert rec.grid.shape[1:] == (6, 8)
    assert rec.grid.size == pytest.approx((2e-3, 6e-3, 8e-3))
    assert rec.facts.material.name == "pvc"
    assert any(step["name"] == "times" for step in rec.facts.steps)


def test_files_that_say_everything_are_left_alone(recording, sequence):
    found = read_recording(recording, RecordingOptions())
    np.testing.assert_array_equal(found.sequence.frames, sequence.frames)
    assert found.sequence.digest() == read(recording).digest()
    assert (found.steps, found.missing) == ((), ())
    with pytest.raises(InputError, match="--material does not go with"):
        read_recording(recording, RecordingOptions(material="pvc"))
    binned = read_recording(recording, RecordingOptions(bin="2"))
    assert binned.sequence.shape == (20, 8, 8)
    assert "dead pixels" not in [s.name for s in binned.steps if s.values.get("pixels")]


def test_what_was_prepared_once_is_not_prepared_again(counts, tmp_path):
    first = read(counts, calibration="0.005,250").sequence
    again = read_recording(first.save(tmp_path / "ready.h5"), RecordingOptions())
    assert is_complete(again.loaded)
    assert again.sequence.digest() == first.digest()
    assert again.missing == ()


def test_a_recording_of_ones_own_needs_only_what_it_lacks(sequence, tmp_path):
    own = dataclasses.replace(sequence, facts=facts_of_meta({"units": {"length": "m", "time": "s"}}))
    found = read_recording(own.save(tmp_path / "own.h5"), RecordingOptions())
    assert found.missing == ()
    assert found.sequence.excitation == own.excitation
    bare = dataclasses.replace(own, excitation=None, size=None)
    found = read_recording(bare.save(tmp_path / "bare.h5"), RecordingOptions())
    assert [fact.option for fact in found.missing] == ["--thickness", "--pixel", "--material"]


@pytest.mark.parametrize("name", ["comsol_cfrp_defect.hdf5", "comsol_cfrp_sound.hdf5"])
def test_simulations_of_others_need_no_option(name):
    found = read_recording(shared_recording(name), RecordingOptions())
    assert found.missing == ()
    assert found.sequence.facts.material.alpha_z == pytest.approx(4.469e-7, rel=1e-3)
    assert found.sequence.anisotropy == pytest.approx((1.34 / 0.53, 8.66 / 0.53))
    assert [step.name for step in found.assumed] == ["drift"]
    assert found.sequence.boundary.h_back == 0


def test_a_real_file_is_asked_for_all_it_lacks(call):
    code, _, err = call("reconstruct", shared_recording("flir_lwir.ptw"))
    assert code == 2
    for option in ("--thickness", "--pixel", "--material", "--flash-frame"):
        assert option in err
    assert "--fps" not in err


def test_regions():
    assert region("1:2,3:4", "--roi") == (1, 2, 3, 4)
    assert region(":,-5:", "--roi") == (None, None, -5, None)
    for wrong in ("", "1:2", "1:2,3", "1,2", "a:b,c:d", "1:2,3:4,5:6", "1:2:3,4:5"):
        with pytest.raises(InputError, match="y0:y1,x0:x1"):
            region(wrong, "--roi")


def test_a_file_whose_name_is_no_utf8_goes_all_the_way(counts, tmp_path):
    file = os.fsencode(tmp_path) + b"/\xff.npy"
    shutil.copy(counts, file)
    run = [sys.executable, "-c", "from nefty.cli.main import main; main()"]
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}

    def nefty(*words):
        done = subprocess.run([*run, *words], cwd=tmp_path, env=strict, capture_output=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert b"reconstruct '\xff.npy'" in nefty("inspect", b"\xff.npy", *WORDS)
    nefty("reconstruct", b"\xff.npy", *WORDS, *QUICK)
    folder = os.fsencode(tmp_path) + b"/\xff-run/"
    for name in (b"report.html", b"defects.csv"):
        with open(folder + name, encoding="utf-8") as text:
            assert text.read()
