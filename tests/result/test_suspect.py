"""Facts that look wrong: in words, in files, in the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nefty.core.errors import InputError
from nefty.core.stopping import Stopped, StopReason
from nefty.data.facts import Facts, Units
from nefty.report.pages.reconstruction import reconstruction_page
from nefty.result.display_units import in_display_units
from nefty.result.reconstruction import Reconstruction
from nefty.result.suspect import SuspectFact
from nefty.result.verdict import Level

DEPTH = SuspectFact("depth of the flash", 0.2, 0.196, 5e4, "length")
LOSS = SuspectFact("heat loss h of the back", 0.0, 0.05, 4e4, "speed")
RATIO = SuspectFact("amplitude of the flash", 100.0, 101.0, 4e4, "temperature")


def test_words():
    assert DEPTH.words(Units()) == "a depth of the flash of 0.196 instead of 0.2 (2 % less)"
    assert LOSS.words(Units(length="mm", time="s")).replace("\u00a0", " ") == (
        "a heat loss h of the back of 0.05 mm/s instead of 0 mm/s"
    )
    assert RATIO.words(Units()) == "an amplitude of the flash of 101 instead of 100 (1 % more)"


def test_lengths_and_speeds_are_scaled():
    assert DEPTH.scaled(1e3) == replace(DEPTH, stated=200.0, moved=196.0)
    assert LOSS.scaled(1e3).moved == 50.0
    assert RATIO.scaled(1e3) is RATIO
    with pytest.raises(InputError, match="mass"):
        SuspectFact("mass", 1.0, 2.0, 1.0, "mass")


def test_the_verdict_says_it_first_and_no_longer_explained(make):
    assert make().verdict().level is Level.EXPLAINED
    rec = make(suspects=(DEPTH, LOSS))
    assert rec.verdict().level is Level.PARTLY
    assert rec.verdict().text.startswith(
        "What remains unexplained looks like a wrong fact: with a depth of the flash of 0.196 instead of 0.2 (2 % "
        "less) or with a heat loss h of the back of 0.05 instead of 0 the recording would be explained better. Check "
        "it; it may be the cause of indications. The volume explains"
    )
    assert "looks like a wrong fact" in reconstruction_page(rec).render()


def test_refusals_come_before_it(make):
    rec = make(suspects=(DEPTH,), stopped=Stopped(StopReason.OUT_OF_TIME, "time was over"))
    assert "wrong fact" not in rec.verdict().text


def test_a_file_keeps_them(make, tmp_path):
    for suspects in ((), (DEPTH, LOSS, RATIO)):
        rec = make(suspects=suspects)
        assert Reconstruction.load(rec.save(tmp_path / "result.h5")).suspects == suspects


def test_files_from_before_have_none(make):
    record = make().record()
    del record["suspects"]
    assert Reconstruction.from_record(record).suspects == ()


def test_millimetres_are_shown(make):
    rec = make(suspects=(DEPTH, RATIO), facts=Facts(units=Units(length="m", diffusivity="m2/s", time="s")))
    shown = in_display_units(rec).suspects
    assert shown == (DEPTH.scaled(1e3), RATIO)
