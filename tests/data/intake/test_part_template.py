"""The facts file that ``nefty inspect --write`` makes."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest
import tifffile

import nefty
from nefty.data.intake.intake import take_in
from nefty.data.intake.known import NO_FACTS, Known
from nefty.data.intake.part_file import read_part_file
from nefty.data.intake.part_template import GROUPS, part_template
from support.flash_recordings import Camera


@pytest.fixture
def plate(tmp_path):
    tifffile.imwrite(tmp_path / "plate.tif", Camera(shape=(150, 16, 20), echo=330).counts())
    return tmp_path / "plate.tif"


def test_what_is_missing_is_marked_and_the_rest_reads_back(plate, tmp_path):
    text = part_template(take_in(plate, Known(thickness="2 mm", flash_frame=11)))
    assert re.findall(r"# MISSING: ([^;]+);", text) == ["the material", "the size of a pixel", "the frame rate"]
    path = tmp_path / "written.toml"
    path.write_text(text)
    assert read_part_file(path) == {"thickness": "2 mm", "flash_frame": 11}


def test_filled_in_it_gives_the_same_recording(plate, tmp_path):
    facts = {"fps": 10.0, "material": nefty.material({"name": "mine", "alpha_z": 1.3e-7, "alpha_x": 2.6e-7})}
    facts |= {"thickness": "2 mm", "pixel": ["0.5 mm", "0.4 mm"], "no_losses": True}
    path = tmp_path / "written.toml"
    path.write_text(part_template(take_in(plate, Known.of(facts))))
    assert nefty.load(plate, facts=path).digest() == nefty.load(plate, **facts).digest()


def test_every_example_is_true(tmp_path):
    """Each line, with its # taken away, is read."""
    for facts in GROUPS.values():
        for name, told in facts.items():
            (tmp_path / "one.toml").write_text(f"{name} = {told.example}  # {told.text}")
            assert set(read_part_file(tmp_path / "one.toml")) == {name}
    explained = {name for facts in GROUPS.values() for name in facts}
    assert explained == {f.name for f in fields(Known)} - set(NO_FACTS)
