"""The score of a reconstruction: what is in it, and what is refused."""

import dataclasses
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.metrics import volume
from nefty.metrics.score import Score, evaluate

GRID = Grid((4, 8, 9), (2.0, 8.0, 9.0))


@pytest.fixture
def truth():
    alpha = np.full(GRID.shape, 0.15)
    alpha[2:, 2:4, 3:5] = 0.01  # 4 pixels, tops at depth 1
    return alpha


@pytest.fixture
def found():
    alpha = np.full(GRID.shape, 0.14)
    alpha[1:, 2, 3:5] = 0.02  # 2 of these pixels half a unit too high
    alpha[2:, 3, 3] = 0.02  # 1 right
    alpha[0, 7, 7] = 0.02  # 1 that is not there
    return alpha


def test_a_score_holds_the_metrics_and_their_settings(found, truth):
    score = evaluate(found, truth, threshold=0.025, bounds=(0.0, 0.2), window=5)
    assert score == Score(
        mse=volume.mse(found, truth),
        psnr=volume.psnr(found, truth, bounds=(0.0, 0.2)),
        ssim=volume.ssim(found, truth, bounds=(0.0, 0.2), window=5),
        iou=volume.iou(found, truth, threshold=0.025),
        dice=volume.dice(found, truth, threshold=0.025),
        threshold=0.025,
        bounds=(0.0, 0.2),
        window=5,
    )
    assert evaluate(found, truth) != score


def test_overlap_by_hand(found, truth):
    score = evaluate(found, truth)
    assert score.iou == pytest.approx(6 / 11)  # 9 found, 8 true, 6 of them the same
    assert score.dice == pytest.approx(12 / 17)


def test_depth_is_compared_where_both_have_a_defect(found, truth):
    score = evaluate(found, truth, thickness=2.0)
    assert score.depth_mae == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert score.depth_rmse == pytest.approx(math.sqrt(0.5 / 3))
    assert score.depth_recall == pytest.approx(3 / 4)


def test_a_reconstruction_brings_its_volume_and_its_thickness(found, truth):
    reconstruction = SimpleNamespace(alpha=found, grid=GRID)
    assert evaluate(reconstruction, truth) == evaluate(found, truth, thickness=2.0)
    assert evaluate(SimpleNamespace(alpha=found), truth) == evaluate(found, truth)


def test_depth_stays_open_where_nothing_can_be_compared(found, truth):
    sound = np.full(GRID.shape, 0.15)
    missed = evaluate(sound, truth, thickness=2.0)
    assert (missed.depth_mae, missed.depth_rmse, missed.depth_recall) == (None, None, 0.0)
    false_alarm = evaluate(found, sound, thickness=2.0)
    assert (false_alarm.iou, false_alarm.depth_mae, false_alarm.depth_recall) == (0.0, None, None)


def test_a_perfect_reconstruction(truth):
    score = evaluate(truth, truth, thickness=2.0)
    assert (score.mse, score.psnr, score.iou, score.dice) == (0, math.inf, 1, 1)
    assert score.ssim == pytest.approx(1)
    assert (score.depth_mae, score.depth_rmse, score.depth_recall) == (0, 0, 1)


def test_it_is_frozen_plain_and_readable(found, truth):
    score = evaluate(found, truth, thickness=2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        score.iou = 1.0  # pyright: ignore[reportAttributeAccessIssue]
    values = score.as_dict()
    assert Score(**values) == score
    assert json.loads(json.dumps(values))["iou"] == score.iou
    text = str(score)
    for part in ("IoU 0.545", "Dice 0.706", "alpha < 0.03", "7 x 7 window", "mean error 0.333", "75%"):
        assert part in text
    assert "depth" not in str(evaluate(found, truth))


def test_what_cannot_be_scored_is_refused(found, truth):
    with pytest.raises(InputError, match=r"\(4, 8, 8\), the truth \(4, 8, 9\).*grid of the truth"):
        evaluate(found[:, :, 1:], truth)
    found[1, 2, 3] = np.nan
    with pytest.raises(InputError, match=r"nan at cell \(1, 2, 3\)"):
        evaluate(SimpleNamespace(alpha=found), truth)
    with pytest.raises(InputError, match="must be an array of numbers"):
        evaluate(object(), truth)
    with pytest.raises(InputError, match="give a smaller one"):
        evaluate(truth, truth, window=9)
