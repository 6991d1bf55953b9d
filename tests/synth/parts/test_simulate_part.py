"""From a part to the rises of its pixels."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nefty.physics.materials import Material
from nefty.synth.parts.engine import Losses
from nefty.synth.parts.history import LampPulse
from nefty.synth.parts.part import Film, FlatHole, Gap, Heat, Outline, Part
from nefty.synth.parts.simulate import body_of, mesh_of, watch, watch_on

GFRP = Material(name="gfrp", alpha_z=1.6e-7, alpha_y=2.4e-7, alpha_x=2.4e-7, rho=1900, cp=1000)
FILM = Film(Outline("ellipse", (4e-3, 4e-3), (3.2e-3, 3.2e-3)), 0.6e-3, 60e-6, 0.16, 1.5e6)


def part(*defects, **changes):
    heat = Heat(1e4, LampPulse(5e-3, 2e-3))
    facts = {"thickness": 2e-3, "pixels": (16, 16), "pixel": 5e-4, "heat": heat, "fps": 10.0, "seconds": 25.0}
    return Part(GFRP, **{**facts, "defects": defects, **changes})


TIMES = np.geomspace(0.1, 25, 40)


def contrast(of, **how):
    mesh = mesh_of(of, **{k: v for k, v in how.items() if k != "coarser"})
    how.pop("refine", None)
    return (
        watch_on(mesh, of, TIMES, **how).frames
        - watch_on(mesh, dataclasses.replace(of, defects=()), TIMES, **how).frames
    )


def test_a_film_shows_over_itself_and_finer_cells_show_the_same():
    usual = contrast(part(FILM))
    finer = contrast(part(FILM), refine=2, coarser=0.5)
    peak = np.unravel_index(np.argmax(usual), usual.shape)
    assert all(abs(p - 7.5) <= 2 for p in peak[1:])
    assert np.abs(usual - finer).max() < 0.01 * usual.max()


def test_finer_pixels_show_nearly_the_same():
    usual, finer = contrast(part(FILM)), contrast(part(FILM), per_pixel=2)
    assert np.abs(usual - finer).max() < 0.05 * usual.max()


def test_a_sound_part_is_even_and_an_edge_is_cold():
    sound = watch(part(), TIMES).frames
    assert np.ptp(sound[-1]) < 1e-4 * sound[-1].mean()
    ending = watch(part(edges=((4, None), (None, None)), losses=Losses(sides=50.0)), TIMES).frames
    assert (ending[:, :4] == 0).all()
    assert ending[-1, 4, 8] < 0.999 * ending[-1, 12, 8]


def test_unheated_surroundings_take_heat():
    alone = watch(part(heat=dataclasses.replace(part().heat, beyond=False)), TIMES).frames
    assert alone[-1, 0, 0] < 0.5 * alone[-1, 8, 8]


def test_before_the_heating_there_is_nothing():
    frames = watch(part(), np.array([-1.0, -0.1, 0.2, 1.0])).frames
    assert (frames[:2] == 0).all()
    assert (frames[2:] > 0).all()


def test_a_body_is_what_the_part_says():
    outline = Outline("rectangle", (4e-3, 4e-3), (2e-3, 2e-3))
    gap, hole = Gap(outline, 0.5e-3, 20e-6), FlatHole(dataclasses.replace(outline, centre=(4e-3, 7e-3)), 1e-3)
    of = part(gap, hole)
    mesh = mesh_of(of)
    body = body_of(of, mesh)
    volume = mesh.volume
    assert volume[~body.solid].sum() == pytest.approx(4e-6 * 1e-3, rel=0.05)
    air = body.kz < 0.03
    assert volume[air].sum() == pytest.approx(4e-6 * 20e-6, rel=0.05)
    assert body.kx[0, 0, 0] / body.kz[0, 0, 0] == pytest.approx(1.5)
