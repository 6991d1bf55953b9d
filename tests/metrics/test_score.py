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
from nefty.metrics.edges import edge_f1
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
        mask_iou=volume.mask_iou((found < 0.025).any(axis=0), (truth < 0.025).any(axis=0)),
        mask_dice=volume.mask_dice((found < 0.025).any(axis=0), (truth < 0.025).any(axis=0)),
        edge_f1=edge_f1(found, truth, threshold=0.025),
    )
    assert evaluate(found, truth) != score


def test_overlap_by_hand(found, truth):
    score = evaluate(found, truth)
    assert score.iou == pytest.approx(6 / 11)  # 9 found, 8 true, 6 of them the same
    assert score.dice == pytest.approx(12 / 17)
    assert score.mask_iou == pytest.approx(3 / 5)  # 4 pixels found, 4 true, 3 of them the same
    assert score.mask_dice == pytest.approx(6 / 8)


def test_depth_is_compared_where_both_have_a_defect(found, truth):
    score = evaluate(found, truth, thickness=2.0)
    assert score.depth_mae == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert score.depth_rmse == pytest.approx(math.sqrt(0.5 / 3))
    assert score.depth_recall == pytest.approx(3 / 4)
    assert score.depth_abs_rel == pytest.approx((0.5 + 0.5 + 0) / 3)  # the true depth is 1
    assert score.depth_delta1 == score.depth_delta2 == score.depth_delta3 == pytest.approx(1 / 3)  # 0.5 is half of 1


def test_a_reconstruction_brings_its_volume_and_its_thickness(found, truth):
    reconstruction = SimpleNamespace(alpha=found, grid=GRID)
    assert evaluate(reconstruction, truth) == evaluate(found, truth, thickness=2.0)
    assert evaluate(SimpleNamespace(alpha=found), truth) == evaluate(found, truth)


def test_depth_stays_open_where_nothing_can_be_compared(found, truth):
    sound = np.full(GRID.shape, 0.15)
    missed = evaluate(sound, truth, thickness=2.0)
    assert (missed.depth_mae, missed.depth_rmse, missed.depth_recall) == (None, None, 0.0)
    assert (missed.depth_abs_rel, missed.depth_delta1, missed.mask_iou, missed.edge_f1) == (None, None, 0, 0)
    false_alarm = evaluate(found, sound, thickness=2.0)
    assert (false_alarm.iou, false_alarm.depth_mae, false_alarm.depth_recall) == (0.0, None, None)
    assert (false_alarm.mask_iou, false_alarm.mask_dice, false_alarm.edge_f1) == (0, 0, 0)
    right = evaluate(sound, sound, thickness=2.0)
    assert (right.iou, right.mask_iou, right.mask_dice, right.edge_f1, right.depth_recall) == (1, 1, 1, 1, None)
    assert "depth" not in str(right)


def test_a_defect_at_the_face_has_a_depth_but_no_relative_error(found, truth):
    at_face = np.full(GRID.shape, 0.15)
    at_face[0, 2, 3] = 0.01
    score = evaluate(found, at_face, thickness=2.0)
    assert (score.depth_mae, score.depth_abs_rel, score.depth_delta1) == (0.5, None, None)
    assert str(score).endswith("on 100% of the defects' pixels")


def test_a_perfect_reconstruction(truth):
    score = evaluate(truth, truth, thickness=2.0)
    assert (score.mse, score.psnr, score.iou, score.dice) == (0, math.inf, 1, 1)
    assert score.ssim == pytest.approx(1)
    assert (score.depth_mae, score.depth_rmse, score.depth_recall) == (0, 0, 1)
    assert (score.depth_abs_rel, score.depth_delta1, score.depth_delta2, score.depth_delta3) == (0, 1, 1, 1)
    assert (score.mask_iou, score.mask_dice, score.edge_f1) == (1, 1, 1)


def test_it_is_frozen_plain_and_readable(found, truth):
    score = evaluate(found, truth, thickness=2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        score.iou = 1.0  # pyright: ignore[reportAttributeAccessIssue]
    values = score.as_dict()
    assert Score(**values) == score
    assert json.loads(json.dumps(values))["iou"] == score.iou
    text = str(score)
    for part in (
        "IoU 0.545",
        "Dice 0.706",
        "alpha < 0.03",
        "7 x 7 window",
        "mean error 0.333",
        "75%",
        "front: IoU 0.600",
    ):
        assert part in text
    assert f"F1 {score.edge_f1:.3f}" in text
    assert text.endswith("relative error 0.333, within a factor of 1.25 on 33%")
    assert "depth" not in str(evaluate(found, truth))


def test_scores_stored_before_there_were_more_marks_are_read():
    old = '{"mse": 1e-3, "psnr": 20, "ssim": 0.5, "iou": 0.4, "dice": 0.5, "depth_mae": 1, "depth_rmse": 1, '
    text = str(Score(**json.loads(old + '"depth_recall": 0.5}')))
    assert "edges" not in text
    assert "front" not in text
    assert text.endswith("on 50% of the defects' pixels")


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
