"""Words of the user as numbers in SI, with errors that name what he wrote."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.data.intake.known import Known
from nefty.data.intake.values import (
    diffusivity_of,
    facts_given,
    length_of,
    length_of_time,
    mask_given,
    preparation_given,
    region,
)
from nefty.data.sequence import Sequence

ENDS = st.none() | st.integers(-300, 300)
SEQUENCE = Sequence(frames=np.ones((3, 8, 8)), times=np.arange(1.0, 4.0), size=(1e-3, 8e-3, 8e-3))


@given(st.tuples(ENDS, ENDS, ENDS, ENDS))
def test_a_region_is_typed_as_slices_or_given_as_four_numbers(ends):
    top, bottom, left, right = ("" if end is None else str(end) for end in ends)
    assert region(f"{top}:{bottom}, {left}:{right}", "--roi") == ends
    assert region(ends, "roi") == ends
    assert region(list(ends), "roi") == ends


@pytest.mark.parametrize("wrong", ["", "1:2", "1:2,3", "1,2", "a:b,c:d", "1:2,3:4,5:6", "1:2:3,4:5", (1, 2), 3])
def test_what_is_no_region_is_refused(wrong):
    with pytest.raises(InputError, match=r"--roi .* must be rows and columns.*y0:y1,x0:x1"):
        region(wrong, "--roi")


@pytest.mark.parametrize(
    ("of", "typed", "value"),
    [(length_of, "1.3 mm", 1.3e-3), (length_of_time, "20 ms", 0.02), (diffusivity_of, "4.5e-7 m2/s", 4.5e-7)],
)
def test_a_quantity_is_text_with_a_unit_or_a_number_in_si(of, typed, value):
    assert of(typed, "it") == pytest.approx(value)
    assert of(value, "it") == value
    assert of(np.float32(value), "it") == pytest.approx(value)
    for wrong in (True, None, "3", "3 kg", -1.0, np.nan):
        with pytest.raises(InputError, match="it"):
            of(wrong, "it")


def test_only_what_was_said_reaches_the_reader():
    assert facts_given(Known()) == {}
    said = Known(fps=50, pixel="0.2 mm,0.3 mm", calibration="0.005,250", material="pvc", typed=True)
    assert facts_given(said) == {"fps": 50, "pixel": pytest.approx([2e-4, 3e-4]), "calibration": (0.005, 250.0)}
    assert mask_given(Known()) is None


def test_the_preparation_gets_what_was_said_and_else_the_defaults():
    plain = preparation_given(Known(), SEQUENCE)
    assert plain.frames != "off"
    assert preparation_given(Known(), SEQUENCE, {"frames": "off"}).frames == "off"
    cut = (1, None, None, 5)
    typed = Known(flash_frame=3, ambient="295.5", saturation="auto", roi="1:,:5", corrupt="4,7", bin="3")
    same = Known(flash_frame=3, ambient=295.5, saturation="auto", roi=cut, corrupt=[4, 7], bin=3)
    found = preparation_given(typed, SEQUENCE, {"frames": "off"})
    assert found == preparation_given(same, SEQUENCE, {"frames": "off"})
    assert (found.flash, found.ambient, found.roi, found.corrupt, found.bin) == (3, 295.5, cut, (4, 7), 3)
    fine = preparation_given(Known(bin="2 mm", frames="40"), SEQUENCE)
    assert (fine.bin, fine.pixel, fine.frames) == ("off", pytest.approx(2e-3), 40)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"frames": "many"}, "--frames 'many' must be a whole number of at least 1"),
        ({"frames": 2.5}, "--frames 2.5 must be a whole number"),
        ({"flash_frame": -1}, "--flash-frame -1 must be a whole number of at least 0"),
        ({"ambient": "warm"}, "--ambient 'warm' must be a number in the values' unit, or auto, frames, pixels, off"),
        ({"saturation": "full"}, "--saturation 'full' must be a number"),
        ({"corrupt": "3,x"}, "--corrupt 'x' must be a whole number"),
        ({"bin": "0"}, "--bin '0' must be a whole number of at least 1"),
        ({"bin": "2 s"}, "--bin"),
        ({"gain": "late"}, "gain"),
    ],
)
def test_a_step_that_cannot_be_is_named_as_it_was_typed(said, message):
    with pytest.raises(InputError, match=message):
        preparation_given(Known(**said, typed=True), SEQUENCE)


def test_a_calibration_has_two_numbers():
    for wrong in ("3", "a,b", (1.0,), 7):
        with pytest.raises(InputError, match=r"calibration .* must be slope,offset, 2 numbers"):
            facts_given(Known(calibration=wrong))  # pyright: ignore[reportArgumentType]
