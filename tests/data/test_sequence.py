"""A recording: what is accepted, what is refused and why, and what its methods give."""

import dataclasses

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import CameraFacts, Facts, KnownDefects, Note, NoteKind, Units, Window
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.materials import material
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from support.known_facts import alike, defects_of
from support.notes import texts


def recording(**changes) -> Sequence:
    frames = np.random.default_rng(1).random((5, 8, 12))
    values = {"frames": frames, "times": np.arange(1.0, 6.0), "size": (1.0, 4.0, 6.0), **changes}
    return Sequence(**values)


def test_arrays_alone_are_enough():
    sequence = Sequence(frames=np.ones((3, 4, 5)), times=[0.1, 0.2, 0.3])  # pyright: ignore[reportArgumentType]
    assert sequence.shape == (3, 4, 5)
    assert sequence.times.dtype == np.float64
    assert sequence.weights().all()
    assert alike(sequence.facts, Facts())
    assert repr(sequence) == "Sequence(3 frames of 4 x 5 pixels, t = 0.1..0.3, size=None, observe='front')"


@pytest.mark.parametrize(
    ("given", "kept"),
    [("f4", "f4"), ("f8", "f8"), ("f2", "f4"), ("u1", "f4"), ("u2", "f4"), ("i4", "f8"), (">f4", "f4"), ("i8", "f8")],
)
def test_numbers_are_kept_exactly(given, kept):
    frames = np.arange(60).reshape(3, 4, 5).astype(given)
    sequence = recording(frames=frames, times=[1, 2, 3])
    assert sequence.frames.dtype == np.dtype(kept)
    assert (sequence.frames == frames).all()
    assert sequence.frames.flags.c_contiguous


def with_value(value, *where):
    frames = np.ones((5, 8, 12))
    frames[where] = value
    return frames


