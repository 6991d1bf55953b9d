"""The recipe for real recordings, from frames to a defect in millimetres; interrupted and gone on with."""

import dataclasses

import numpy as np
import pytest

from nefty import Boundary, Grid, InputError, Sequence, TopHatPulse, UniformFlash, reconstruct, simulate_explicit
from nefty.core.errors import NeftyError
from nefty.core.stopping import FINISHED, StopReason
from nefty.data.facts import Facts, Heating, Units
from nefty.inversion.recipe import limited, load_recipe
from nefty.inversion.reconstruct import Watch
from nefty.physics.materials import Material
from support.known_facts import alike

ALPHA, FRONT, BACK = 1.3e-7, 5e-6, 8e-6
GRID = Grid((16, 24, 24), (3e-3, 36e-3, 36e-3))
ROWS, COLUMNS, TOP = slice(8, 15), slice(10, 17), 6  # pixels of 1.5 mm; an insulator from 1.125 mm on
NOISE = 0.01
GUESSED = Material(name="guessed", alpha_z=1.15 * ALPHA, alpha_y=1.15 * ALPHA, alpha_x=1.15 * ALPHA)
REAL = load_recipe("real", {"model.layers": 8})
SHORT = limited(load_recipe(REAL, {"model.layers": 5}), 2 * len(REAL.stages))  # about two iterations each


class Killed(BaseException):
    """As sudden as a kill."""


def killed_after(iterations):
    def progress(stage, done, total, misfit):
        if done == iterations:
            raise Killed

    return Watch(progress=progress)


@pytest.fixture(scope="module")
def gain():
    gain = 1 + 0.03 * np.random.default_rng(1).standard_normal(GRID.shape[1:])
    return gain / np.median(gain)


@pytest.fixture(scope="module")
def recording(gain):
    """By the independent simulator, seen at its surface; losses and diffusivity are not those it says."""
    alpha = np.full(GRID.shape, ALPHA)
    alpha[TOP:, ROWS, COLUMNS] = 0.02 * ALPHA
    times = np.geomspace(0.6, 60, 36)
    pulse, lossy = TopHatPulse(amplitude=1.5, duration=5e-3), {"front": "robin", "back": "robin"}
    boundary = Boundary("adiabatic", **lossy, h_front=FRONT, h_back=BACK)
    frames = gain * simulate_explicit(GRID, alpha, times, pulse, boundary, observe="surface", safety=1.5)
    return Sequence(
        frames + NOISE * np.random.default_rng(2).standard_normal(frames.shape),
        times,
        size=GRID.size,
        excitation=TopHatPulse(duration=5e-3),
        boundary=dataclasses.replace(boundary, h_front=1.5 * FRONT, h_back=1.5 * BACK),
        noise=NOISE,
        facts=Facts(units=Units(length="m", time="s", temperature="K"), material=GUESSED),
    )


@pytest.fixture(scope="module")
def small(recording):
    """What lies around the defect, in every second frame."""
    near = recording.region((4, 20), (5, 21))
    return dataclasses.replace(near, frames=near.frames[::2], times=near.times[::2])


@pytest.fixture(scope="module")
def found(recording):
    return reconstruct(recording, recipe=limited(REAL, 80))


def test_the_defect_is_found_at_its_place_and_depth(found):
    truth = np.zeros(GRID.shape[1:], dtype=bool)
    truth[ROWS, COLUMNS] = True
    (defect,) = found.defects()
    footprint = found.segmentation().footprint
    assert (footprint & truth).sum() / (footprint | truth).sum() > 0.6
    _, y, x = defect.centre
    assert (y, x) == pytest.approx((11.5 * 1.5e-3, 13.5 * 1.5e-3), abs=0.75e-3)
    assert defect.depth_to_top == pytest.approx(1.125e-3, rel=0.2)
    assert found.verdict().level in ("explained", "partly")


