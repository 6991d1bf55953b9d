"""``nefty.load``: what the command line begins with, in one call."""

import numpy as np
import pytest

import nefty
from nefty.core.errors import InputError
from nefty.data.intake.intake import take_in
from nefty.data.intake.known import Known
from nefty.data.intake.load import load
from nefty.physics.materials import material
from support.flash_recordings import Camera
from support.known_facts import same_recording

TYPED = {"thickness": "2 mm", "pixel": "0.5 mm", "material": "pvc", "fps": 10.0, "bin": "2", "ambient": "295"}
IN_SI = {"thickness": 2e-3, "pixel": (5e-4, 5e-4), "material": material("pvc"), "fps": 10, "bin": 2, "ambient": 295}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("camera") / "plate.npy"
    np.save(path, Camera(shape=(80, 12, 16), echo=330).frames())
    return path


def test_it_is_what_the_command_line_begins_with(file):
    typed = take_in(file, Known.of({**TYPED, "units": "K"}, typed=True)).complete()
    assert same_recording(load(str(file), **TYPED, units="K"), typed)
    assert nefty.load is load


def test_numbers_are_in_si_and_text_has_a_unit(file):
    assert same_recording(load(file, **IN_SI), load(file, **TYPED))


def test_a_fact_that_is_misspelt_gets_the_nearest_name(file):
    with pytest.raises(InputError, match=r"the fact='thicknes' is unknown.*Did you mean 'thickness'"):
        load(file, thicknes="2 mm")
