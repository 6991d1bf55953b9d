"""Files of facts: the same words as the command line, each fact from the nearest place that says it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st

import nefty
from nefty.data.deciding import deciding_facts
from nefty.data.intake.intake import take_in
from nefty.data.intake.known import NO_FACTS, Known
from nefty.data.intake.part_file import part_files, read_part_file, with_files
from support.flash_recordings import Camera
from support.known_facts import same_recording

FACTS = {"fps": 10.0, "material": "pvc", "thickness": "2 mm", "pixel": "0.5 mm", "until": "12 s", "roi": "2:14,:"}
TEXT = 'fps = 10\nmaterial = "pvc"\nthickness = "2 mm"\npixel = "0.5 mm"\nuntil = "12 s"\nroi = "2:14,:"\n'


@pytest.fixture
def plate(tmp_path):
    """A camera's file that says nothing but its counts."""
    tifffile.imwrite(tmp_path / "plate.tif", Camera(shape=(150, 16, 20), echo=330).counts())
    return tmp_path / "plate.tif"


def test_a_file_and_words_give_the_same_recording_to_the_last_bit(plate, tmp_path):
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "mine.toml").write_text(TEXT)
    said = nefty.load(plate, **FACTS)
    filed = nefty.load(plate, facts=tmp_path / "facts" / "mine.toml")
    assert filed.digest() == said.digest()
    assert deciding_facts(filed) == deciding_facts(said)
    np.testing.assert_array_equal(filed.frames, said.frames)
    (tmp_path / "plate.toml").write_text(TEXT)
    beside = nefty.load(plate)
    assert beside.digest() == said.digest()
    assert any("Facts of plate.toml, which lies beside the recording: fps 10" in n.text for n in beside.facts.notes)


def test_the_nearest_place_wins_and_it_is_said(plate, tmp_path):
    (tmp_path / "part.toml").write_text(TEXT)
    (tmp_path / "plate.toml").write_text('thickness = "3 mm"\nno-losses = true\n')
    found = take_in(plate, Known(until="11 s", no_losses=False, typed=True))
    assert (found.known.thickness, found.known.until, found.known.material) == ("3 mm", "11 s", "pvc")
    assert found.known.no_losses is False
    assert found.known.named("thickness") == "thickness (in plate.toml)"
    assert found.known.named("until") == "--until"
    told = " ".join(found.said)
    for words in (
        "thickness is 3 mm, in plate.toml, in place of 2 mm in part.toml.",
        "until is 11 s, as given, in place of 12 s in part.toml.",
        "no_losses is false, as given, in place of true in plate.toml.",
    ):
        assert words in told
    other = tmp_path / "other.toml"
    other.write_text(TEXT.replace("pvc", "pmma"))
    assert take_in(plate, Known(facts=other)).known.material == "pmma"  # not part.toml, which was not asked for


def test_files_that_facts_name_lie_beside_the_facts(plate, tmp_path):
    folder = tmp_path / "facts"
    folder.mkdir()
    mask = np.ones((16, 20), dtype=bool)
    mask[:, :4] = False
    np.save(folder / "mask.npy", mask)
    (folder / "part.toml").write_text(TEXT.replace('roi = "2:14,:"', 'mask = "mask.npy"'))
    found = nefty.load(plate, facts=folder / "part.toml")
    assert found.mask is not None
    assert not found.mask[:, :4].any()
    given_mask = nefty.load(plate, **{**FACTS, "roi": "off"}, mask=mask)
    assert found.digest() == given_mask.digest()


def test_a_material_may_be_a_table(plate, tmp_path):
    facts = tmp_path / "mine.toml"
    facts.write_text(TEXT.replace('"pvc"', '{ name = "mine", alpha_z = "0.3 mm2/s", rho = "1400 kg/m3" }'))
    found = nefty.load(plate, facts=facts).facts.material
    assert found is not None
    assert (found.name, found.alpha_z, found.rho) == ("mine", 3e-7, 1400)
    facts.write_text('material = { alpha_z = "0.3 mm2/s", alpha_q = "0.3 mm2/s" }')
    with pytest.raises(nefty.InputError, match=r"mine.toml.*Did you mean 'alpha_"):
        read_part_file(facts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("thicknes = '2 mm'", "key='thicknes' is unknown.*Did you mean 'thickness'"),
        ("facts = 'a.toml'", "key='facts' is unknown"),
        ("thickness = 2", "thickness = 2 must be text with its unit"),
        ("fps = '50'", "fps = 50 must be a number"),
        ("fps = nan", "fps = nan must be a number"),
        ("flash_frame = 1.5", "flash_frame = 1.5 must be a whole number"),
        ("no_losses = 'yes'", "no_losses = yes must be true or false"),
        ("fps = 1\nfps = 2", "cannot read the facts file"),
        ("flash-frame = 1\nflash_frame = 2", "says 'flash_frame' twice"),
        ("bin = " + "[" * 5000, "nested too deeply|cannot read"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path, text, message):
    (tmp_path / "part.toml").write_text(text)
    with pytest.raises(nefty.InputError, match=message):
        read_part_file(tmp_path / "part.toml")


def test_a_wrong_value_is_traced_to_its_file(plate, tmp_path):
    (tmp_path / "plate.toml").write_text(TEXT.replace("2 mm", "2 kg"))
    with pytest.raises(nefty.InputError, match=r"thickness \(in plate.toml\)"):
        nefty.load(plate)
    with pytest.raises(nefty.InputError, match="there is no facts file"):
        nefty.load(plate, facts=tmp_path / "nowhere.toml")


def test_facts_do_not_go_with_a_recording_that_says_everything(tmp_path):
    own = nefty.simulate(nefty.draw_specimen(seed=1, defects=1), grid=nefty.Grid((4, 8, 8), (1.0, 10.0, 10.0)))
    own.save(tmp_path / "own.h5")
    before = nefty.load(tmp_path / "own.h5")
    (tmp_path / "own.toml").write_text('thickness = "2 mm"')
    with pytest.raises(nefty.InputError, match=r"thickness \(in own.toml\) does not go with"):
        nefty.load(tmp_path / "own.h5")
    (tmp_path / "own.toml").write_text("")
    assert nefty.load(tmp_path / "own.h5").digest() == before.digest()


def test_without_files_nothing_changes(plate):
    known = Known(fps=3.0)
    assert with_files(plate, known) == (known, ())
    assert part_files(plate) == []
    assert same_recording(nefty.load(plate, **FACTS), nefty.load(plate, **FACTS))


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([f.name for f in dataclasses.fields(Known)]), st.integers() | st.text() | st.booleans()
    )
)
def test_any_values_are_taken_or_refused_with_words(tmp_path_factory, values):
    import json

    path = tmp_path_factory.mktemp("facts") / "part.toml"
    path.write_text("\n".join(f"{k} = {json.dumps(v)}" for k, v in values.items()), encoding="utf-8")
    try:
        found = set(read_part_file(path))
    except nefty.InputError as error:
        found, words = None, str(error)
        assert "part.toml" in words
    assert found in (None, set(values))
    assert found is None or not found & set(NO_FACTS)