DIAGONAL = np.nonzero(np.eye(8, 12))
DEPTHS = np.random.default_rng(6).random((8, 12))
TWO = np.ones((2, 5, 8, 12))
HALF = np.stack([np.ones((5, 8, 12)), np.full((5, 8, 12), np.nan)])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"frames": np.ones((5, 8))}, r"frames have shape \(5, 8\); observe=\"front\" needs \(t, y, x\)\.$"),
        ({"frames": TWO}, r'needs \(t, y, x\)\. Set observe="both"'),
        ({"observe": "both"}, r"needs \(2, t, y, x\), the front first"),
        ({"observe": "both", "frames": np.ones((3, 5, 8, 12))}, r"\(3, 5, 8, 12\).*\(2, t, y, x\)"),
        ({"frames": np.ones((0, 8, 12)), "times": []}, "nothing in them"),
        ({"frames": np.ones((5, 8, 12), complex)}, "frames hold complex128; they must be real numbers"),
        ({"frames": np.full((5, 8, 12), None)}, "frames hold object"),
        ({"frames": np.ones((5, 8, 12), bool)}, "frames hold bool"),
        ({"frames": [[1, 2], [3]]}, "frames must be an array of numbers"),
        ({"frames": "plate"}, "frames hold <U5"),
        ({"frames": with_value(np.inf, 2, 3, 4)}, r"frames\[2, 3, 4\]=inf is infinite \(the first of 1\); mark .* NaN"),
        ({"frames": with_value(np.nan, slice(None))}, "no number at all, only NaN"),
        ({"frames": HALF, "observe": "both"}, r'the back hold no number at all; .*observe="front"'),
        ({"times": [1, 2, 3]}, r"times have shape \(3,\), the recording 5 frames"),
        ({"times": np.ones((5, 1))}, r"times have shape \(5, 1\)"),
        ({"times": [1, 2, np.nan, 4, 5]}, r"times\[2\]=nan is not finite"),
        ({"times": [1, 2, 2, 4, 5]}, r"times\[1\]=2 is followed by times\[2\]=2; sort"),
        ({"times": [5, 4, 3, 2, 1]}, "times must increase"),
        ({"times": ["a"] * 5}, "times hold <U1"),
        ({"size": (1.0, 4.0, 0.0)}, "size along x=0 must be above 0"),
        ({"size": (-1.0, 4.0, 6.0)}, "size along z=-1"),
        ({"size": (1.0, np.nan, 6.0)}, "size along y=nan is not finite"),
        ({"size": (1.0, 4.0)}, r"size=\(1.0, 4.0\) must be three lengths"),
        ({"size": 3}, "size=3 must be three lengths"),
        ({"mask": np.ones((8, 11), bool)}, r"the mask has shape \(8, 11\), a frame \(8, 12\)"),
        ({"mask": np.ones((8, 12))}, r"the mask holds float64; .*mask > 0"),
        ({"mask": np.full((8, 12), 255, np.uint8)}, "the mask holds uint8"),
        ({"mask": np.zeros((8, 12), bool)}, "false everywhere"),
        (
            {"mask": np.eye(8, 12) > 0, "frames": np.where(np.eye(8, 12), np.nan, np.ones((5, 8, 12)))},
            "only NaN where the m",
        ),
        ({"truth": np.ones((8, 12))}, r"truth has shape \(8, 12\); it must be \(z, y, x\)"),
        ({"truth": np.ones((4, 8, 8))}, r"truth has shape \(4, 8, 8\) .*another ratio"),
        ({"truth": np.full((4, 8, 12), np.nan)}, r"truth\[0, 0, 0\]=nan"),
        ({"truth": np.zeros((4, 8, 12))}, r"truth\[0, 0, 0\]=0 must be above 0"),
        ({"observe": "frnt"}, "Did you mean 'front'"),
        ({"face_mean": "harmonik"}, "Did you mean 'harmonic'"),
        ({"noise": -0.1}, "noise=-0.1 must be at least 0"),
        ({"noise": np.nan}, "noise=nan is not finite"),
        ({"noise": "low"}, "noise must be a number"),
        ({"noise": np.ones(4)}, r"noise has shape \(4,\); give one number, or one for each of the 5 frames"),
        ({"noise": np.ones((5, 8, 12))}, r"noise has shape \(5, 8, 12\)"),
        ({"noise": [1, 1, -1, 1, 1]}, "noise of -1 to 1 must be finite and at least 0"),
        ({"noise": [1, 1, np.nan, 1, 1]}, "must be finite and at least 0"),
        ({"noise": ["a"] * 5}, "noise hold .* must be real numbers"),
        ({"boundary": "periodic"}, r"boundary='periodic' must be a nefty.Boundary"),
        ({"anisotropy": (1.0, 0.0)}, "anisotropy along x"),
        ({"excitation": "flash"}, "excitation='flash' must be a GaussianFlash"),
        ({"excitation": 3.0}, "excitation=3.0 must be"),
        ({"excitation": np.ones((8, 12))}, r"excitation has shape \(8, 12\)"),
        ({"excitation": with_value(np.nan, 0, 0, 1)}, r"excitation\[0, 0, 1\]=nan is not finite"),
        ({"excitation": TopHatPulse(profile=np.ones((3, 3)))}, "the pulse's profile has shape"),
        ({"facts": {"camera": "Jade"}}, r"facts=.* must be a nefty\.Facts"),
        ({"facts": Facts(extra={"inspector": object()})}, "extra/inspector=.*cannot be saved"),
        ({"facts": Facts(defects=KnownDefects(mask=np.ones((3, 3), bool)))}, "the mask of known defects has shape"),
        ({"facts": Facts(defects=KnownDefects(depth=np.ones((8, 9))))}, "the depth of known defects has shape"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        recording(**changes)


def test_missing_values_and_a_mask_do_not_count():
    frames = with_value(np.nan, 2, 3, 4)
    mask = np.ones((8, 12), bool)
    mask[0] = False
    weights = recording(frames=frames, mask=mask).weights()
    assert weights.dtype == bool
    assert not weights[2, 3, 4]
    assert weights[1, 3, 4]
    assert not weights[:, 0].any()
    assert np.count_nonzero(weights) == 5 * 7 * 12 - 1
    assert np.count_nonzero(recording().with_mask(mask.astype(int)).weights()) == 5 * 7 * 12
    assert recording(mask=mask).with_mask(None).weights().all()


def test_a_face_may_miss_frames_that_the_other_has():
    frames = TWO.copy()
    frames[1, ::2] = np.nan
    sequence = recording(frames=frames, observe="both", mask=np.eye(8, 12) > 0)
    assert sequence.shape == (5, 8, 12)
    assert sequence.weights().shape == (2, 5, 8, 12)
    assert np.count_nonzero(sequence.weights()) == 8 * (5 + 2)


def test_the_grid_has_a_column_of_cells_under_each_pixel():
    assert recording().grid() == Grid((16, 8, 12), (1.0, 4.0, 6.0))
    assert recording().grid(layers=4).shape == (4, 8, 12)
    assert recording().grid(shape=(3, 4, 6)).shape == (3, 4, 6)
    with pytest.raises(InputError, match=r"size of the part is not known; .*size="):
        recording(size=None).grid()
    with pytest.raises(InputError, match="layers=0"):
        recording().grid(layers=0)


def test_frames_up_to_the_flash_are_left_out_and_that_is_said():
    sequence = recording(times=[-2, -1, 0, 1, 2], facts=Facts(notes=(Note(NoteKind.OTHER, "first"),)))
    late = sequence.after_flash()
    assert late.times.tolist() == [1, 2]
    assert (late.frames == sequence.frames[3:]).all()
    assert texts(late) == ["first", "3 of 5 frames, at or before the flash at t = 0, were left out."]
    assert texts(sequence) == ["first"]
    assert late.after_flash() is late
    both = recording(frames=TWO, times=[-2, -1, 0, 1, 2], observe="both").after_flash()
    assert both.frames.shape == (2, 2, 8, 12)
    with pytest.raises(InputError, match=r"all 5 frames lie at or before the flash at t = 0 \(the last at -1\)"):
        recording(times=[-5, -4, -3, -2, -1]).after_flash()


@pytest.mark.parametrize("rows", [slice(2, 6), (2, 6), (2, -2), slice(-6, -2)])
def test_a_region_is_a_part_of_its_own(rows):
    truth = np.random.default_rng(2).random((3, 16, 24)) + 0.1
    mask = np.random.default_rng(3).random((8, 12)) > 0.3
    over = np.random.default_rng(4).random((8, 12)) > 0.5
    whole = recording(
        truth=truth,
        mask=mask,
        facts=Facts(defects=KnownDefects(mask=over, depth=np.where(over, DEPTHS, np.nan)), gain=1 + DEPTHS),
        boundary=Boundary(front="robin", h_front=0.1),
        noise=0.2,
    )
    cut = whole.region(rows, slice(9, None))
    assert (cut.frames == whole.frames[:, 2:6, 9:]).all()
    assert cut.mask is not None
    assert (cut.mask == mask[2:6, 9:]).all()
    assert cut.truth is not None
    assert (cut.truth == truth[:, 4:12, 18:]).all()
    np.testing.assert_array_equal(defects_of(cut).mask, over[2:6, 9:])
    np.testing.assert_array_equal(defects_of(cut).depth, np.where(over, DEPTHS, np.nan)[2:6, 9:])
    np.testing.assert_array_equal(cut.facts.gain, 1 + DEPTHS[2:6, 9:])
    assert cut.facts.window == Window(top=2, left=9)
    assert cut.size == (1.0, 2.0, 1.5)
    assert cut.boundary == Boundary(lateral="adiabatic", front="robin", h_front=0.1)
    assert cut.noise == 0.2
    assert texts(cut) == ["rows 2 to 6 of 8 and columns 9 to 12 of 12 were cut out."]
    assert whole.region(slice(None), (0, 12)) is whole


@pytest.mark.parametrize("centre", [None, (1.0, 4.5)])
def test_the_flash_over_a_region_is_the_same_one(centre):
    whole = recording(excitation=GaussianFlash(3.0, 2.0, 0.2, centre))
    cut = whole.region((2, 6), (4, 7))
    heat = [s.excitation.shape(s.grid(4)) for s in (whole, cut)]  # pyright: ignore
    assert np.allclose(heat[0][:, 2:6, 4:7], heat[1], rtol=1e-12)


def test_other_excitations_are_cut_or_stay():
    start = np.random.default_rng(5).random((4, 8, 12))
    cut = recording(excitation=start).region((2, 6), (4, 7))
    assert isinstance(cut.excitation, np.ndarray)
    assert (cut.excitation == start[:, 2:6, 4:7]).all()
    pulse = recording(excitation=TopHatPulse(2.0, 0.1, profile=start[0])).region((2, 6), (4, 7)).excitation
    assert isinstance(pulse, TopHatPulse)
    assert pulse.profile is not None
    assert (pulse.profile == start[0, 2:6, 4:7]).all()
    assert recording(excitation=UniformFlash(2.0), size=None).region((2, 6), (4, 7)).excitation == UniformFlash(2.0)


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ((4, 4), (0, 12), "rows 4:4 do not lie within the 8 rows"),
        ((0, 9), (0, 12), "within the 8"),
        ((-9, 3), (0, 12), "within the 8"),
        ((0, 8), (5, 3), "columns"),
        (slice(0, 8, 2), (0, 12), "rows 0:8:2 leaves out pixels"),
        ((0.5, 3), (0, 12), "whole numbers"),
        (3, (0, 12), r"rows=3 must be \(first, one past last\)"),
        (
            (1, 5),
            (0, 12),
            r"rows 1 to 5 of 8 do not begin and end with a cell of truth, which has 4; .* multiple of 2",
        ),
    ],
)
def test_a_region_that_does_not_fit_is_refused(rows, columns, message):
    with pytest.raises(InputError, match=message):
        recording(truth=np.ones((2, 4, 6))).region(rows, columns)