def test_the_part_is_calibrated(found, gain):
    known = {row.name: row for row in found.facts.calibration}
    bulk = known["diffusivity through the thickness"]
    assert bulk.value == pytest.approx(ALPHA, rel=0.05)
    assert bulk.start == 1.15 * ALPHA
    front, back = (known[f"heat loss of the {face} face over rho c"] for face in ("front", "back"))
    assert back.start == 1.5 * BACK
    assert front.value + back.value == pytest.approx(FRONT + BACK, rel=0.2)
    assert known["heating"].value == pytest.approx(1.5, rel=0.05)
    assert np.std(found.facts.gain - gain) < 0.01
    np.testing.assert_allclose(found.background, bulk.value)
    assert found.bulk == pytest.approx(bulk.value)


def test_what_the_result_says_of_its_frames(found, recording):
    kept = np.isin(recording.times, found.times)
    here = np.isfinite(found.measured)
    np.testing.assert_allclose(found.measured[here], recording.frames[kept][here])
    assert here[:, 0, 0].all()  # far from the defect
    assert found.noise.shape == found.times.shape
    assert 0.7 < found.misfit < 2
    assert found.recipe["rule"] == REAL.rule
    assert found.facts.heating == Heating("TopHatPulse", 5e-3)


def assert_same(one, other):
    for name in ("alpha", "fitted", "background", "noise"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert alike(one.facts, other.facts)
    assert one.stopped == other.stopped == FINISHED
    np.testing.assert_array_equal(one.history["objective"], other.history["objective"])


@pytest.fixture(scope="module")
def whole(small):
    return reconstruct(small, recipe=SHORT)


def test_a_run_without_time_goes_on_to_the_same_result(small, whole, tmp_path):
    first = reconstruct(small, recipe=SHORT, run=tmp_path, overrides={"stop.seconds": 1e-6})
    assert first.stopped.reason is StopReason.OUT_OF_TIME
    assert len(first.history["stage"]) == 1
    assert_same(reconstruct(small, recipe=SHORT, run=tmp_path), whole)


@pytest.mark.parametrize("when", [3, 4])
def test_a_killed_run_goes_on_from_the_start_of_its_stage(small, whole, tmp_path, when):
    """The calibration of the stage before and what was known of voids are in the checkpoint."""
    with pytest.raises(Killed):
        reconstruct(small, recipe=SHORT, run=tmp_path, watch=killed_after(when))
    assert (tmp_path / "checkpoint.h5").exists()
    assert_same(reconstruct(small, recipe=SHORT, run=tmp_path), whole)


def test_time_may_run_out_in_a_later_stage(small, whole, tmp_path):
    """Stopped within a stage, after the part was calibrated again."""
    calls, first = [], SHORT.stages[0].iterations

    def slow(stage, done, total, misfit):
        calls.append(stage)

    with pytest.raises(Killed):
        reconstruct(small, recipe=SHORT, run=tmp_path, watch=killed_after(first + 1))
    stopped = reconstruct(small, recipe=SHORT, run=tmp_path, overrides={"stop.seconds": 1e-6})
    assert len(stopped.history["stage"]) == first  # nothing more was done
    assert_same(reconstruct(small, recipe=SHORT, run=tmp_path, watch=Watch(progress=slow)), whole)
    assert len(calls) == sum(stage.iterations for stage in SHORT.stages) - first


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"excitation": UniformFlash(1.0, 1e-4)}, r"even pulse heated.*TopHatPulse\(duration=\.\.\.\), or use .* fast"),
        ({"excitation": TopHatPulse(duration=5e-3, profile=np.ones((16, 16)))}, "calibrates parts that an even pulse"),
        ({"excitation": TopHatPulse(duration=50.0)}, "only 1 frames come after the pulse, which ends at 50"),
        ({"observe": "back"}, "needs frames of the heated face"),
        ({"facts": Facts()}, "the material of the part is not known; give --material or --alpha"),
        ({"size": (3e-4, 24e-3, 24e-3)}, "frames lie between .*check thickness, diffusivity and frame rate"),
    ],
)
def test_recordings_that_do_not_fit_are_refused(small, changes, message):
    with pytest.raises((InputError, NeftyError), match=message):
        reconstruct(dataclasses.replace(small, **changes), recipe=SHORT)


def test_the_diffusivity_may_be_given_in_the_recipe(small, whole):
    blind = dataclasses.replace(small, facts=Facts())
    again = reconstruct(blind, recipe=SHORT, overrides={"calibration.start": 1.15 * ALPHA})
    np.testing.assert_array_equal(again.alpha, whole.alpha)
