"""Facts: which pixels of the file a recording shows, what is noted, what was done."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.data.facts import CameraFacts, Facts, Hole, Note, NoteKind, Origin, Simulation, Step, Units, Window

FRAME = np.stack(np.meshgrid(np.arange(64), np.arange(80), indexing="ij"), axis=-1)  # each pixel knows its place
CUT = st.tuples(st.just("cut"), st.integers(0, 9), st.integers(0, 9))
BIN = st.tuples(st.just("bin"), st.integers(1, 3))
CHANGES = st.lists(CUT | BIN, max_size=4)
NOTES = st.lists(st.builds(Note, st.sampled_from(NoteKind), st.text(max_size=3), st.booleans()), max_size=8)


@given(CHANGES)
def test_the_window_is_where_the_first_pixel_comes_from_and_how_many_it_holds(changes):
    """Cutting and averaging follow each other in any order; the pixels themselves tell where they come from."""
    window, left = Window(), FRAME
    for kind, *values in changes:
        if kind == "cut":
            top, side = values
            window, left = window.cut(top, side), left[top:, side:]
        else:
            (n,) = values
            rows, columns = left.shape[0] // n, left.shape[1] // n
            window, left = window.binned(n), left[: rows * n : n, : columns * n : n]  # the first of each block
        if not left.size:
            return
        assert (window.top, window.left) == tuple(left[0, 0])
        if min(left.shape[:2]) > 1:
            assert (left[1, 1] - left[0, 0]).tolist() == [window.bin, window.bin]


def test_what_cuts_and_averages_nothing_changes_nothing():
    window = Window(top=3, left=5, bin=2)
    assert window.cut(0, 0) == window.binned(1) == window


@given(NOTES, st.sets(st.sampled_from(NoteKind)), st.none() | st.booleans())
def test_notes_are_left_out_by_kind_and_by_whether_they_assume(notes, kinds, assumed):
    found = Facts().noted(*notes).without_notes(kinds, assumed=assumed).notes
    asked = [n for n in notes if n.kind in kinds and (assumed is None or n.assumed is assumed)]
    assert list(found) == [n for n in notes if n not in asked]


def test_notes_are_added_at_the_end_and_none_changes_nothing():
    first = Facts().noted(Note(NoteKind.FILE, "one"))
    assert [n.text for n in first.noted(Note(NoteKind.TIMES, "two")).notes] == ["one", "two"]
    assert first.noted() is first


@pytest.mark.parametrize("assumed", [True, False])
def test_a_step_is_also_a_note(assumed):
    step = Step("dead pixels", "None found.", {"pixels": 0}, assumed=assumed)
    assert step.note() == Note(NoteKind.STEP, "Dead pixels: None found.", assumed=assumed)
    facts = Facts(notes=(Note(NoteKind.FILE, "one"),)).done(step)
    assert facts.steps == (step,)
    assert facts.notes[1:] == (step.note(),)


def test_steps_keep_their_order_and_the_last_of_a_name_counts():
    first, second, other = Step("pixels", "2 x 2."), Step("pixels", "3 x 3."), Step("gain", "None.")
    facts = Facts().done(first).done(other, second)
    assert facts.steps == (first, other, second)
    assert facts.stepped("pixels") is second
    assert facts.stepped("flash") is None
    assert facts.prepared
    assert not Facts().prepared


def test_only_a_recording_of_a_specimen_is_simulated_in_full():
    drawn, plate = (Origin(simulation=Simulation(record={name: {}})) for name in ("specimen", "plate"))
    assert Facts(origin=drawn).simulated
    assert not Facts(origin=plate).simulated
    assert not Facts().simulated


def test_words_for_the_camera_and_for_metres():
    assert CameraFacts("Jade", "50 mm").words() == "Jade, 50 mm"
    assert CameraFacts(lens="50 mm").words() == "50 mm"
    assert CameraFacts().words() == ""
    assert [Units(length=word).in_metres for word in ("m", "mm", "")] == [True, False, False]


def test_a_hole_covers_its_pixels():
    y, x = np.mgrid[0:10:0.1, 0:10:0.1]
    disc, box = (Hole(kind, (4.0, 6.0), (2.0, 3.0), 0.5) for kind in ("round", "rectangular"))
    assert disc.covers(y, x).mean() == pytest.approx(np.pi / 4 * 6 / 100, rel=0.05)
    assert box.covers(y, x).mean() == pytest.approx(6 / 100, rel=0.1)
    assert (disc.covers(y, x) <= box.covers(y, x)).all()
    assert box.aspect == 4.0
