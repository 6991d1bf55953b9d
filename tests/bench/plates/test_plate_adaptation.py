import numpy as np
import pytest
import torch

import nefty
from nefty.bench.plates.adaptation import Adaptation, adapted
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.sequence import Sequence
from nefty.physics.materials import material

PVC = material("pvc")
SIZE = (5e-3, 2e-2, 3e-2)


def recording(frames=None, times=None):
    times = np.linspace(0.5, 180.0, 40) if times is None else times
    frames = 500 / np.sqrt(times)[:, None, None] * np.ones((1, 4, 6)) if frames is None else frames
    return Sequence(frames=frames, times=times, size=SIZE, noise=2.0)


def test_lengths_and_times_follow_the_fourier_number():
    found, length = adapted(recording(), Adaptation(), PVC)
    assert length == 5e-3
    assert found.size == pytest.approx((1.0, 4.0, 6.0))
    assert found.times[-1] == pytest.approx(5.0)
    unit = 180.0 / 5
    alpha = PVC.alpha_z * unit / length**2
    assert 0.1 < alpha < 0.2  # the bulk of the paper's slabs
    assert found.boundary.h_back == pytest.approx(PVC.loss(10.0) * unit / length)
    assert (found.boundary.back, found.boundary.front, found.boundary.lateral) == ("robin", "adiabatic", "adiabatic")


def test_the_papers_own_scale_can_be_asked_for():
    found, length = adapted(recording(), Adaptation(length=0.1, span=1.0, h_back=0.0, sides="periodic"), PVC)
    assert length == 0.1
    assert found.times[-1] == pytest.approx(1.0)
    assert found.size == pytest.approx((0.05, 0.2, 0.3))
    assert (found.boundary.back, found.boundary.lateral) == ("adiabatic", "periodic")
    assert isinstance(found.excitation, nefty.UniformFlash)
    assert found.excitation.depth == pytest.approx(0.05 * 0.05)


def test_the_amplitude_is_that_of_the_first_frame():
    """A plate that starts as A exp(-z^2/(2 w^2)) and is seen in counts: A comes out, whatever a count is."""
    grid = Grid((64, 4, 6), SIZE)
    times = np.linspace(2.0, 120.0, 30)
    flash = nefty.UniformFlash(amplitude=7.0, depth=0.05 * SIZE[0])
    model = nefty.HeatModel(grid, times, initial=flash, boundary=nefty.Boundary(lateral="adiabatic"), dtype="float64")
    frames = 13.0 * model(torch.full(grid.shape, PVC.alpha_z, dtype=torch.float64)).numpy()
    found, _ = adapted(recording(frames, times), Adaptation(), PVC)
    scale = found.frames[0, 0, 0] / frames[0, 0, 0]
    assert scale * 13.0 * 7.0 == pytest.approx(100.0, rel=0.02)
    np.testing.assert_allclose(found.frames, scale * frames, rtol=1e-6)
    assert found.noise == pytest.approx(2.0 * scale)


def test_the_unitless_model_is_the_physical_one():
    """The same plate with a Robin back face in both numbers gives the same frames."""
    times = np.linspace(1.0, 180.0, 12)
    unitless, length = adapted(recording(np.ones((12, 4, 6)), times), Adaptation(), PVC)
    assert unitless.size is not None
    unit = 180.0 / 5
    both = []
    for size, t, alpha, h, depth in (
        (SIZE, times, PVC.alpha_z, PVC.loss(10.0), 0.05 * SIZE[0]),
        (unitless.size, unitless.times, PVC.alpha_z * unit / length**2, unitless.boundary.h_back, 0.05),
    ):
        grid = Grid((32, 4, 6), size)
        boundary = nefty.Boundary(lateral="adiabatic", back="robin", h_back=h)
        flash = nefty.UniformFlash(amplitude=100.0, depth=depth)
        model = nefty.HeatModel(grid, t, initial=flash, boundary=boundary, dtype="float64")
        both.append(model(torch.full(grid.shape, alpha, dtype=torch.float64)).numpy())
    np.testing.assert_allclose(both[1], both[0], rtol=1e-5)
    assert both[0][-1, 0, 0] < 0.9 * both[0].mean(axis=(1, 2)).max()


def test_what_cannot_be_adapted_is_refused():
    with pytest.raises(InputError, match="not warmer than ambient"):
        adapted(recording(-np.ones((40, 4, 6))), Adaptation(), PVC)
    with pytest.raises(InputError, match="give pixel and thickness"):
        adapted(Sequence(frames=np.ones((3, 2, 2)), times=np.arange(1.0, 4.0)), Adaptation(), PVC)
