"""A camera: gain times temperature plus noise, each from its own stream of one seed."""

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.synth.camera import Camera

PIXEL = (0.5, 0.25)


def scene(shape=(4, 40, 80)):
    return np.random.default_rng(7).uniform(1, 5, shape)


def filmed(camera, frames=None, seeds=(3, 5)):
    return camera.film((scene() if frames is None else frames).copy(), PIXEL, seeds)


def test_an_ideal_camera_changes_nothing():
    found, sigma = filmed(Camera())
    assert sigma == 0
    assert np.array_equal(found, scene())


def test_noise_is_that_of_the_seeds_as_a_share_of_the_peak_or_as_a_temperature():
    peak = scene().max()
    drawn = np.random.default_rng([3, 5]).standard_normal(scene().shape)
    share, sigma = filmed(Camera(noise=0.02))
    assert sigma == 0.02 * peak
    assert np.array_equal(share, scene() + sigma * drawn)
    absolute, sigma = filmed(Camera(sigma=0.7))
    assert sigma == 0.7
    assert np.array_equal(absolute, scene() + 0.7 * drawn)


def test_a_gain_multiplies_every_frame_alike_with_the_asked_spread():
    found, _ = filmed(Camera(gain=0.03))
    gains = found / scene()
    assert np.allclose(gains, gains[0], rtol=1e-12)
    assert gains[0].mean() == pytest.approx(1, abs=1e-12)
    assert gains[0].std() == pytest.approx(0.03, rel=1e-9)
    other, _ = filmed(Camera(gain=0.03), seeds=(3, 6))
    assert abs(np.corrcoef((other / scene())[0].ravel(), gains[0].ravel())[0, 1]) < 0.1


def test_gains_and_noise_do_not_change_each_other_and_the_noise_is_not_multiplied():
    both, sigma = filmed(Camera(noise=0.01, gain=0.05))
    only_gain, _ = filmed(Camera(gain=0.05))
    drawn = np.random.default_rng([3, 5]).standard_normal(scene().shape)
    assert sigma == 0.01 * scene().max()  # of the scene, not of what the uneven pixels make of it
    assert np.allclose(both - only_gain, sigma * drawn, rtol=0, atol=1e-13)


def test_each_pixel_has_its_own_gain_or_neighbours_are_alike():
    def alike(pattern, axis):  # correlation of neighbours
        a, b = (np.delete(pattern, edge, axis).ravel() for edge in (0, -1))
        return np.corrcoef(a, b)[0, 1]

    white = Camera(gain=0.03).gains((), (200, 200), PIXEL, (1, 2))[0]
    assert abs(alike(white, 0)) < 0.03
    smooth = Camera(gain=0.03, gain_length=2.0).gains((), (200, 200), PIXEL, (1, 2))[0]
    assert smooth.std() == pytest.approx(0.03, rel=1e-9)
    # white noise smoothed by a Gaussian of width w has the correlation exp(-d^2 / (4 w^2)) at distance d
    for axis, pixel in enumerate(PIXEL):
        assert alike(smooth, axis) == pytest.approx(np.exp(-(pixel**2) / (4 * 2.0**2)), abs=0.003)


def test_the_two_faces_have_gains_of_their_own():
    found, _ = filmed(Camera(gain=0.03), np.ones((2, 3, 30, 30)))
    assert np.allclose(found.std(axis=(-2, -1)), 0.03, rtol=1e-9)
    assert abs(np.corrcoef(found[0, 0].ravel(), found[1, 0].ravel())[0, 1]) < 0.15
    front, _ = filmed(Camera(gain=0.03), np.ones((3, 30, 30)))
    assert np.array_equal(found[0], front)


def test_a_single_pixel_has_the_mean_gain():
    found, _ = filmed(Camera(gain=0.03), np.ones((3, 1, 1)))
    assert (found == 1).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"noise": -0.1}, "noise=-0.1 must be at least 0"),
        ({"gain": float("nan")}, "gain=nan is not finite"),
        ({"noise": 0.1, "sigma": 1.0}, "give one of them"),
        ({"gain_length": 1.0}, "no effect without a gain"),
    ],
)
def test_what_makes_no_camera_is_refused(values, message):
    with pytest.raises(InputError, match=message):
        Camera(**values)


def test_gains_that_cannot_be_are_refused():
    with pytest.raises(InputError, match=r"gain=0.5 leaves pixels"):
        filmed(Camera(gain=0.5))
    with pytest.raises(InputError, match=r"gain_length=11 is more than half of the face; give at most 10"):
        filmed(Camera(gain=0.03, gain_length=11.0))
