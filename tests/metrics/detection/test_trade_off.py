"""Found against false: counted by hand, by brute force, and from tables."""

import csv
import io
import math

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.metrics import FalseCalls, trade_off
from nefty.metrics.detection.table import DetectionTable, SoundPlace, Target
from nefty.metrics.detection.trade_off import trade_off_of


def test_a_curve_counted_by_hand():
    curve = trade_off([9, 7, 5, math.nan], [6, 5], 10)
    told = [(p.threshold, p.found, p.false_calls) for p in curve.points]
    assert told == [
        (t, found, FalseCalls(false, 10)) for t, found, false in ((9, 1, 0), (7, 2, 0), (6, 2, 1), (5, 3, 2))
    ]
    assert [p.share for p in curve.points] == [0.25, 0.5, 0.5, 0.75]
    assert [p.threshold for p in curve.chosen()] == [7, 5]  # 6 only adds a false call
    assert [p.threshold for p in trade_off([9.0, 8.0], [7.0, 6.0], 3).chosen()] == [8, 6]  # where the curve ends
    assert len(trade_off(np.arange(9.0), np.arange(9.0), 3).chosen(4)) == 4
    assert [getattr(curve.at(rate), "threshold", None) for rate in (0.0, 0.1, 1.0)] == [7, 7, 5]
    assert trade_off([3.0], [5.0], 1).at(0.5) is None


def test_the_area_below_is_how_often_a_target_beats_a_sound_place(rng):
    """The closed form of Mann and Whitney: the mean over all pairs of [target > sound place]."""
    found, false = rng.normal(1.0, 1.0, 60), rng.normal(0.0, 1.0, 80)
    points = trade_off(found, false, 80, per="sound place").points
    x, y = np.array([[0, 0], *([p.false_calls.rate, p.share] for p in points)]).T
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    assert np.trapezoid(y, x) == pytest.approx(np.mean(found[:, None] > false))


def test_tables_give_scores_before_signals():
    places = (SoundPlace(True, score=6.0), SoundPlace(False))
    scored = DetectionTable((Target(1, True, 3.0, score=8.0), Target(2, False, 1.0)), "", places, 5)
    curve = trade_off_of(scored)
    assert curve is not None
    assert (curve.quantity, curve.per) == ("score", "part")
    assert [(p.threshold, p.found, p.false_calls.count) for p in curve.points] == [(8, 1, 0), (6, 1, 1)]
    signals = DetectionTable((Target(1, None, 3.0), Target(2, None, 1.0)), "", (SoundPlace(signal=2.0),) * 4)
    curve = trade_off_of(signals)
    assert curve is not None
    assert (curve.quantity, curve.per) == ("signal", "sound place")
    assert [p.false_calls.rate for p in curve.points] == [0, 1, 1]
    for nothing in ((), (SoundPlace(True),), (SoundPlace(False, signal=math.nan),)):
        assert trade_off_of(DetectionTable(signals.targets, "", nothing)) is None


def test_it_is_written_with_its_intervals():
    curve = trade_off([9, 7, math.nan], [6], 10)
    rows = list(csv.DictReader(io.StringIO(curve.csv())))
    assert [row["threshold"] for row in rows] == ["9", "7", "6"]
    assert float(rows[-1]["rate_high"]) == pytest.approx(FalseCalls(1, 10).interval()[1], rel=1e-5)
    assert (rows[-1]["found"], rows[-1]["targets"], rows[-1]["parts"]) == ("2", "3", "10")


def test_without_targets_or_scores_there_is_none():
    with pytest.raises(InputError, match="needs targets"):
        trade_off([], [1.0], 3)
    with pytest.raises(InputError, match="none of 2 targets has a score"):
        trade_off([math.nan] * 2, [], 3)
