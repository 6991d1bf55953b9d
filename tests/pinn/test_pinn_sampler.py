import dataclasses

import numpy as np
import torch

from nefty.pinn.points import Product, Scattered
from nefty.pinn.problem import build_problem
from nefty.pinn.sampler import Sampler
from support.tiny_pinns import tiny


def sampler(recording, generator, variant="gradnorm", **changes):
    settings = tiny(variant, **changes)
    product = variant == "spinn"
    return Sampler(build_problem(recording, 4, 0.1), settings.points, product=product, soft=False, generator=generator)


def test_scattered_points_are_uniform_in_order_of_time_and_new_each_time(recording, generator):
    draw = sampler(recording, generator, points__collocation=4000)
    batch = draw(0)
    assert isinstance(batch.collocation, Scattered)
    u = batch.collocation.u
    assert u.shape == (4000, 4)
    assert (u[:, 0].diff() >= 0).all()
    assert u.abs().max() <= 1
    np.testing.assert_allclose(u.mean(0), 0, atol=0.05)
    np.testing.assert_allclose(u.var(0), 1 / 3, rtol=0.1)
    again = draw(1).collocation
    assert isinstance(again, Scattered)
    assert not torch.equal(again.u, u)


def test_points_along_axes_are_drawn_anew_every_so_often(recording, generator):
    draw = sampler(recording, generator, "spinn", points__redraw=3, points__axes=(5, 4, 3, 2))
    first, *others = (draw(i).collocation for i in range(4))
    assert isinstance(first, Product)
    assert first.shape == (5, 4, 3, 2)
    assert others[0] is first
    assert others[1] is first
    assert others[2] is not first


def test_values_are_those_of_the_frames_where_they_lie(recording, generator):
    batch = sampler(recording, generator)(0)
    assert isinstance(batch.data, Scattered)
    t, z, y, x = batch.data.u.double().T
    frame = torch.searchsorted(torch.linspace(0.5, 3.0, 6), ((t + 1) / 2 * 3.0).float() - 0.1)
    row, column = ((y + 1) / 2 * 8).long(), ((x + 1) / 2 * 10).long()
    np.testing.assert_allclose(batch.frames, recording.frames[frame, row, column] / 100, rtol=1e-6)
    np.testing.assert_allclose(z, -1 + 1 / 4)  # the centre of the first of four layers


def test_only_counted_values_are_drawn(recording, generator):
    frames = recording.frames.copy()
    frames[:, :, 1:] = np.nan
    batch = sampler(dataclasses.replace(recording, frames=frames), generator)(0)
    assert isinstance(batch.data, Scattered)
    assert (batch.data.u[:, 3] == batch.data.u[0, 3]).all()
    assert (batch.frames > 0).all()


def test_initial_points_lie_at_the_flash(recording, generator):
    batch = sampler(recording, generator)(0)
    assert isinstance(batch.initial, Scattered)
    u = batch.initial.u
    assert (u[:, 0] == -1).all()
    z, y, x = ((u[:, a] + 1) / 2 * s for a, s in ((1, 1.0), (2, 4.0), (3, 5.0)))
    expected = torch.exp(-(z**2) / (2 * 0.2**2) - ((y - 2) ** 2 + (x - 2.5) ** 2) / (2 * 1.5**2))
    torch.testing.assert_close(batch.flash, expected)
