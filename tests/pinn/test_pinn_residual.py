"""The residual vanishes for solutions of the heat equation that can be written down."""

import torch

from nefty.core.grid import Grid
from nefty.fields.neural import NeuralField
from nefty.pinn.forward_check import CosineModes, KnownDiffusivity, Mode, flash_modes
from nefty.pinn.networks import Jet
from nefty.pinn.points import Product, Scattered
from nefty.pinn.residual import diffusivity, residual
from support.tiny_pinns import random_axes

SIZE, SPAN = (1.0, 3.0, 4.0), 2.0
WEIGHTS = torch.tensor([(2 / s) ** 2 * SPAN for s in SIZE], dtype=torch.float64)


def jet_of(function, u):
    """By automatic differentiation."""
    u = u.clone().requires_grad_()
    value = function(u)
    (first,) = torch.autograd.grad(value.sum(), u, create_graph=True)
    second = [torch.autograd.grad(first[:, a].sum(), u, retain_graph=True)[0][:, a] for a in (1, 2, 3)]
    laplacian = sum(c * s for c, s in zip(WEIGHTS, second, strict=True))
    return Jet(value, first[:, 0], first[:, 1:].T, torch.as_tensor(laplacian))


def some_points(generator, n=50):
    return 2 * torch.rand((n, 4), generator=generator, dtype=torch.float64) - 1


def test_it_vanishes_for_decaying_modes_of_one_material(generator):
    exact = CosineModes([Mode(0.5, (1, 0, 0)), Mode(0.3, (2, 1, 1))], size=SIZE, alpha=0.13, span=SPAN)
    u = some_points(generator)
    found = residual(jet_of(exact, u), diffusivity(KnownDiffusivity(0.13), Scattered(u)), WEIGHTS, 1.0)
    assert found.abs().max() < 1e-12
    wrong = residual(jet_of(exact, u), diffusivity(KnownDiffusivity(0.12), Scattered(u)), WEIGHTS, 1.0)
    assert wrong.abs().max() > 0.01


def test_it_vanishes_for_the_flash_of_the_forward_check(generator):
    exact = CosineModes(flash_modes(), size=SIZE, alpha=0.13, span=SPAN)
    u = some_points(generator)
    found = residual(jet_of(exact, u), diffusivity(KnownDiffusivity(0.13), Scattered(u)), WEIGHTS, 1.0)
    assert found.abs().max() < 1e-11


def test_modes_of_the_flash_add_up_to_the_flash():
    place = torch.stack([torch.linspace(-1, 1, 9, dtype=torch.float64), torch.zeros(9), torch.zeros(9)], dim=1)
    z = (place[:, 0] + 1) / 2
    found = CosineModes(flash_modes(0.2)).initial(place)
    torch.testing.assert_close(found, torch.exp(-(z**2) / (2 * 0.2**2)), atol=1e-4, rtol=0)


class Ramp:
    """alpha = 1 + z + y/2 + x/4 in lengths: a field that differs from place to place."""

    def at(self, points, size=None):
        z, y, x = (points[:, a] / 2 * SIZE[a] for a in range(3))
        return 1 + z + y / 2 + x / 4


def quadratic(u):
    """A solution of the heat equation where alpha is ``Ramp``'s."""
    t, z, y, x = ((u[:, 0] + 1) / 2 * SPAN, *((u[:, a] + 1) / 2 * SIZE[a - 1] for a in (1, 2, 3)))
    # div(alpha grad T0) with T0 = z^2 + y^2 + x^2: 6 alpha + 2 z + 2 y/2 + 2 x/4.
    rate = 6 * (1 + z + y / 2 + x / 4) + 2 * z + y + x / 2
    # That rate is linear in the place; T = T0 + t rate + t^2/2 div(alpha grad rate) is then exact.
    gradient = (6 + 2, 3 + 1, 1.5 + 0.5)
    again = gradient[0] * 1 + gradient[1] * 0.5 + gradient[2] * 0.25
    return z**2 + y**2 + x**2 + t * rate + t**2 / 2 * again


def test_it_vanishes_for_a_manufactured_solution_in_a_part_that_varies(generator):
    u = some_points(generator)
    found = residual(jet_of(quadratic, u), diffusivity(Ramp(), Scattered(u)), WEIGHTS, 1.0)
    assert found.abs().max() < 1e-11
    flat = diffusivity(Ramp(), Scattered(u))._replace(gradient=torch.zeros(3, 50, dtype=torch.float64))
    assert residual(jet_of(quadratic, u), flat, WEIGHTS, 1.0).abs().max() > 1


def test_it_is_the_time_derivative_minus_the_divergence_in_physical_units(generator):
    """Scale 1 means t_end times the residual in K per time."""
    u = some_points(generator)

    def heating(u):
        return 3.0 * (u[:, 0] + 1) / 2 * SPAN + 0 * u.sum(1) ** 2

    found = residual(jet_of(heating, u), diffusivity(KnownDiffusivity(0.1), Scattered(u)), WEIGHTS, 2.0)
    torch.testing.assert_close(found, torch.full_like(found, SPAN * 3.0 / 2.0))


def test_gradient_of_a_neural_field_is_that_of_differences(generator):
    field = NeuralField(
        Grid((4, 4, 4), SIZE), depth=2, width=8, bands=2, skip=None, activation="tanh", horizon=0,
        generator=generator, dtype=torch.float64,
    )  # fmt: skip
    u = some_points(generator, 5)
    found = diffusivity(field, Scattered(u))
    for axis in range(3):
        move = torch.zeros(4, dtype=torch.float64)
        move[axis + 1] = 1e-5
        ahead, behind = (diffusivity(field, Scattered(u + s * move)).alpha for s in (1, -1))
        torch.testing.assert_close(found.gradient[axis], (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-8)


def test_points_along_axes_give_the_same_as_the_scattered_ones(generator):
    field = NeuralField(
        Grid((4, 4, 4), SIZE), depth=2, width=8, bands=2, skip=None, horizon=0, generator=generator, dtype=torch.float64
    )
    axes = random_axes(generator, (2, 3, 4, 5))
    u = torch.cartesian_prod(*axes)
    jet = jet_of(quadratic, u)
    together = Jet(jet.value.view(2, 3, 4, 5), jet.time.view(2, 3, 4, 5), jet.gradient.reshape(3, 2, 3, 4, 5),
                   jet.laplacian.view(2, 3, 4, 5))  # fmt: skip
    one = residual(jet, diffusivity(field, Scattered(u)), WEIGHTS, 3.0)
    other = residual(together, diffusivity(field, Product(axes)), WEIGHTS, 3.0)
    torch.testing.assert_close(one, other.flatten())
