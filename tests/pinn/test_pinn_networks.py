"""Values and derivatives of the networks against automatic differentiation; conditions that hold by construction."""

import pytest
import torch

from nefty.pinn.features import axis_features
from nefty.pinn.networks import Jet, TemperatureNetwork
from nefty.pinn.points import Product, Scattered
from nefty.pinn.separable import SeparableNetwork
from support.tiny_pinns import random_axes

WEIGHTS = torch.tensor([3.0, 0.7, 1.9], dtype=torch.float64)


def features(lateral="periodic", hard=True):
    return axis_features(lateral, hard=hard, harmonics=2, cooling=True)


def scattered_network(generator, lateral="periodic", hard=True):
    network = TemperatureNetwork(features(lateral, hard), depth=3, width=7, generator=generator, dtype=torch.float64)
    return biased(network, generator)


def separable_network(generator, lateral="periodic", hard=True):
    network = SeparableNetwork(
        features(lateral, hard), depth=2, width=6, rank=5, generator=generator, dtype=torch.float64
    )
    return biased(network, generator)


def biased(network, generator):
    """Biases are 0 at first; a test with all at 0 would not see them."""
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.ndim == 1:
                parameter.copy_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
    return network


def by_autograd(function, u) -> Jet:
    """The jet of a function of points (n, 4), by nested automatic differentiation."""
    u = u.clone().requires_grad_()
    value = function(u)
    (first,) = torch.autograd.grad(value.sum(), u, create_graph=True)
    second = [torch.autograd.grad(first[:, a].sum(), u, create_graph=True)[0][:, a] for a in (1, 2, 3)]
    laplacian = sum(c * s for c, s in zip(WEIGHTS, second, strict=True))
    return Jet(value, first[:, 0], first[:, 1:].T, torch.as_tensor(laplacian))


def pointwise_product(network, u):
    """A separable network at scattered points, written as its definition: sum_r prod_axes f_axis,r(u_axis)."""
    factors = [axis(u[:, a]) for a, axis in enumerate(network.axes)]
    return (factors[0] * factors[1] * factors[2] * factors[3]).sum(1)


@pytest.mark.parametrize("hard", [True, False])
def test_jet_of_a_scattered_network_is_that_of_autograd(generator, hard):
    network = scattered_network(generator, hard=hard)
    u = 2 * torch.rand((11, 4), generator=generator, dtype=torch.float64) - 1
    expected = by_autograd(lambda at: network(Scattered(at)), u)
    for found, right in zip(network.jet(Scattered(u), WEIGHTS), expected, strict=True):
        torch.testing.assert_close(found, right)


def test_gradient_of_a_jet_by_the_weights_is_that_of_autograd(generator):
    network = scattered_network(generator)
    u = 2 * torch.rand((11, 4), generator=generator, dtype=torch.float64) - 1

    def loss(jet):
        return (jet.value + 2 * jet.time - jet.laplacian + (jet.gradient * WEIGHTS[:, None]).sum(0)).square().mean()

    found = torch.autograd.grad(loss(network.jet(Scattered(u), WEIGHTS)), list(network.parameters()))
    right = torch.autograd.grad(loss(by_autograd(lambda at: network(Scattered(at)), u)), list(network.parameters()))
    for one, other in zip(found, right, strict=True):
        torch.testing.assert_close(one, other)


def test_spinn_value_and_all_derivatives_are_those_of_the_pointwise_product(generator):
    network = separable_network(generator)
    axes = random_axes(generator, (3, 4, 2, 5))
    points, u = Product(axes), torch.cartesian_prod(*axes)
    expected = by_autograd(lambda at: pointwise_product(network, at), u)
    found = network.jet(points, WEIGHTS)
    torch.testing.assert_close(network(points).flatten(), expected.value)
    torch.testing.assert_close(found.value.flatten(), expected.value)
    torch.testing.assert_close(found.time.flatten(), expected.time)
    torch.testing.assert_close(found.gradient.flatten(1), expected.gradient)
    torch.testing.assert_close(found.laplacian.flatten(), expected.laplacian)


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_each_second_derivative_of_spinn_by_itself(generator, axis):
    network = separable_network(generator)
    axes = random_axes(generator, (3, 3, 3, 3))
    one = torch.zeros(3, dtype=torch.float64)
    one[axis - 1] = 1
    u = torch.cartesian_prod(*axes).requires_grad_()
    (first,) = torch.autograd.grad(pointwise_product(network, u).sum(), u, create_graph=True)
    second = torch.autograd.grad(first[:, axis].sum(), u)[0][:, axis]
    torch.testing.assert_close(network.jet(Product(axes), one).laplacian.flatten(), second)


def test_spinn_gradient_by_the_weights_is_that_of_autograd(generator):
    network = separable_network(generator)
    axes = random_axes(generator, (3, 3, 3, 3))
    u = torch.cartesian_prod(*axes)
    found = network.jet(Product(axes), WEIGHTS)
    right = by_autograd(lambda at: pointwise_product(network, at), u)
    parameters = list(network.parameters())
    one = torch.autograd.grad((found.time - found.laplacian).square().mean(), parameters)
    other = torch.autograd.grad((right.time - right.laplacian).square().mean(), parameters)
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a, b)


def ends(axis, end, generator):
    """Coordinates of four axes, with one of them at an end."""
    there = torch.tensor([end], dtype=torch.float64)
    t, z, y, x = (there if a == axis else u for a, u in enumerate(random_axes(generator, (3, 3, 3, 3))))
    return t, z, y, x


@pytest.mark.parametrize("build", [scattered_network, separable_network])
def test_faces_are_adiabatic_and_sides_periodic_whatever_the_weights(build, generator):
    network = build(generator)
    state = generator.get_state()

    def jet(axis, end):
        generator.set_state(state)
        axes = ends(axis, end, generator)
        product = isinstance(network, SeparableNetwork)
        return network.jet(Product(axes) if product else Scattered(torch.cartesian_prod(*axes)), WEIGHTS)

    for end in (-1.0, 1.0):
        assert jet(1, end).gradient[0].abs().max() < 1e-12
    assert not torch.allclose(jet(1, -1.0).value, jet(1, 1.0).value)
    for axis in (2, 3):
        low, high = jet(axis, -1.0), jet(axis, 1.0)
        for one, other in zip(low, high, strict=True):
            torch.testing.assert_close(one, other)
        assert low.gradient[axis - 1].abs().max() > 1e-6


@pytest.mark.parametrize("build", [scattered_network, separable_network])
def test_adiabatic_sides_have_no_slope(build, generator):
    network = build(generator, lateral="adiabatic")
    for axis in (2, 3):
        axes = ends(axis, 1.0, generator)
        product = isinstance(network, SeparableNetwork)
        points = Product(axes) if product else Scattered(torch.cartesian_prod(*axes))
        assert network.jet(points, WEIGHTS).gradient[axis - 1].abs().max() < 1e-12


def test_the_paper_network_has_the_stated_number_of_unknowns():
    network = TemperatureNetwork(axis_features("periodic", hard=True, harmonics=1, cooling=False))
    # features: t, cos z, sin and cos of y and x
    assert sum(p.numel() for p in network.parameters()) == (6 + 1) * 128 + 4 * (128 + 1) * 128 + (128 + 1)
