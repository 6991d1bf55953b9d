"""The course of the heating as a user gives it: a table in a file, an array, a curve."""

import numpy as np
import pytest

import nefty
from nefty.core.errors import InputError
from nefty.data.intake.heating_file import heating_of, read_heating
from nefty.data.intake.intake import take_in
from nefty.data.intake.known import Known
from nefty.physics.heating_curve import HeatingCurve
from support.flash_recordings import Camera

FACTS = {"thickness": "2 mm", "pixel": "0.5 mm", "material": "pvc", "fps": 10.0, "bin": "off", "units": "K"}


@pytest.mark.parametrize(
    "text",
    [
        "0,1\n0.5,2\n1,0\n",
        "time (s),lamp (V)\n0,1\n0.5,2\n1,0\n",
        "t;v\n0;1\n0,5;2,0\n\n# the end\n1;0\n",
        "\ufeff0 1\n0.5 2\n1 0",
        "0\t1\r\n0,5\t2\r\n1\t0\r\n",
    ],
)
def test_a_table_is_read_with_any_mark_and_heading(tmp_path, text):
    path = tmp_path / "curve.csv"
    path.write_bytes(text.encode())
    curve = read_heating(path)
    assert (curve.times, curve.values) == ((0.0, 0.5, 1.0), (1.0, 2.0, 0.0))
    assert heating_of(str(path), "heating").times == curve.times


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n2,1\n1,1\n", r"line 3: time 1 s does not come after 2 s; sort"),
        ("t,v\n0,1\n1,-2\n", r"line 3: value -2 is negative; subtract"),
        ("0,1\n1,nan\n", r"line 2: it holds NaN.*leave the line out"),
        ("0,0\n1,0\n", r"is 0 everywhere"),
        ("-1,0\n1,0\n", r"line 1: time -1 s lies before the start"),
        ("0,1\n1,2,3\n", r"line 2: '1,2,3' is not two numbers"),
        ("t,v\n0,1\n", r"holds 1 points"),
        ("", r"holds 0 points"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_remedy(tmp_path, text, message):
    path = tmp_path / "curve.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_heating(path)


def test_what_is_no_curve_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        heating_of(tmp_path / "none.csv", "--heating")
    with pytest.raises(InputError, match=r"--heating must be a \.csv file"):
        heating_of([1, 2, 3], "--heating")
    assert heating_of([[0, 1], [1, 1]], "heating").duration == 1
    curve = HeatingCurve.step(3.0)
    assert heating_of(curve, "heating") is curve


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("camera") / "plate.npy"
    np.save(path, Camera(shape=(80, 12, 16), echo=330).frames())
    return path


def test_frames_within_the_heating_stay_and_the_curve_is_saved(file, tmp_path):
    lasting = HeatingCurve.lock_in(0.5, 3)
    taken = take_in(file, Known.of({**FACTS, "heating": lasting, "flash_frame": 10}))
    sequence = taken.complete()
    assert sequence.times[0] == pytest.approx(0.1)
    assert (sequence.times <= 6).sum() == 60
    assert "follows a curve of" in next(step for step in taken.steps if step.name == "pulse").text
    for name in ("part.h5", "part.npz", "part.tif"):
        sequence.save(tmp_path / name)
        kept = nefty.read(tmp_path / name).excitation
        assert isinstance(kept, HeatingCurve)
        assert (kept.times, kept.values) == (lasting.times, lasting.values)


def test_a_heating_that_lasts_is_not_looked_for(file):
    taken = take_in(file, Known.of({**FACTS, "heating": HeatingCurve.step(5.0)}))
    assert [fact.name for fact in taken.missing] == ["flash_frame"]
    brief = take_in(file, Known.of({**FACTS, "heating": HeatingCurve.flash_with_tail(0.005, 0.01, 0.3)}))
    assert not brief.missing


def test_pulse_and_heating_do_not_go_together(file):
    with pytest.raises(InputError, match="--pulse and --heating were both given"):
        take_in(file, Known.of({**FACTS, "heating": HeatingCurve.step(5.0), "pulse": "5 ms"}, typed=True))
