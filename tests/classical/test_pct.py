import numpy as np
import pytest

from nefty.classical import decays as module
from nefty.classical.pct import pct
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence


@pytest.fixture
def sequence(rng):
    frames = 1 + rng.random((15, 5, 8)) * np.linspace(1, 3, 8)
    return Sequence(frames=frames, times=np.arange(1.0, 16.0))


def standardised(x, how):
    """Pixels by time."""
    if how == "pixel":
        return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    if how == "frame":
        return (x - x.mean(axis=0)) / x.std(axis=0)
    return x


@pytest.mark.parametrize("block", [1 << 22, 15 * 7])
@pytest.mark.parametrize("how", ["pixel", "frame", "none"])
def test_it_is_the_singular_value_decomposition(sequence, how, block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    found = pct(sequence, components=5, standardise=how)
    x = standardised(sequence.frames.reshape(15, 40).T, how)
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    np.testing.assert_allclose(found.singular_values, s[:5], rtol=1e-10)
    np.testing.assert_allclose(found.explained, s[:5] ** 2 / (x**2).sum(), rtol=1e-10)
    for k in range(5):
        sign = np.sign(found.curves[k] @ vt[k])
        np.testing.assert_allclose(found.curves[k], sign * vt[k], atol=1e-9)
        np.testing.assert_allclose(found.images[k].ravel(), sign * u[:, k], atol=1e-9)
    assert found.standardise == how


def test_the_sign_is_fixed_by_the_largest_entry_of_the_curve(sequence):
    found = pct(sequence, standardise="none")
    turned = pct(Sequence(frames=-sequence.frames, times=sequence.times), standardise="none")
    for curve in found.curves:
        assert curve[np.abs(curve).argmax()] > 0
    np.testing.assert_allclose(turned.curves, found.curves, atol=1e-9)
    np.testing.assert_allclose(turned.images, -found.images, atol=1e-9)


def test_all_components_make_the_recording_again(sequence):
    found = pct(sequence, components=15, standardise="none")
    again = np.einsum("k,kyx,kt->tyx", found.singular_values, found.images, found.curves)
    np.testing.assert_allclose(again, sequence.frames, rtol=1e-10)
    assert found.explained.sum() == pytest.approx(1.0)


def test_a_gain_does_not_change_pixels_standardised_one_by_one(sequence, rng):
    gained = Sequence(frames=sequence.frames * (1 + rng.random((5, 8))), times=sequence.times)
    np.testing.assert_allclose(pct(gained).singular_values, pct(sequence).singular_values, rtol=1e-10)


def test_masked_and_constant_pixels(sequence):
    mask = np.ones((5, 8), dtype=bool)
    mask[2, 3] = False
    frames = sequence.frames.copy()
    frames[:, 0, 0] = 7.0
    found = pct(Sequence(frames=frames, times=sequence.times, mask=mask))
    assert np.isnan(found.images[:, 2, 3]).all()
    assert (found.images[:, 0, 0] == 0).all()
    assert np.isfinite(found.singular_values).all()


def test_more_components_than_there_are_is_refused(sequence):
    with pytest.raises(InputError, match="more than there are, 15"):
        pct(sequence, components=16)
    with pytest.raises(InputError, match="pixel"):
        pct(sequence, standardise="pixels")


def test_the_mask_is_where_a_component_stands_out(rng):
    times = np.arange(1.0, 61.0)
    frames = 1 / np.sqrt(times)[:, None, None] * np.ones((1, 20, 20)) + 1e-3 * rng.standard_normal((60, 20, 20))
    frames[:, 5:9, 6:12] += 0.1 * np.sqrt(times)[:, None, None] / 8
    found = pct(Sequence(frames=frames, times=times)).estimate()
    over = np.zeros((20, 20), dtype=bool)
    over[5:9, 6:12] = True
    np.testing.assert_array_equal(found.mask, over)
    assert np.isnan(found.depth).all()
    assert "component" in found.note
