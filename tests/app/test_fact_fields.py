"""The form's inputs as facts, and back."""

import dataclasses

import pytest

from nefty.app.pages.fact_fields import MAIN, MORE
from nefty.core.errors import InputError
from nefty.data.intake.known import NO_FACTS, Known

FIELDS = {field.name: field for field in (*MAIN, *MORE)}


def test_every_field_is_a_fact_and_a_region_is_drawn_instead():
    names = {field.name for field in dataclasses.fields(Known)}
    assert set(FIELDS) <= names
    rest = {"heating", "times", "lookup", "mask", "roi", "polygon", "leave_out", *NO_FACTS}
    assert names - set(FIELDS) == rest


def test_quantities_have_their_unit_and_come_back():
    field = FIELDS["thickness"]
    assert field.read(" 1.3 ", "mm") == "1.3 mm"
    assert field.parts(Known(thickness="1.3 mm")) == ("1.3", "mm")
    assert field.parts(Known()) == ("", "mm")
    assert FIELDS["pixel"].read("0.2,0.3", "mm") == "0.2 mm,0.3 mm"


def test_numbers_are_numbers_and_nothing_is_none():
    assert FIELDS["fps"].read("131,5") == 131.5
    assert FIELDS["flash_frame"].read("11") == 11
    assert FIELDS["fps"].read("") is None
    for name, text in (("fps", "fast"), ("flash_frame", "1.5")):
        with pytest.raises(InputError, match="must be a"):
            FIELDS[name].read(text)
