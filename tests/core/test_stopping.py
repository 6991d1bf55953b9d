"""Why a run came to its end, in a word and in a sentence."""

import pytest

from nefty.core.stopping import FINISHED, INTERRUPTED, TEXTS, UNKNOWN, Stopped, StopReason


@pytest.mark.parametrize("reason", StopReason)
def test_without_a_text_of_its_own_it_says_that_of_the_reason(reason):
    assert str(Stopped(reason)) == Stopped(reason).text == TEXTS[reason]
    assert Stopped(reason, "after 3 of 9").text == "after 3 of 9"


def test_a_run_is_finished_or_can_go_on_or_nobody_knows():
    finished = {reason for reason in StopReason if Stopped(reason).finished}
    cut_short = {reason for reason in StopReason if Stopped(reason).cut_short}
    assert cut_short == {StopReason.INTERRUPTED, StopReason.OUT_OF_TIME}
    assert finished & cut_short == set()
    assert set(StopReason) - finished - cut_short == {StopReason.UNKNOWN}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("all iterations were done", StopReason.FINISHED),
        ("done", StopReason.FINISHED),
        ("the 60 s it was given were over", StopReason.OUT_OF_TIME),
        ("the misfit came down to 1.05, the noise floor", StopReason.GOOD_ENOUGH),
        ("the moon was full", StopReason.UNKNOWN),
        ("", StopReason.UNKNOWN),
    ],
)
def test_sentences_of_old_results_tell_the_reason_and_stay(text, reason):
    assert Stopped.of_text(text) == Stopped(reason, text)


def test_an_old_run_that_was_interrupted_does_not_name_its_command():
    assert Stopped.of_text("it was stopped by Ctrl-C; the same command goes on from here") == INTERRUPTED


@pytest.mark.parametrize("known", [FINISHED, INTERRUPTED, UNKNOWN])
def test_the_sentences_of_this_version_are_understood_too(known):
    assert Stopped.of_text(known.text) == known
