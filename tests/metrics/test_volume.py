"""Volume metrics against hand-made cases and independent computations."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.ndimage import uniform_filter
from skimage.metrics import mean_squared_error, peak_signal_noise_ratio, structural_similarity

from nefty.core.errors import InputError
from nefty.metrics.volume import depth_to_top, dice, iou, mask_dice, mask_iou, mse, psnr, ssim

SHAPE = (3, 9, 8)
RANGE = 0.247


@pytest.fixture
def pair(rng):
    truth = rng.uniform(0.005, 0.2, SHAPE)
    return truth + rng.normal(0, 0.02, SHAPE), truth


def test_mse_and_psnr_by_hand():
    truth = np.full((2, 2, 1), 0.1)
    alpha = truth + np.array([0.01, -0.01, 0.03, -0.03]).reshape(2, 2, 1)
    assert mse(alpha, truth) == pytest.approx(5e-4)
    assert psnr(alpha, truth) == pytest.approx(10 * math.log10(0.061009 / 5e-4))
    assert psnr(alpha, truth, bounds=(0, 1)) == pytest.approx(10 * math.log10(1 / 5e-4))


def test_mse_psnr_and_ssim_are_those_of_scikit_image(pair):
    assert mse(*pair) == pytest.approx(mean_squared_error(*pair))
    assert ssim(*pair) == pytest.approx(structural_similarity(*pair, data_range=RANGE, channel_axis=0))
    assert psnr(*pair) == pytest.approx(peak_signal_noise_ratio(pair[1], pair[0], data_range=RANGE))


def test_ssim_is_the_mean_over_depth_of_wangs_formula_with_a_seven_pixel_window(pair):
    expected = []
    for a, b in zip(*pair, strict=True):
        mean = lambda v: uniform_filter(v, 7)[3:-3, 3:-3]  # noqa: E731
        unbiased = 49 / 48
        va, vb = unbiased * (mean(a * a) - mean(a) ** 2), unbiased * (mean(b * b) - mean(b) ** 2)
        vab = unbiased * (mean(a * b) - mean(a) * mean(b))
        c1, c2 = (0.01 * RANGE) ** 2, (0.03 * RANGE) ** 2
        top = (2 * mean(a) * mean(b) + c1) * (2 * vab + c2)
        expected.append(np.mean(top / ((mean(a) ** 2 + mean(b) ** 2 + c1) * (va + vb + c2))))
    assert ssim(*pair) == pytest.approx(np.mean(expected), rel=1e-10)


def test_slices_count_equally_and_only_the_wrong_one_lowers_ssim(pair):
    alpha = pair[1].copy()
    alpha[1] = pair[0][1]
    alone = ssim(pair[0][1:2], pair[1][1:2])
    assert ssim(alpha, pair[1]) == pytest.approx((2 + alone) / 3)


def test_identical_and_constant_volumes():
    truth = np.full(SHAPE, 0.15)
    assert mse(truth, truth) == 0
    assert psnr(truth, truth) == math.inf
    assert ssim(truth, truth) == pytest.approx(1)
    c1 = (0.01 * RANGE) ** 2
    luminance = (2 * 0.1 * 0.15 + c1) / (0.1**2 + 0.15**2 + c1)  # without texture nothing else is left
    assert ssim(np.full(SHAPE, 0.1), truth) == pytest.approx(luminance)


def test_iou_and_dice_by_hand():
    alpha, truth = np.full((1, 1, 6), 0.1), np.full((1, 1, 6), 0.1)
    alpha[0, 0, :3], truth[0, 0, 1:5] = 0.01, 0.02  # 3 found, 4 true, 2 of them the same, 5 in all
    assert iou(alpha, truth) == pytest.approx(2 / 5)
    assert dice(alpha, truth) == pytest.approx(4 / 7)
    assert iou(alpha, truth, threshold=0.015) == 0
    assert dice(alpha, truth, threshold=0.2) == 1


def test_a_cell_at_the_threshold_is_sound():
    at, below = np.full((1, 1, 1), 0.03), np.full((1, 1, 1), 0.0299)
    assert iou(at, at) == 1  # both empty
    assert iou(at, below) == dice(at, below) == 0


def test_empty_masks_agree_with_each_other_and_with_nothing_else():
    none, some = np.zeros((2, 3), bool), np.ones((2, 3), bool)
    assert mask_iou(none, none) == mask_dice(none, none) == 1
    assert mask_iou(none, some) == mask_dice(none, some) == 0
    assert mask_iou(some, none) == mask_dice(some, none) == 0


@given(arrays(bool, (3, 4)), arrays(bool, (3, 4)))
def test_dice_follows_from_iou_and_both_are_those_of_sets(a, b):
    left, right = set(np.flatnonzero(a)), set(np.flatnonzero(b))
    if left | right:
        assert mask_iou(a, b) == pytest.approx(len(left & right) / len(left | right))
        assert mask_dice(a, b) == pytest.approx(2 * len(left & right) / (len(left) + len(right)))
    assert mask_dice(a, b) == pytest.approx(2 * mask_iou(a, b) / (1 + mask_iou(a, b)))
    assert mask_iou(a, b) == mask_iou(b, a)


@given(arrays(np.float64, SHAPE, elements=st.floats(0.003, 0.25)), st.floats(1e-4, 0.05))
def test_a_constant_offset_has_its_square_as_mse(truth, offset):
    assert mse(truth + offset, truth) == pytest.approx(offset**2, rel=1e-9)


def test_depth_to_the_top_is_the_upper_face_of_the_first_cell():
    alpha = np.full((4, 1, 3), 0.1)
    alpha[2:, 0, 0] = 0.01
    alpha[0, 0, 1] = alpha[3, 0, 1] = 0.01
    assert np.array_equal(depth_to_top(alpha, 2.0), [[1.0, 0.0, math.nan]], equal_nan=True)


def test_tensors_and_lower_precision_are_welcome(pair):
    tensors = [torch.from_numpy(v).requires_grad_() for v in pair]
    for metric in (mse, psnr, ssim, iou, dice):
        assert metric(*tensors) == metric(*pair)
        assert isinstance(metric(*pair), float)
    assert mse(pair[0].astype(np.float32), pair[1]) == pytest.approx(mse(*pair), rel=1e-5)


ONES = np.ones(SHAPE)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mse(ONES, np.ones((3, 8, 9))), r"\(3, 9, 8\), the truth \(3, 8, 9\).*reconstruct on the grid"),
        (lambda: mse(ONES[0], ONES[0]), r"reconstruction has shape \(9, 8\); give a volume"),
        (lambda: iou(ONES, np.where(np.arange(8) == 2, np.nan, ONES)), r"truth holds nan at cell \(0, 0, 2\)"),
        (lambda: dice(ONES * math.inf, ONES), "reconstruction holds inf"),
        (lambda: mse("volume", ONES), "must be an array of numbers.*got str"),
        (lambda: psnr(ONES, ONES, bounds=(0.2, 0.1)), "bounds=.*high above low"),
        (lambda: psnr(ONES, ONES, bounds=0.2), "bounds=0.2 must be two numbers"),  # pyright: ignore[reportArgumentType]
        (lambda: ssim(ONES, ONES, window=4), "window=4 must be odd"),
        (lambda: ssim(ONES, ONES, window=9), "window=9 must be odd and fit into slices of 9 x 8"),
        (lambda: iou(ONES, ONES, threshold=math.nan), "threshold=nan"),
        (lambda: mask_iou(ONES, ONES), "masks must be boolean"),
        (lambda: mask_dice(ONES > 0, ONES[0] > 0), r"\(3, 9, 8\), the true one \(9, 8\)"),
        (lambda: depth_to_top(ONES, 0), "thickness=0 must be above 0"),
    ],
)
def test_bad_volumes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
