"""The engine against closed forms, its own energy, and finer meshes and steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from nefty.core.errors import InputError
from nefty.synth.parts.engine import Body, Losses, at_times, run_body, step_ends
from nefty.synth.parts.history import LampPulse
from nefty.synth.parts.mesh import Mesh, depth_faces

L, ALPHA, HEAT_CAPACITY = 4e-3, 4e-7, 1.3e6
K = ALPHA * HEAT_CAPACITY
Q = 1e4
PULSE = LampPulse(5e-3)
SIZES: dict[str, Any] = {"first": L / 200, "near": L / 40, "largest": L / 20}


def column(films=(), losses=None, refine=1, sizes=None, k_film=0.2, c_film=2e6):
    """A body of 2 x 2 columns, with films all over it."""
    mesh = Mesh(depth_faces(L, films, refine=refine, **(sizes or SIZES)), np.arange(3) * 1e-3, np.arange(3) * 1e-3)
    middle = (mesh.z[1:] + mesh.z[:-1]) / 2
    k, c = np.full(mesh.shape, K), np.full(mesh.shape, HEAT_CAPACITY)
    for top, bottom in films:
        k[(middle > top) & (middle < bottom)], c[(middle > top) & (middle < bottom)] = k_film, c_film
    return Body(mesh, k, k, k, c, np.ones(mesh.shape, dtype=bool), losses or Losses())


def surface(body, times, coarser=1.0):
    heat = np.full(body.mesh.shape[1:], Q)
    return at_times(run_body(body, heat, PULSE, times[-1], steps=step_ends(PULSE, times[-1], coarser)), times)[:, 0, 0]


def test_an_adiabatic_slab_is_that_of_the_closed_form():
    times = np.geomspace(0.04, 2 * L**2 / ALPHA, 60)
    rate = ALPHA * (np.arange(1, 3000)[:, None] * np.pi / L) ** 2
    pulse = PULSE.duration
    modes = np.exp(-rate * (times - pulse)) * -np.expm1(-rate * pulse) / (rate * pulse)
    exact = Q / (HEAT_CAPACITY * L) * (1 + 2 * modes.sum(axis=0))
    assert surface(column(), times) == pytest.approx(exact, rel=2.5e-3)
    assert surface(column(refine=3), times, 0.5) == pytest.approx(exact, rel=5e-4)


def test_a_slab_that_loses_heat_is_that_of_the_closed_form():
    """Carslaw and Jaeger, 3.11: modes cos(b z) + H/b sin(b z) with tan(b L) = 2 b H/(b^2 - H^2), H = h/k."""
    h = 60.0
    ratio = h / K
    times = np.geomspace(0.1, 2 * L**2 / ALPHA, 60)
    exact = np.zeros_like(times)
    for n in range(800):
        at: Any = brentq(
            lambda b: (b**2 - ratio**2) * math.sin(b * L) - 2 * b * ratio * math.cos(b * L),
            (n * np.pi + 1e-9) / L,
            ((n + 1) * np.pi - 1e-9) / L,
        )
        norm = ((at**2 + ratio**2) * L + 2 * ratio) / (2 * at**2)
        decay, pulse = ALPHA * at**2, PULSE.duration
        exact += np.exp(-decay * (times - pulse)) * -math.expm1(-decay * pulse) / (decay * pulse * norm)
    exact *= Q / HEAT_CAPACITY
    found = surface(column(losses=Losses(front=h, back=h), refine=2), times, 0.5)
    assert found == pytest.approx(exact, rel=1.5e-3)


def test_a_thin_film_is_the_resistance_of_two_slabs_in_contact():
    """By Laplace transform (Stehfest): two slabs with R between them, adiabatic, impulse at the front."""
    top, thick = 1e-3, 20e-6
    k_air = 0.026
    body = column([(top, top + thick)], refine=2, k_film=k_air, c_film=1.2e3)
    times = np.geomspace(0.2, 30, 25)
    found = surface(body, times, 0.5)

    def transformed(p):
        q = math.sqrt(p / ALPHA)
        lower = 1 / (K * q * math.tanh(q * (L - top - thick)))  # impedance of the lower slab
        below = lower + thick / k_air
        t = math.tanh(q * top)
        return Q / (K * q) * (K * q * below + t) / (1 + K * q * below * t)

    exact = np.array([_stehfest(transformed, t - PULSE.duration / 2) for t in times])
    assert found == pytest.approx(exact, rel=3e-3)


def test_a_finer_mesh_does_not_change_the_contrast_of_a_film():
    times = np.geomspace(0.2, 40, 30)
    film, sound = [(0.9e-3, 0.95e-3)], {"k_film": K, "c_film": HEAT_CAPACITY}
    coarse, fine = (
        surface(column(film, refine=refine), times) - surface(column(film, refine=refine, **sound), times)
        for refine in (1, 3)
    )
    assert np.abs(coarse - fine).max() < 0.01 * np.abs(fine).max()


def test_steps_converge_with_second_order():
    body, times = column(), np.array([0.5, 2.0, 10.0, 40.0])
    exact, *found = [surface(body, times, coarser) for coarser in (0.1, 0.5, 1.0, 2.0)]
    errors = [np.abs(f / exact - 1).max() for f in found]
    orders = np.log2(np.array(errors[1:]) / errors[:-1])
    assert (orders > 1.6).all()
    assert errors[1] < 5e-4


def block(h_holes=0.0, h=0.0, drilled=True):
    """A block of 10 x 12 columns with a hole in the middle, and a part that ends on one side."""
    mesh = Mesh(depth_faces(L, (), [1.5e-3], **SIZES), np.arange(11) * 5e-4, np.arange(13) * 5e-4)
    solid = np.ones(mesh.shape, dtype=bool)
    if drilled:
        solid[(mesh.z[:-1] > 1.5e-3 - 1e-12), 3:7, 4:8] = False
    k, c = np.full(mesh.shape, K), np.full(mesh.shape, HEAT_CAPACITY)
    losses = Losses(front=h, back=h, holes=h_holes, sides=h)
    return Body(mesh, k, 2 * k, 10 * k, c, solid, losses, ((True, False), (False, False)))


def test_heat_is_stored_or_lost_and_nothing_else():
    body = block(h_holes=20, h=10)
    heat = Q * (1 + 0.2 * np.random.default_rng(0).random(body.mesh.shape[1:]))
    run = run_body(body, heat, LampPulse(5e-3, 2e-3), 40.0, tolerance=1e-9)
    assert run.stored + run.lost == pytest.approx(run.given, rel=1e-7)
    area = 25e-8
    assert run.given[-1] == pytest.approx(heat.sum() * area)
    assert run.lost[-1] > 0.05 * run.given[-1]


def test_the_walls_of_a_hole_lose_heat_and_air_stays_cold():
    heat = np.full((10, 12), Q)
    closed = run_body(block(), heat, PULSE, 20.0)
    open_hole = run_body(block(h_holes=30), heat, PULSE, 20.0)
    assert closed.lost[-1] == 0
    assert open_hole.lost[-1] > 0
    assert open_hole.surface[-1, 4, 5] < closed.surface[-1, 4, 5]
    sound = run_body(block(drilled=False), heat, PULSE, 20.0)
    assert closed.surface[-1, 4, 5] > 1.05 * sound.surface[-1, 4, 5]


def test_axes_conduct_each_with_their_own_conductivity():
    """A stripe of heat across x spreads in a thin body by 2 alpha_x t."""
    mesh = Mesh(np.linspace(0, 2e-4, 4), np.arange(4) * 1e-3, np.arange(81) * 2.5e-4)
    k, c = np.full(mesh.shape, K), np.full(mesh.shape, HEAT_CAPACITY)
    body = Body(mesh, k, k, 5 * k, c, np.ones(mesh.shape, dtype=bool))
    x = (mesh.x[1:] + mesh.x[:-1]) / 2
    heat = np.tile(np.exp(-((x - x.mean()) ** 2) / (2 * 1e-3**2)), (3, 1)) * Q
    run = run_body(body, heat, PULSE, 1.0)
    last = run.surface[-1, 1]
    spread = (last * (x - x.mean()) ** 2).sum() / last.sum()
    assert spread == pytest.approx(1e-6 + 2 * 5 * ALPHA * (run.times[-1] - PULSE.duration / 2), rel=0.01)


def test_a_hole_through_the_front_is_refused():
    body = block()
    with pytest.raises(InputError, match="reaches the front"):
        Body(body.mesh, body.kz, body.ky, body.kx, body.heat_capacity, np.zeros(body.mesh.shape, dtype=bool))


def test_fields_must_fit_the_mesh():
    body = block()
    with pytest.raises(InputError, match="kz has shape"):
        Body(body.mesh, body.kz[1:], body.ky, body.kx, body.heat_capacity, body.solid)


def _stehfest(transform, t, n=14):
    """Inverse Laplace transform at t (Stehfest 1970)."""
    total = 0.0
    for k in range(1, n + 1):
        weight = sum(
            j ** (n // 2)
            * math.factorial(2 * j)
            / (
                math.factorial(n // 2 - j)
                * math.factorial(j)
                * math.factorial(j - 1)
                * math.factorial(k - j)
                * math.factorial(2 * j - k)
            )
            for j in range((k + 1) // 2, min(k, n // 2) + 1)
        )
        total += (-1) ** (k + n // 2) * weight * transform(k * math.log(2) / t)
    return total * math.log(2) / t
