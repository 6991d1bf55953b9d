"""The one rule by which all methods are judged on parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nefty.bench.parts.score import Spot, is_of, on_frame, spots_of_map, trial_facts
from nefty.data.facts import Window
from nefty.synth.parts.recorded import TrueDefect, Truth

SHAPE = (20, 30)


def box(top, bottom, left, right):
    mask = np.zeros(SHAPE, dtype=bool)
    mask[top:bottom, left:right] = True
    return mask


def spot(mask, depth=1e-3):
    y, x = (float(np.mean(at)) + 0.5 for at in np.nonzero(mask))
    return Spot(mask, (y, x), depth)


def truth(*visibilities):
    """Squares of 4 x 4 pixels in a row, 1 mm deep."""
    labels = np.zeros(SHAPE, dtype=np.int32)
    defects = []
    for label, visibility in enumerate(visibilities, 1):
        labels[8:12, 2 + 9 * (label - 1) : 6 + 9 * (label - 1)] = label
        defects.append(TrueDefect(label, "film", 1e-3, 2.0, visibility, 1e-4))
    return Truth(labels, np.where(labels > 0, 1e-3, np.nan), tuple(defects))


def test_a_centre_within_one_pixel_is_of_the_defect():
    mask = box(8, 12, 2, 6)
    point = box(0, 1, 0, 1)
    assert is_of(Spot(point, (10.0, 4.0), 1e-3), mask)
    assert is_of(Spot(point, (7.5, 4.0), 1e-3), mask)
    assert not is_of(Spot(point, (6.5, 4.0), 1e-3), mask)


def test_an_overlap_is_of_the_defect_wherever_its_centre_is():
    assert is_of(Spot(box(8, 12, 3, 9), (0.0, 29.0), 1e-3), box(8, 12, 2, 6))
    assert not is_of(Spot(box(8, 12, 5, 29), (0.0, 29.0), 1e-3), box(8, 12, 2, 6))


def test_found_false_and_missed_are_counted():
    facts = trial_facts([spot(box(8, 12, 2, 6), 1.1e-3), spot(box(0, 3, 20, 25))], truth(20.0, 8.0, 1.0))
    assert [d["found"] for d in facts["defects"]] == [True, False, False]
    assert [d["visible"] for d in facts["defects"]] == [True, True, False]
    assert facts["defects"][0]["found_depth"] == pytest.approx(1.1e-3)
    assert (facts["indications"], facts["false"]) == (2, 1)


def test_an_indication_of_what_cannot_be_seen_is_not_false_and_not_in_the_iou():
    facts = trial_facts([spot(box(8, 12, 2, 6)), spot(box(8, 12, 11, 15))], truth(20.0, 1.0))
    assert facts["false"] == 0
    assert facts["iou"] == 1


def test_a_sound_part_has_only_false_indications():
    facts = trial_facts([spot(box(8, 12, 2, 6))], truth())
    assert facts["false"] == 1
    assert facts["iou"] is None
    assert facts["false_scores"] == [None]


def test_scores_of_found_and_false_are_kept():
    """Of two indications of a defect the higher score counts, whichever tells the depth."""
    spots = [replace(spot(mask), score=score) for mask, score in ((box(8, 12, 2, 5), 6.0), (box(9, 10, 3, 4), 9.0))]
    facts = trial_facts([*spots, replace(spot(box(0, 3, 20, 25)), score=5.5)], truth(20.0, 8.0))
    assert [d["highest_score"] for d in facts["defects"]] == [9.0, None]
    assert facts["defects"][0]["score"] == 6.0
    assert facts["false_scores"] == [5.5]


def test_the_largest_overlap_tells_the_depth():
    facts = trial_facts([spot(box(9, 10, 3, 4), 9e-3), spot(box(8, 12, 2, 5), 2e-3)], truth(20.0))
    assert facts["defects"][0]["found_depth"] == 2e-3
    assert facts["false"] == 0


def test_regions_of_a_map_become_indications_but_specks_do_not():
    mask = box(8, 12, 2, 6) | box(0, 1, 0, 1)
    depth = np.where(mask, 1e-3, np.nan)
    spots = spots_of_map(mask, depth, Window(), SHAPE)
    assert len(spots) == 1
    assert spots[0].centre == (10.0, 4.0)
    assert spots[0].depth == 1e-3


def test_a_window_is_put_where_it_lies_in_the_frame():
    image = np.ones((3, 4), dtype=bool)
    whole = on_frame(image, Window(2, 5, 2), SHAPE)
    assert whole.sum() == 48
    assert whole[2:8, 5:13].all()
