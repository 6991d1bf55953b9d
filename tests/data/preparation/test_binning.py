"""Larger pixels."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.data.facts import Facts, KnownDefects, Units, Window
from nefty.data.preparation.binning import WHOLE, binned, choose_bin, pixels_step
from nefty.data.sequence import Sequence
from nefty.physics.pulses import TopHatPulse
from support.known_facts import defects_of


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 6))
def test_means_keep_the_mean(n, y, x):
    frame = np.random.default_rng(n).standard_normal((n * y, n * x))
    small = binned(frame, n)
    assert small.shape == (y, x)
    assert small.mean() == pytest.approx(frame.mean())
    assert small[0, 0] == pytest.approx(frame[:n, :n].mean())


def test_missing_values_do_not_count_unless_they_are_half():
    frame = np.arange(16.0).reshape(4, 4)
    frame[0, 0] = np.nan
    frame[2, 2] = frame[3, 3] = np.nan
    small = binned(frame, 2)
    assert small[0, 0] == pytest.approx((1 + 4 + 5) / 3)
    assert np.isnan(small[1, 1])
    assert small[0, 1] == pytest.approx((2 + 3 + 6 + 7) / 4)


@pytest.mark.parametrize(
    ("shape", "n"), [((100, 100), 1), ((256, 320), 2), ((512, 640), 4), ((1024, 1280), 8), ((8, 8), 1)]
)
def test_the_automatic_choice_leaves_about_128_by_128(shape, n):
    assert choose_bin("auto", shape, None, None) == n
    assert shape[0] * shape[1] / n**2 <= 160 * 128


@pytest.mark.parametrize("shape", [(1, 30_000), (2, 100_000)])
def test_the_automatic_choice_leaves_a_line_of_pixels_its_rows(shape):
    assert choose_bin("auto", shape, None, None) == shape[0]


def test_to_a_pixel_size():
    assert choose_bin("auto", (100, 100), 0.2e-3, 0.6e-3) == 3
    assert choose_bin("off", (100, 100), 0.2e-3, 0.1e-3) == 1
    with pytest.raises(InputError, match="is not known"):
        choose_bin("off", (100, 100), None, 0.6e-3)
    with pytest.raises(InputError, match="bin=11 is larger than the frames of 10 x 30"):
        choose_bin(11, (10, 30), None, None)


def test_all_that_goes_by_pixel_follows(rng):
    profile = rng.random((12, 10))
    sequence = Sequence(
        frames=rng.random((5, 12, 10)),
        times=np.arange(1.0, 6),
        size=(1.0, 12.0, 10.0),
        excitation=TopHatPulse(profile=profile),
        mask=np.arange(120).reshape(12, 10) >= 10,
        facts=Facts(defects=KnownDefects(mask=np.arange(120).reshape(12, 10) >= 60), pixel=(1.0, 1.0)),
    )
    rest, n, region, said = pixels_step(sequence, (0, 11, 2, 10), 2, None)
    assert (n, region) == (2, (0, 10, 2, 10))
    assert rest.facts.window == Window(top=0, left=2, bin=2)
    assert rest.size == (1.0, 10.0, 8.0)
    assert rest.shape[1:] == (5, 4)
    assert isinstance(rest.excitation, TopHatPulse)
    np.testing.assert_allclose(np.asarray(rest.excitation.profile), binned(profile[:10, 2:], 2))
    assert rest.mask is not None
    assert not rest.mask[0].any()
    assert rest.mask[1:].all()
    known = defects_of(rest).mask
    assert known is not None
    assert known.shape == (5, 4)
    assert not known[:3].any()
    assert known[3:].all()
    assert rest.facts.pixel == (2.0, 2.0)
    assert "1 row and 0 columns" in said.text


def test_a_truth_that_the_region_cuts_is_left_out_and_said(rng):
    sequence = Sequence(
        frames=rng.random((2, 8, 8)), times=np.array([1.0, 2.0]), size=(1.0, 8.0, 8.0), truth=np.ones((3, 4, 4))
    )
    rest, *_, said = pixels_step(sequence, (1, 7, 1, 7), "off", None)
    assert rest.truth is None
    assert "truth" in said.text
    kept, *_ = pixels_step(sequence, (2, 8, 0, 6), "off", None)
    assert kept.truth is not None
    assert kept.truth.shape == (3, 3, 3)
    coarse = Facts(defects=KnownDefects(mask=np.ones((4, 4), bool)))
    with pytest.raises(InputError, match="a cell of the mask of known defects"):
        pixels_step(dataclasses.replace(sequence, truth=None, facts=coarse), (1, 7, 1, 7), "off", None)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_joining_says_which_size_of_defect_it_costs_and_why(rng, n):
    frames, times = rng.random((2, 24, 24)), np.array([1.0, 2.0])
    in_metres = Facts(units=Units(length="m"))
    sequence = Sequence(frames=frames, times=times, size=(3e-3, 24 * 0.3e-3, 24 * 0.2e-3), facts=in_metres)
    *_, said = pixels_step(sequence, (0, 24, 0, 24), n, None)
    assert f"{n} x {n} pixels of the camera are joined to one cell of {0.3 * n:.3g} mm" in said.text
    assert f"smaller than about {0.6 * n:.3g} mm (2 cells) may be missed" in said.text
    assert "--region N" in said.text
    *_, said = pixels_step(dataclasses.replace(sequence, size=None), (0, 24, 0, 24), n, None)
    assert f"smaller than {2 * n} pixels of the camera (2 cells)" in said.text
    *_, said = pixels_step(sequence, (0, 24, 0, 24), 1, None)
    assert "missed" not in said.text


def test_two_cells_are_the_least_width_that_fills_one_wherever_it_lies():
    left = np.arange(8.0)

    def fullest(width, shift):
        return np.clip(np.minimum(left + 1, 2 + shift + width) - np.maximum(left, 2 + shift), 0, 1).max()

    shifts = np.linspace(0, 1, 21)
    assert min(fullest(WHOLE, shift) for shift in shifts) == pytest.approx(1)
    assert min(fullest(WHOLE - 0.2, shift) for shift in shifts) < 0.95
