"""Errors of frames: as large, as smooth and as slow as the residual that they are drawn from."""

import numpy as np
import pytest

from nefty.inversion.ensemble.frame_errors import FrameErrors, smooth_image

COUNTED = np.ones((40, 40), dtype=bool)


def made(white, smooth, seed=0):
    random = np.random.default_rng(seed)
    course = np.linspace(1, 2, 30)
    image = smooth_image(random, COUNTED.shape, (2.0, 2.0))
    return white * random.standard_normal((30, 40, 40)) + smooth * course[:, None, None] * image


@pytest.mark.parametrize(("white", "smooth"), [(1.0, 0.0), (0.3, 1.0), (0.0, 1.0)])
def test_what_is_drawn_is_as_large_as_the_residual(white, smooth):
    left = made(white, smooth)
    errors = FrameErrors.of(left, COUNTED, (7.0, 7.0))
    drawn = np.stack([errors.drawn(np.random.default_rng(i)) for i in range(6)])
    assert errors.white == pytest.approx(white, abs=0.05)
    assert drawn.std() == pytest.approx(left.std(), rel=0.3)


def test_smooth_errors_are_alike_next_to_each_other():
    errors = FrameErrors.of(made(0.0, 1.0), COUNTED, (7.0, 7.0))
    drawn = errors.drawn(np.random.default_rng(1))
    assert np.corrcoef(drawn[:, :, 1:].ravel(), drawn[:, :, :-1].ravel())[0, 1] > 0.85
    assert abs(errors.courses[0, -1]) > 1.5 * abs(errors.courses[0, 0])


def test_pure_noise_has_hardly_any_smooth_errors():
    errors = FrameErrors.of(made(1.0, 0.0), COUNTED, (7.0, 7.0))
    assert np.sqrt((errors.courses**2).mean(axis=1)).max() < 0.15


def test_images_have_a_standard_deviation_of_one():
    images = [smooth_image(np.random.default_rng(i), (30, 50), (3.0, 1.0)) for i in range(20)]
    assert np.std(images) == pytest.approx(1.0, abs=0.1)


def test_model_errors_can_be_left_out():
    errors = FrameErrors.of(made(0.0, 1.0), COUNTED, (7.0, 7.0))
    assert errors.drawn(np.random.default_rng(0), 0.0).std() < 0.1