def test_a_gaussian_flash_over_a_part_of_unknown_size_cannot_be_cut():
    with pytest.raises(InputError, match="depends on the part's size"):
        recording(size=None, excitation=GaussianFlash()).region((0, 4), (0, 4))


def test_the_digest_is_of_what_a_reconstruction_depends_on():
    first = recording(mask=np.ones((8, 12), bool), excitation=GaussianFlash())
    assert first.digest() == recording(mask=np.ones((8, 12), bool), excitation=GaussianFlash()).digest()
    shown = Facts(camera=CameraFacts(model="x"), units=Units(temperature="K"), notes=(Note(NoteKind.OTHER, "one"),))
    assert first.digest() == dataclasses.replace(first, truth=np.ones((2, 8, 12)), facts=shown).digest()
    changes = {
        "frames": first.frames + 1e-9,
        "times": first.times * 2,
        "size": (1.0, 4.0, 6.1),
        "excitation": GaussianFlash(amplitude=99.0),
        "boundary": Boundary(lateral="adiabatic"),
        "anisotropy": (1.0, 2.0),
        "face_mean": "min",
        "observe": "back",
        "mask": None,
        "noise": 0.1,
    }
    others = {name: dataclasses.replace(first, **{name: value}).digest() for name, value in changes.items()}
    others["material"] = first.with_facts(Facts(material=material("pvc"))).digest()
    others["metres"] = first.with_facts(Facts(units=Units(length="m"))).digest()
    assert len({first.digest(), *others.values()}) == len(others) + 1


