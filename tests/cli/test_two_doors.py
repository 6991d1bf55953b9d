"""The command line and Python are two doors to one house: the same file and facts give the same volume."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile

from nefty.inversion.recipe import load_recipe
from nefty.result.reconstruction import Reconstruction
from support.flash_recordings import Camera

STAGES = [stage.name for stage in load_recipe("real").stages]
FEW = {"model.layers": 6, **{f"stages.{name}.iterations": 1 for name in STAGES}}
QUICK = [word for key, value in FEW.items() for word in ("--set", f"{key}={value}")]
FACTS = {"fps": 10.0, "material": "pvc", "thickness": "2 mm", "pixel": "0.5 mm"}
WORDS = [word for name, value in FACTS.items() for word in (f"--{name}", str(value))]


@pytest.fixture
def tiff(tmp_path):
    """A camera's file that says nothing but its counts."""
    tifffile.imwrite(tmp_path / "plate.tif", Camera(shape=(150, 16, 20), echo=330).counts())
    return tmp_path / "plate.tif"


def test_both_doors_give_the_same_volume_and_the_same_files(tiff, call):
    code, _, err = call("reconstruct", tiff, *WORDS, *QUICK)
    assert code == 0, err
    run = tiff.with_name("plate-run")  # beside the recording
    import nefty

    seq = nefty.load(tiff, fps=10.0, material="pvc", thickness="2 mm", pixel="0.5 mm")
    rec = nefty.reconstruct(seq, overrides=FEW)
    rec.write(tiff.with_name("python"))
    there, here = Reconstruction.load(run), Reconstruction.load(tiff.with_name("python"))
    np.testing.assert_array_equal(here.alpha, there.alpha)
    assert rec.recipe == there.recipe
    assert rec.facts.notes == there.facts.notes
    written = {path.name for path in run.iterdir()} - {"config.json", "events.jsonl", ".lock"}
    assert {path.name for path in tiff.with_name("python").iterdir()} == written


def test_numbers_are_si_units(tiff):
    import nefty

    said = nefty.load(tiff, **FACTS)
    meant = nefty.load(tiff, **{**FACTS, "thickness": 2e-3, "pixel": (5e-4, 5e-4)})
    assert said.size == pytest.approx(meant.size)
    assert said.digest() == meant.digest()


def test_python_asks_for_all_that_is_missing_by_name(tiff):
    import nefty

    with pytest.raises(nefty.InputError) as error:
        nefty.load(tiff)
    for words in ("fps=50", 'thickness="1.3 mm"', 'pixel="0.2 mm"', 'material="cfrp"'):
        assert words in str(error.value)
    with pytest.raises(nefty.InputError, match="Did you mean 'thickness'"):
        nefty.load(tiff, thicknes="2 mm")


def test_another_diffusivity_in_the_same_folder_is_refused_with_both_values(tiff, call, tmp_path):
    assert call("reconstruct", tiff, *WORDS, *QUICK, "--out", tmp_path / "run")[0] == 0
    before = (tmp_path / "run" / "result.h5").read_bytes()
    code, _, err = call("reconstruct", tiff, *WORDS, *QUICK, "--out", tmp_path / "run", "--alpha", "9e-7 m2/s")
    assert code == 2
    assert "recording.diffusivity is 1.2e-07 there and 9e-07 now" in err
    assert "--fresh" in err
    code, _, err = call("reconstruct", tiff, *WORDS, *QUICK, "--out", tmp_path / "run", "--material", "pmma")
    assert code == 2
    assert 'recording.material is "pvc" there and "pmma" now' in err
    assert (tmp_path / "run" / "result.h5").read_bytes() == before


def test_a_facts_file_gives_the_same_volume_as_words_and_typed_facts_win(tiff, call, tmp_path):
    facts = tmp_path / "mine.toml"
    facts.write_text('fps = 10\nmaterial = "pvc"\nthickness = "2 mm"\npixel = "0.5 mm"\n')
    code, _, err = call("reconstruct", tiff, *WORDS, *QUICK, "--out", tmp_path / "words")
    assert code == 0, err
    code, _, err = call("reconstruct", tiff, "--facts", facts, *QUICK, "--out", tmp_path / "filed")
    assert code == 0, err
    assert "Facts of mine.toml: fps 10" in err
    words, filed = (Reconstruction.load(tmp_path / name) for name in ("words", "filed"))
    np.testing.assert_array_equal(filed.alpha, words.alpha)
    code, _, err = call("reconstruct", tiff, *WORDS, *QUICK, "--out", tmp_path / "filed")  # one run, told twice
    assert code == 0, err
    assert "is finished; this is its result" in err
    code, _, err = call(
        "reconstruct", tiff, "--facts", facts, *QUICK, "--out", tmp_path / "filed", "--thickness", "3 mm"
    )
    assert code == 2
    assert "recording.thickness is 0.002 there and 0.003 now" in err
    assert "thickness is 3 mm, as given, in place of 2 mm in mine.toml." in " ".join(err.split())
