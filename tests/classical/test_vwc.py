import numpy as np
import pytest
from scipy import integrate

from nefty.classical.vwc import Admm, TruncatedSvd, kernel, virtual_wave
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.physics.slab.reference_decay import reference_decay
from support.classical_slabs import over_half_space, over_slab, slab_beside_half_space


def test_the_kernel_takes_echoes_to_the_slabs_decay():
    """T_virt = [delta(t') + 2 sum_n delta(t' - 2 n L/c)]/c is the slab's."""
    times, alpha, thickness, speed = np.geomspace(0.01, 2, 20), 0.7, 1.3, 4.0
    echoes = 2 * thickness / speed * np.arange(12)
    strengths = np.where(echoes > 0, 2.0, 1.0) / speed
    decay = kernel(times, alpha, echoes, speed) @ strengths
    np.testing.assert_allclose(decay, reference_decay(times, alpha, thickness), rtol=1e-10)


def test_the_kernel_keeps_a_constant():
    total = integrate.quad(lambda late: float(kernel([0.3], 2.0, [late], 1.7)[0, 0]), 0, np.inf)[0]
    assert total == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("inverse", [TruncatedSvd(), Admm()])
@pytest.mark.parametrize(("frames", "end"), [(200, 0.7), (400, 1.0), (400, 3.0)])
def test_the_echo_of_the_back_wall_is_within_three_percent(frames, end, inverse):
    sequence = slab_beside_half_space(frames, end)
    found = virtual_wave(sequence, 1.0, inverse=inverse)
    np.testing.assert_allclose(over_slab(found.depth), 1.0, rtol=0.03)
    np.testing.assert_allclose(over_slab(found.strength), 2.0, rtol=0.25)
    assert np.isnan(over_half_space(found.depth)).all()


def test_the_echo_time_goes_with_the_speed_and_the_depth_does_not():
    sequence = slab_beside_half_space(200, 1.5)
    slow, fast = (virtual_wave(sequence, 1.0, speed=c, inverse=TruncatedSvd(rank=12)) for c in (1.0, 10.0))
    np.testing.assert_allclose(over_slab(fast.depth), over_slab(slow.depth), rtol=1e-9)
    np.testing.assert_allclose(over_slab(fast.echo_time), over_slab(slow.echo_time) / 10, rtol=1e-9)
    np.testing.assert_allclose(slow.depth, slow.speed * slow.echo_time / 2)


def test_noise_cuts_the_rank_and_scatters_little():
    sequence = slab_beside_half_space(400, 1.5, noise=1e-3, seed=2)
    clean = virtual_wave(slab_beside_half_space(400, 1.5), 1.0, inverse=TruncatedSvd())
    noisy = virtual_wave(sequence, 1.0, inverse=TruncatedSvd())
    assert noisy.rank < clean.rank
    known = virtual_wave(slab_beside_half_space(400, 1.5, noise=1e-3, seed=2), 1.0, inverse=TruncatedSvd(rank=5))
    assert known.rank == 5
    for inverse in (TruncatedSvd(), Admm()):
        depths = over_slab(virtual_wave(sequence, 1.0, inverse=inverse).depth)
        # Resolution falls as depth/ln(SNR), 14 % here; the place of a single echo is far better known.
        np.testing.assert_allclose(depths, 1.0, rtol=0.05)
        assert depths.std() < 0.02


def test_admm_solves_its_minimisation():
    """Optimality: wave >= 0, gradient K'(K v - T) + lambda >= 0, and = 0 where v > 0; on an easy, damped problem."""
    times = 0.025 * np.arange(1, 61)
    sequence = Sequence(frames=reference_decay(times, 1.0, 1.0)[:, None, None], times=times)
    found = virtual_wave(sequence, 1.0, nodes=12, inverse=Admm(sparsity=1e-3, penalty=1e-3, iterations=5000))
    v = found.wave[:, 0, 0].astype(float)
    k = kernel(sequence.times, 1.0, found.virtual_times)
    data = sequence.frames[:, 0, 0]
    limit = 1e-3 * np.abs(k.T @ data).max()
    gradient = k.T @ (k @ v - data) + limit
    assert (v >= 0).all()
    assert gradient.min() > -0.05 * limit
    assert np.abs(gradient[v > 1e-4 * v.max()]).max() < 0.05 * limit


def test_a_masked_pixel_has_no_wave_and_alpha_is_needed():
    sequence = slab_beside_half_space(60, 1.5)
    mask = np.ones(sequence.shape[1:], dtype=bool)
    mask[0, 0] = False
    found = virtual_wave(sequence.with_mask(mask), 1.0, inverse=TruncatedSvd())
    assert np.isnan(found.wave[:, 0, 0]).all()
    assert np.isnan(found.depth[0, 0])
    assert "rank" in found.estimate().note
    assert found.estimate().mask is None
    with pytest.raises(InputError, match="alpha"):
        virtual_wave(sequence, None)  # pyright: ignore[reportArgumentType]


def test_a_shallow_layer_shows_its_first_echo_and_not_a_later_one():
    times = np.arange(1, 401) * 0.01
    frames = reference_decay(times, 1.0, 0.4)[:, None, None]
    for inverse in (TruncatedSvd(), Admm()):
        found = virtual_wave(Sequence(frames=frames, times=times), 1.0, inverse=inverse)
        assert found.depth[0, 0] == pytest.approx(0.4, rel=0.04)
