"""Quantities with units: what people write, what is refused, and the way back."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.core.units import KINDS, SAME, quantity, written

UNITS = [(kind, unit) for kind, entry in KINDS.items() for unit in entry.units]


@pytest.mark.parametrize(
    ("text", "kind", "si"),
    [
        ("1.3 mm", "length", 0.0013),
        ("0.2mm", "length", 0.0002),
        ("  90 um ", "length", 9e-5),
        ("90 µm", "length", 9e-5),  # the micro sign
        ("90 μm", "length", 9e-5),  # the Greek letter
        ("0.5 in", "length", 0.0127),
        ("1e3 nm", "length", 1e-6),
        ("+.5 cm", "length", 0.005),
        ("4.5e-7 m2/s", "diffusivity", 4.5e-7),
        ("0.45 mm²/s", "diffusivity", 4.5e-7),
        ("0.45 mm^2/s", "diffusivity", 4.5e-7),
        ("0.45 mm**2 s^-1", "diffusivity", 4.5e-7),
        ("0.45 mm² s⁻¹", "diffusivity", 4.5e-7),
        ("10 Hz", "frequency", 10.0),
        ("50 fps", "frequency", 50.0),
        ("50 1/s", "frequency", 50.0),
        ("50/s", "frequency", 50.0),
        ("20 ms", "time", 0.02),
        ("3 min", "time", 180.0),
        ("5 W/m2K", "heat-transfer coefficient", 5.0),
        ("5 W/(m² K)", "heat-transfer coefficient", 5.0),
        ("5 W/(m^2·K)", "heat-transfer coefficient", 5.0),
        ("5 W/m2/K", "heat-transfer coefficient", 5.0),
        ("5 W m-2 K-1", "heat-transfer coefficient", 5.0),
        ("30 °C", "temperature", 303.15),
        ("30C", "temperature", 303.15),
        ("−40 °F", "temperature", 233.15),  # a typeset minus
        ("295 K", "temperature", 295.0),
        ("20 mK", "temperature difference", 0.02),
        ("9 °F", "temperature difference", 5.0),
        ("2 °C", "temperature difference", 2.0),
        ("1.6 g/cm3", "density", 1600.0),
        ("0.16 W/(m K)", "conductivity", 0.16),
        ("1.2 kJ/(kg K)", "specific heat", 1200.0),
    ],
)
def test_what_people_write(text, kind, si):
    assert quantity(text, kind) == si  # decimals are converted as decimals, so to the last digit


@given(st.sampled_from(UNITS), st.floats(1e-9, 1e9), st.sampled_from(["", " ", "  "]))
def test_a_written_value_is_read_back(of, value, space):
    kind, unit = of
    text = written(value, kind, unit).replace(" ", space)
    near = 1e-9 if KINDS[kind].offsets else 1e-12  # a difference of large numbers
    assert quantity(text, kind) == pytest.approx(value, rel=near, abs=1e-12 if KINDS[kind].offsets else 0)


@given(st.floats(1e-12, 1e12))
def test_a_unit_scales(value):
    assert quantity(f"{value!r} mm", "length") == pytest.approx(value / 1000, rel=1e-14)
    assert quantity(f"{value!r} kHz", "frequency") == pytest.approx(value * 1000, rel=1e-14)


@given(st.text(max_size=12), st.sampled_from(list(KINDS)))
def test_any_text_is_read_or_refused_with_a_message(text, kind):
    message, value = "", math.nan
    try:
        value = quantity(text, kind)
    except InputError as error:
        message = str(error)
    assert repr(text) in message or math.isfinite(value)


@given(st.sampled_from(UNITS), st.sampled_from(list(KINDS)))
def test_a_unit_of_another_kind_is_never_taken(of, kind):
    unit = of[1]
    if unit in KINDS[kind].units:
        quantity(f"300 {unit}", kind)
    else:
        with pytest.raises(InputError, match="expected"):
            quantity(f"300 {unit}", kind)


def test_the_first_unit_is_the_one_of_si():
    for kind, entry in KINDS.items():
        assert quantity(f"300 {next(iter(entry.units))}", kind) == 300
        quantity(entry.example, kind)


def test_other_spellings_lead_to_units_and_are_none_themselves():
    known = {unit for _, unit in UNITS}
    assert set(SAME.values()) <= known
    assert not set(SAME) & known


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("1.3", "length", r"thickness='1.3' has no unit; write a length such as '1.3 mm', in m, cm, mm"),
        (1.3, "length", r"thickness=1.3 has no unit; write a length"),
        (np.float64(1.3), "length", "has no unit"),
        ("1e-3", "length", "has no unit"),
        (None, "length", "thickness=None is not a text"),
        (True, "length", "thickness=True is not a text"),
        ("10 Hz", "length", r"thickness='10 Hz' is a frequency; expected a length in m, cm, .*such as '1.3 mm'"),
        ("1.3 mm", "diffusivity", "is a length; expected a diffusivity in m2/s"),
        ("4 W/mK", "heat-transfer coefficient", "is a conductivity; expected a heat-transfer coefficient"),
        ("1.3 mmm", "length", r"unknown unit 'mmm'.*Did you mean 'mm'\?"),
        ("1.3 MM", "length", r"unknown unit 'MM'.*Did you mean 'mm'\?"),
        ("10 hz", "frequency", r"Did you mean 'Hz'\?"),
        ("1 m2/sec", "diffusivity", r"Did you mean 'm2/s'\?"),
        ("3 parsec", "temperature", "unknown unit 'parsec'; expected a temperature in K, °C, °F.$"),
        ("1,3 mm", "length", "write a decimal point"),
        ("1.3.4 mm", "length", "unknown unit '.4mm'"),
        ("1.3.4", "length", "is not a number"),
        ("mm", "length", "does not start with a number"),
        ("", "length", "does not start with a number"),
        ("nan mm", "length", "does not start with a number"),
        ("1e999 mm", "length", "too large"),
        ("-300 °C", "temperature", "below absolute zero"),
    ],
)
def test_what_is_refused(text, kind, message):
    with pytest.raises(InputError, match=message):
        quantity(text, kind, "thickness")


def test_bounds_are_in_si():
    assert quantity("1.3 mm", "length", above=0) == 0.0013
    with pytest.raises(InputError, match=r"thickness=-0\.0013 must be above 0"):
        quantity("-1.3 mm", "length", "thickness", above=0)
    with pytest.raises(InputError, match="must be at least 1"):
        quantity("1.3 mm", "length", at_least=1)


def test_unknown_kinds_and_units_to_write_in():
    with pytest.raises(InputError, match=r"kind='lenght'.*Did you mean 'length'\?"):
        quantity("1 mm", "lenght")
    with pytest.raises(InputError, match="unit='Hz' is a frequency; expected a length"):
        written(1.0, "length", "Hz")
    assert written(0.0013, "length", "mm") == "1.3 mm"
    assert written(303.15, "temperature", "degC") == "30.0 °C"
