"""Fourier features and their annealing, against numbers computed by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.fields.encoding import FourierEncoding, annealing_weights

ROOT = math.sqrt(0.5)


def test_two_bands_of_a_point_are_sines_and_cosines_in_the_papers_order():
    point = torch.tensor([[0.25, -0.5, 1.0]], dtype=torch.float64)  # angles pi/4, -pi/2, pi and twice that
    expected = [ROOT, -1, 0, ROOT, 0, -1, 1, 0, 0, 0, -1, 1]
    assert np.allclose(FourierEncoding(2)(point), [expected], atol=1e-15)


def test_the_papers_encoding_has_72_features_of_octaves_without_the_coordinates():
    encoding = FourierEncoding()
    points = torch.rand(5, 3, dtype=torch.float64) * 2 - 1
    features = encoding(points)
    assert features.shape == (5, encoding.size) == (5, 72)
    for k in range(12):
        assert np.allclose(features[:, 6 * k : 6 * k + 3], np.sin(2**k * np.pi * points.numpy()), atol=1e-10)
        assert np.allclose(features[:, 6 * k + 3 : 6 * k + 6], np.cos(2**k * np.pi * points.numpy()), atol=1e-10)


def test_float32_points_lose_nothing_but_their_own_rounding():
    points = torch.rand(50, 3) * 2 - 1
    single, double = FourierEncoding()(points), FourierEncoding()(points.double())
    assert single.dtype == torch.float32
    assert (single - double).abs().max() < 1e-7


@pytest.mark.parametrize(
    ("beta", "expected"),
    [
        (0.0, [0, 0, 0]),
        (0.5, [0.5, 0, 0]),
        (1.0, [1, 0, 0]),
        (1 + 1 / 3, [1, 0.25, 0]),  # (1 - cos 60 deg)/2
        (2.25, [1, 1, (1 - ROOT) / 2]),
        (3.0, [1, 1, 1]),
    ],
)
def test_bands_open_one_after_the_other_along_a_cosine(beta, expected):
    assert np.allclose(annealing_weights(beta, 3), expected, atol=1e-15)
    encoding = FourierEncoding(3)
    encoding.open_to(beta)
    points = torch.rand(4, 3, dtype=torch.float64)
    assert np.allclose(encoding(points), encoding.basis(points).numpy() * np.repeat(expected, 6), atol=1e-6)


@given(st.floats(0, 12), st.floats(0, 12))
def test_a_band_never_closes_as_beta_grows_and_never_opens_before_a_lower_one(a, b):
    less, more = annealing_weights(min(a, b), 12), annealing_weights(max(a, b), 12)
    assert (more >= less).all()
    assert (more.diff() <= 0).all()
    assert more.min() >= 0
    assert more.max() <= 1


def test_all_bands_are_open_unless_closed_and_the_state_is_kept():
    encoding = FourierEncoding(4)
    assert torch.equal(encoding(torch.ones(1, 3)), encoding.basis(torch.ones(1, 3)))
    encoding.open_to(1.5)
    other = FourierEncoding(4)
    other.load_state_dict(encoding.state_dict())
    assert float(other.beta) == 1.5


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=3), st.integers(0, 2))
def test_the_two_ends_of_a_wrapped_axis_are_one_place(point, axis):
    first = torch.tensor([point, point], dtype=torch.float64)
    first[0, axis], first[1, axis] = -1, 1
    features = FourierEncoding(6)(first)
    assert np.allclose(features[0], features[1], atol=1e-12)


def test_an_axis_that_does_not_wrap_tells_its_ends_apart():
    ends = torch.tensor([[-1.0, 0.3, 0.2], [1.0, 0.3, 0.2]], dtype=torch.float64)
    features = FourierEncoding(2, wrap=(False, True, True))(ends)
    assert np.allclose(features[:, 0], [-1, 1])  # sin(pi u/2)
    assert np.allclose(features[:, [1, 2]], FourierEncoding(2)(ends)[:, [1, 2]])


def test_bands_from_log2_of_the_cells_on_tell_cells_nothing():
    u = torch.from_numpy(2 * Grid((16, 1, 1), (1, 1, 1)).centres()[0].ravel() - 1)
    points = torch.stack([u, u, u], dim=1)
    spread = FourierEncoding(7)(points).view(16, 7, 6).std(dim=0).amax(dim=1)
    assert (spread[:4] > 0.1).all()
    assert (spread[4:] < 1e-12).all()


def test_without_bands_the_features_are_the_coordinates():
    encoding = FourierEncoding(0)
    points = torch.rand(4, 3)
    assert encoding.size == 3
    assert torch.equal(encoding(points), points)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FourierEncoding(-1), "bands=-1 must be a whole number of at least 0"),
        (lambda: FourierEncoding(3, wrap=(True, False)), "wrap=.* must have three entries"),
        (lambda: FourierEncoding(3).open_to(3.5), "beta=3.5 is more than the 3 bands"),
        (lambda: FourierEncoding(3).open_to(-1), "beta=-1 must be at least 0"),
        (lambda: annealing_weights(1.0, 2.5), "bands=2.5"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_bad_encodings_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
