import dataclasses

import numpy as np
import pytest
import torch

from nefty.core.errors import InputError
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from nefty.pinn.problem import build_problem, check, flash_temperature, residual_scale


def test_initial_temperature_is_the_flash_sampled_at_the_cells(recording):
    for flash in (
        GaussianFlash(7.0, 1.5, 0.2, centre=(1.0, 2.0)),
        GaussianFlash(7.0, 1.5, 0.2),
        UniformFlash(7.0, 0.3),
    ):
        problem = build_problem(dataclasses.replace(recording, excitation=flash), 4, 0.1, torch.float64)
        axes = [
            2 * torch.from_numpy(c.ravel()) / s - 1
            for c, s in zip(problem.grid.centres(), problem.grid.size, strict=True)
        ]
        found = problem.initial(torch.cartesian_prod(*axes)).view(problem.grid.shape)
        np.testing.assert_allclose(found, flash.shape(problem.grid), rtol=1e-12)


def test_everything_is_without_dimension(recording):
    """The same part in other units of length, time and temperature is the same problem."""
    one = build_problem(recording, 4, 0.1, torch.float64)
    flash = GaussianFlash(amplitude=300.0, width=1.5e-3, depth=0.2e-3)
    other = build_problem(
        dataclasses.replace(
            recording,
            frames=3 * recording.frames,
            times=60 * recording.times,
            size=(1e-3, 4e-3, 5e-3),
            excitation=flash,
            truth=recording.truth * 1e-6 / 60,
        ),
        4,
        0.1 * 1e-6 / 60,
        torch.float64,
    )
    torch.testing.assert_close(one.frames, other.frames)
    torch.testing.assert_close(one.times, other.times)
    torch.testing.assert_close(one.weights * 0.1, other.weights * (0.1 * 1e-6 / 60))
    assert one.scale == pytest.approx(other.scale)


def test_scale_of_the_residual_is_that_of_the_flash():
    """Of T0 = cos(pi z/H), alpha lap(T0) t_end = -alpha (pi/H)^2 t_end T0, whose root mean square is 1/sqrt(2)."""
    weights = torch.tensor([(2 / 0.5) ** 2 * 3.0, 1.0, 1.0])
    scale = residual_scale(lambda place: torch.cos(np.pi * (place[:, 0] + 1) / 2), weights, 0.2)
    assert scale == pytest.approx(0.2 * (np.pi / 0.5) ** 2 * 3.0 / np.sqrt(2), rel=1e-6)


def test_flash_is_even_at_the_front():
    grid = type("Box", (), {"size": (1.0, 2.0, 2.0)})
    place = torch.tensor([[-1.0, 0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    value = flash_temperature(GaussianFlash(5.0, 1.0, 0.2), grid)(place)  # pyright: ignore[reportArgumentType]
    (slope,) = torch.autograd.grad(value.sum(), place)
    assert value.item() == 1.0
    assert (slope == 0).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"observe": "back"}, "front face"),
        ({"excitation": TopHatPulse(), "truth": None}, "TopHatPulse"),
        ({"excitation": None}, "nothing"),
        ({"excitation": np.ones((4, 8, 10))}, "ndarray"),
        ({"excitation": UniformFlash(-1.0, 0.1)}, "amplitude=-1"),
        ({"boundary": Boundary(front="robin", h_front=0.1)}, "adiabatic"),
    ],
)
def test_what_the_networks_have_no_place_for_is_refused(recording, changes, words):
    with pytest.raises(InputError, match=words):
        check(dataclasses.replace(recording, **changes))


def test_a_recording_without_values_is_refused(recording):
    mask = np.zeros(recording.shape[1:], dtype=bool)
    mask[0, 0] = True
    frames = recording.frames.copy()
    frames[:, 0, 0] = np.nan
    with pytest.raises(InputError):
        check(dataclasses.replace(recording, frames=frames, mask=mask))
