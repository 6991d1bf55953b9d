"""Which regions the frames need, with a stand-in for the filters: one template, one number per pixel."""

import numpy as np
import pytest

from nefty.inversion.evidence.weighing import judged
from nefty.result.frame_evidence import CLEAR

THRESHOLD = 5.0
SIDE = 40


class Scale:
    """What stays unexplained, as ``Judge`` has it: the root mean square of the residual, at least the noise."""

    def __init__(self, seen, explained):
        self.seen, self.left = seen, seen - explained
        self.spread = max(float(np.sqrt(np.mean((seen - explained) ** 2))), 1.0)

    def __call__(self, mask, others):
        without = self.seen - others
        return float((without / self.spread)[mask].max(initial=0.0)), (without**2).sum() > (self.left**2).sum()


class Weights:
    """Of frames that are one picture."""

    threshold = THRESHOLD

    def __init__(self, seen):
        self.seen, self.asked = seen, 0

    def after(self, explained):
        self.asked += 1
        return Scale(self.seen, explained)


def square(row, column, side=4):
    mask = np.zeros((SIDE, SIDE), dtype=bool)
    mask[row : row + side, column : column + side] = True
    return mask


def scores_of(shown, claimed, masks, rng):
    """Scores of regions that claim to show ``claimed`` where the frames show ``shown``, each one number a region."""
    noise = rng.standard_normal((SIDE, SIDE))
    noise /= 4  # the noise of a filter's output is far smoother than white; its largest of many places is near 1
    seen = sum((h * m for h, m in zip(shown, masks, strict=True)), noise)

    def explain(kept):
        return sum((claimed[i] * masks[i] for i in kept), np.zeros((SIDE, SIDE)))

    return judged(Weights(seen), masks, explain)[0]  # pyright: ignore[reportArgumentType]


def test_nothing_to_judge():
    assert judged(Weights(np.zeros((4, 4))), [], lambda kept: np.zeros((4, 4)))[0] == []  # pyright: ignore[reportArgumentType]


def test_a_claim_that_the_frames_do_not_show_is_refused_and_spoils_nothing(rng):
    masks = [square(3, 3), square(20, 20, 8)]
    real, spurious = scores_of([20, 0], [20, 60], masks, rng)
    assert spurious < THRESHOLD
    (alone,) = scores_of([20], [20], masks[:1], rng)
    assert real == pytest.approx(alone, rel=0.1)


def test_several_weak_errors_do_not_explain_each_other(rng):
    """Each alone explains its own; together they are what the model has wrong, and none of them stands out."""
    masks = [square(0, 5 * k, 5) for k in range(8)] + [square(30, 5 * k, 5) for k in range(8)]
    assert max(scores_of([6] * 16, [6] * 16, masks, rng)) < THRESHOLD
    (one,) = scores_of([6], [6], masks[:1], rng)
    assert one > THRESHOLD


def test_those_beyond_doubt_are_explained_for_all_others(rng):
    """A weak region beside strong ones keeps its score."""
    masks = [square(3, 3, 8), square(3, 25, 8), square(28, 28)]
    strong, also, weak = scores_of([80, 60, 7], [80, 60, 7], masks, rng)
    assert min(strong, also) > CLEAR * THRESHOLD
    assert weak > THRESHOLD
