"""Options that several verbs share, written once."""

import pytest
import typer
from typer.testing import CliRunner

from nefty.cli.recording_options import RecordingOptions, takes_recording_options


def test_a_command_gets_its_own_values_and_the_shared_ones():
    seen = {}

    @takes_recording_options
    def run(name: str, times: int = 2, *, options: RecordingOptions) -> None:
        """Words."""
        seen.update(name=name, times=times, options=options)

    app = typer.Typer()
    app.command()(run)
    words = ["--pixel", "0.2 mm", "--no-losses", "--flash-frame", "7", "--fps", "12.5", "--roi", "-5:,:"]
    result = CliRunner().invoke(app, ["plate", "--times", "3", *words])
    assert result.exit_code == 0, result.output
    assert (seen["name"], seen["times"]) == ("plate", 3)
    assert seen["options"] == RecordingOptions(pixel="0.2 mm", no_losses=True, flash_frame=7, fps=12.5, roi="-5:,:")
    assert CliRunner().invoke(app, ["plate", *seen["options"].words()]).exit_code == 0
    assert seen["options"].fps == 12.5
    assert "options" not in CliRunner().invoke(app, ["--help"]).output.lower().replace("[options]", "").replace(
        "options:", ""
    ).replace("options ─", "")


def test_what_was_given_can_be_typed_again():
    given = RecordingOptions(thickness="1.3 mm", frames="off", no_losses=True, fps=10.0, flash_frame=0)
    assert given.given() == {"thickness": "1.3 mm", "no_losses": True, "fps": 10.0, "flash_frame": 0, "frames": "off"}
    assert given.words() == [
        *("--thickness", "1.3 mm", "--no-losses", "--fps", "10"),
        *("--flash-frame", "0", "--frames", "off"),
    ]
    assert RecordingOptions().words() == []


@pytest.mark.parametrize("rate", [131.2575, 1 / 3, 1e6, 50.0, 0.1])
def test_what_was_given_is_typed_again_to_the_last_digit(rate):
    option, value = RecordingOptions(fps=rate).words()
    assert (option, float(value)) == ("--fps", rate)
