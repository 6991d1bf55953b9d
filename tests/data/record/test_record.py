"""The record of an inspection and its file."""

from __future__ import annotations

import numpy as np
import pytest

import nefty
from nefty.core.storage.hdf5 import digest
from nefty.data.deciding import deciding_facts
from nefty.data.facts_file import plain_facts, read_facts
from nefty.data.record.record import InspectionRecord
from nefty.data.record.record_file import find_record, read_record

TEXT = """
part = "Wing skin, left"
serial = 1042
date = 2026-11-17
inspector = "R. Weiß"
standoff = "600 mm"
flash_energy = "6 kJ"
ambient = "21 °C"
depth_of_interest = "1.5 mm"
deviations = ["lamp 2 off"]
"""


def test_what_is_recorded_and_what_is_not(tmp_path):
    (tmp_path / "inspection.toml").write_text(TEXT, encoding="utf-8")
    found = read_record(tmp_path / "inspection.toml")
    assert (found.serial, found.date, found.interest) == ("1042", "2026-11-17", 0.0015)
    assert found.recorded()["flash energy"] == "6 kJ"
    assert found.recorded()["deviations"] == "lamp 2 off"
    assert "camera calibration" in found.not_recorded()
    assert {*found.recorded(), *found.not_recorded()} == {name.replace("_", " ") for name in type(found).model_fields}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("serail = 1", "key 'serail' is unknown.*Did you mean 'serial'"),
        ('standoff = "2 kg"', r"standoff='2 kg'.*expected a length in m"),
        ("standoff = 600", "has no unit"),
        ('flash_energy = "6 mm"', "expected an energy"),
        ('date = "17.11.2026"', "year, month and day"),
        ("part = true", "valid string"),
        ("part = '''" + "x" * 3000 + "'''", "at most 2000"),
        ("part = ", "cannot read"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path, text, message):
    (tmp_path / "inspection.toml").write_text(text)
    with pytest.raises(nefty.InputError, match=message) as error:
        read_record(tmp_path / "inspection.toml")
    assert "inspection.toml" in str(error.value)


def test_the_recordings_own_file_wins_over_the_common_one(tmp_path):
    recording = tmp_path / "plate.7.h5"
    assert find_record(recording) == (None, ())
    (tmp_path / "inspection.toml").write_text(TEXT, encoding="utf-8")
    (tmp_path / "plate.7.inspection.toml").write_text('serial = "7"\nreference_run = "runs/reference"')
    found, said = find_record(recording)
    assert found is not None
    assert (found.part, found.serial) == ("Wing skin, left", "7")
    assert found.reference_run == str((tmp_path / "runs" / "reference").resolve())
    assert [text.split(": ")[1] for text in said] == [
        "inspection.toml, which lies beside the recording.",
        "plate.7.inspection.toml, which lies beside the recording.",
    ]
    (tmp_path / "other.toml").write_text('part = "B"')
    other, _ = find_record(recording, tmp_path / "other.toml")
    assert other is not None
    assert (other.part, other.serial, other.inspector) == ("B", "7", "")


def test_a_record_decides_nothing_and_goes_through_files(tmp_path):
    sequence = nefty.simulate(nefty.draw_specimen(seed=1, defects=1), grid=nefty.Grid((4, 8, 8), (1.0, 10.0, 10.0)))
    path = sequence.save(tmp_path / "own.h5")
    before = nefty.load(path)
    (tmp_path / "mine.toml").write_text(TEXT, encoding="utf-8")
    after = nefty.load(path, record=tmp_path / "mine.toml")
    assert after.digest() == before.digest()
    assert deciding_facts(after) == deciding_facts(before)
    np.testing.assert_array_equal(after.frames, before.frames)
    assert after.facts.record == read_record(tmp_path / "mine.toml")
    assert nefty.read(after.save(tmp_path / "again.h5")).facts.record == after.facts.record
    empty = after.facts.replaced(record=InspectionRecord())
    assert read_facts(plain_facts(empty)).record == InspectionRecord()
    assert digest(plain_facts(read_facts(plain_facts(after.facts)))) == digest(plain_facts(after.facts))