def test_every_frame_may_have_its_own_noise():
    sequence = recording(noise=[5, 4, 3, 2, 1], times=[-2, -1, 0, 1, 2])
    assert isinstance(sequence.noise, np.ndarray)
    assert sequence.noise.dtype == np.float64
    assert sequence.noise.tolist() == [5, 4, 3, 2, 1]
    late = sequence.after_flash()
    assert isinstance(late.noise, np.ndarray)
    assert late.noise.tolist() == [2, 1]
    assert recording(noise=0.5, times=[-2, -1, 0, 1, 2]).after_flash().noise == 0.5
    cut = sequence.region((0, 4), (0, 6))
    assert isinstance(cut.noise, np.ndarray)
    assert cut.noise.tolist() == [5, 4, 3, 2, 1]
    both = recording(frames=TWO, observe="both", noise=np.arange(1, 6))
    assert isinstance(both.noise, np.ndarray)
    assert both.noise.shape == (5,)
    assert sequence.digest() != recording(noise=[5, 4, 3, 2, 2], times=[-2, -1, 0, 1, 2]).digest()


def test_frames_without_a_number_are_left_out_after_the_flash():
    found = recording(frames=with_value(np.nan, [1, 3]), noise=[1.0, 2, 3, 4, 5]).after_flash()
    assert found.times.tolist() == recording().times[[0, 2, 4]].tolist()
    assert np.asarray(found.noise).tolist() == [1, 3, 5]
    assert found.facts.notes[-1].text == "2 of 5 frames, which hold no number, were left out."
    only_before = recording(times=[-1.0, 1, 2, 3, 4], frames=with_value(np.nan, slice(1, None)))
    with pytest.raises(InputError, match="or hold only NaN"):
        only_before.after_flash()
