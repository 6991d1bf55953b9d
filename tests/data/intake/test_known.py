"""What the user knows, by name."""

from dataclasses import fields

import pytest

from nefty.cli.recording_options import RecordingOptions
from nefty.core.errors import InputError
from nefty.core.terminal_text import option_of
from nefty.data.intake.known import Known


def test_what_was_not_said_is_not_given():
    assert Known().given() == {}
    assert Known(no_losses=True, flash_frame=0, fps=0.0).given() == {"no_losses": True, "flash_frame": 0, "fps": 0.0}


def test_errors_name_a_fact_as_the_user_spells_it():
    assert Known(typed=True).named("flash_frame") == option_of("flash_frame") == "--flash-frame"
    assert Known().named("flash_frame") == "flash_frame"


def test_names_that_are_not_known_get_the_nearest_one():
    with pytest.raises(InputError, match="Did you mean 'pixel'"):
        Known.of({"pixl": 1})
    with pytest.raises(InputError, match="the fact='typed' is unknown"):
        Known.of({"typed": True})


def test_every_option_of_the_command_line_is_a_fact_of_the_library():
    options = {f.name for f in fields(RecordingOptions)}
    assert {f.name for f in fields(Known)} - options == {"times", "typed", "sources"}
    typed = RecordingOptions(thickness="2 mm", no_losses=True, flash_frame=0).known()
    assert typed.given() == {"thickness": "2 mm", "no_losses": True, "flash_frame": 0}
    assert typed.typed
