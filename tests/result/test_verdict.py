"""Never a false all-clear: not finished, too noisy and not inspected come before any word on the fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nefty.core.stopping import Stopped, StopReason
from nefty.data.facts import CalibratedValue, Facts, Units
from nefty.physics.slab.reference_decay import reference_decay
from nefty.report.figures.style import units_of
from nefty.report.pages.findings import Findings, defect_table, headline
from nefty.report.pages.reconstruction import reconstruction_page
from nefty.result.reach import Reach
from nefty.result.reference_defect import reference_visibility
from nefty.result.verdict import Level
from support.parts import FACTS, planted
from support.weighed_parts import CALLED, evidence, weighed

CUT_SHORT = [Stopped(StopReason.OUT_OF_TIME, "the 6 s it was given were over"), Stopped(StopReason.INTERRUPTED)]


def sound(make, **changes):
    """A result in which nothing was found."""
    rec = make()
    return make(alpha=np.broadcast_to(rec.background[:, None, None], rec.grid.shape), **changes)


@pytest.mark.parametrize("stopped", CUT_SHORT)
def test_a_run_that_was_cut_short_claims_nothing(make, stopped):
    rec = sound(make, stopped=stopped)
    verdict = rec.verdict()
    assert verdict.level is Level.UNFINISHED
    assert verdict.text.startswith(f"The reconstruction is not finished: {stopped.text}.")
    assert "explain" not in verdict.text
    page = reconstruction_page(rec)
    assert page.title == "Not finished"
    assert page.notice is not None
    assert page.notice.title.startswith("Not finished")
    assert "No indication" not in page.render()
    assert "No connected region" not in page.render()
    assert "as good as the noise allows" not in page.render()


def test_a_finished_run_may_say_that_nothing_was_found(make):
    rec = sound(make)
    assert rec.verdict().level is Level.EXPLAINED
    assert headline(Findings(rec), units_of(rec)) == "No indication found"


def test_a_recording_in_which_a_plain_gap_would_not_show_is_too_noisy(make):
    noise = 200.0
    frames = make().fitted + noise * np.random.default_rng(1).standard_normal(make().fitted.shape)
    rec = sound(make, measured=frames, noise=noise)
    assert rec.verdict().level is Level.TOO_NOISY
    assert "Neither an indication nor its absence means anything" in rec.verdict().text
    assert headline(Findings(rec), units_of(rec)) == "Too noisy to judge"
    assert "No indication" not in reconstruction_page(rec).render()


def test_indications_of_a_run_that_was_cut_short_are_not_claimed(make):
    rec = make(seed=2, stopped=CUT_SHORT[0])
    said = headline(Findings(rec), units_of(rec))
    assert said.startswith("Not finished; ")
    assert said.endswith("so far, of which nothing is claimed")


def test_the_reference_gap_by_hand(make):
    rec = make(noise=2.0)
    alpha = float(np.exp(np.log(rec.background).mean()))
    gap, whole = (reference_decay(rec.times, alpha, length) for length in (0.5, 1.0))
    pixels = np.pi / 4 / (10 / 64) ** 2
    expected = np.max(rec.fitted[:, 0, 0] * (gap / whole - 1)) * np.sqrt(pixels) / 2.0
    assert reference_visibility(rec) == pytest.approx(expected, rel=1e-6)
    assert reference_visibility(make(noise=None)) is None
    assert reference_visibility(make(noise=0.0)) is None


def test_what_was_not_inspected_is_said(make):
    millimetres = Facts(units=Units(length="mm"))
    most = make(reach=Reach(0.1, 0.8), facts=millimetres).verdict()
    assert most.level is Level.EXPLAINED
    assert "Depths of less than 0.1 mm were not inspected." in most.text
    assert "before heat returns from below 0.8 mm" in most.text
    little = make(reach=Reach(0.1, 0.4), facts=millimetres).verdict()
    assert little.level is Level.NOT_INSPECTED
    assert "Only 30 % of the part was inspected" in little.text
    half = make().measured.copy()
    half[:, :, :40] = np.nan
    assert make(measured=half, reach=None).verdict().level is Level.NOT_INSPECTED


def test_indications_at_the_rim_of_what_was_inspected_are_marked(make):
    rec = make(seed=2)
    top = rec.indications()[0].depth_to_top
    for reach, marked in ((Reach(top, 1.0), True), (Reach(0.0, 1.0), False)):
        findings = Findings(make(seed=2, reach=reach))
        assert findings.evidence[1].at_rim == marked
        first = defect_table(findings, units_of(rec)).rows[0][0]
        assert first.endswith("at the rim of what was inspected") == marked


def test_levels_are_their_words():
    assert Level.TOO_NOISY == "too noisy"
    assert [level for level in Level if not level.judges] == [Level.UNFINISHED, Level.TOO_NOISY, Level.NOT_INSPECTED]


def test_the_threshold_and_what_just_missed_are_told():
    text = weighed().verdict().text
    assert "a sound part would show 0.05 such indications on average" in text
    assert "One region just missed this threshold, the clearest around pixel (y, x) = (6, 33)" in text
    assert "0.00032 m deep, with 4.8" in text
    assert "cools faster" not in text
    assert "just missed" not in weighed(CALLED).verdict().text
    assert "on average" not in planted().verdict().text


def test_what_no_defect_makes_is_told_where_no_defect_may_have_made_it():
    cold = {"coldest": 60.0}
    assert (
        "60 standard deviations, which no defect causes"
        in weighed(frame_evidence=evidence(CALLED, **cold)).verdict().text
    )
    loud = replace(CALLED, score=50.0)  # the cold rim of a strong defect
    assert "no defect causes" not in weighed(frame_evidence=evidence(loud, **cold)).verdict().text


def test_facts_that_were_moved_are_told_and_contradictions_first():
    def told(value):
        row = CalibratedValue("diffusivity through the thickness", value, 1e-7, "m2/s", 1e-9, 0.12e-7)
        return planted(facts=FACTS.replaced(calibration=(row,))).verdict()

    assert told(1.1e-7).text == told(1e-7).text
    moved = told(1.2e-7)
    assert moved.level is Level.EXPLAINED
    assert moved.text.endswith("The calibration moved: diffusivity through the thickness 20 % above what was stated.")
    against = told(1.5e-7)
    assert against.level is Level.PARTLY
    assert against.text.startswith(
        "The recording contradicts what was stated or assumed: diffusivity through the thickness 50 % above"
    )
    assert "The calibration moved" not in against.text


def test_a_run_that_claims_nothing_says_so_before_any_evidence():
    verdict = weighed(stopped=CUT_SHORT[0]).verdict()
    assert verdict.level is Level.UNFINISHED
    assert verdict.text.startswith("The reconstruction is not finished")
