"""Plates with flat-bottom holes: where the holes lie, and what a camera records of them."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.data.facts import Hole, Units
from nefty.physics.materials import material
from nefty.physics.slab.surface import slab_surface
from nefty.synth.camera import Camera
from nefty.synth.plates import CLEARANCE, DEPTHS, SIZE, WIDTHS, Plate, _resampled, draw_plate, record_plate
from support.known_facts import defects_of, simulation_of

COARSE = {"cell": (5e-4, 4e-3), "pixels": (20, 20), "seconds": 20.0}
QUIET = Camera()
WIDE = Hole("rectangular", (0.03, 0.07), (0.02, 0.024), 1.5e-3)
PLATE = Plate((WIDE,), alpha=1.3e-7, h_front=6e-6, h_back=1.2e-5)


@pytest.mark.parametrize("kind", ["round", "rectangular"])
@pytest.mark.parametrize("seed", range(4))
def test_holes_lie_inside_and_apart_with_sizes_and_depths_in_range(kind, seed):
    plate = draw_plate(seed, kind)
    assert len(plate.holes) == 12
    for hole in plate.holes:
        assert hole.kind == kind
        assert hole.depth in DEPTHS
        assert all(WIDTHS[0] <= w <= WIDTHS[1] for w in hole.width)
        assert kind == "rectangular" or hole.width[0] == hole.width[1]
        for at, width, side in zip(hole.centre, hole.width, SIZE[1:], strict=True):
            assert at - width / 2 >= CLEARANCE
            assert at + width / 2 <= side - CLEARANCE
    assert {hole.depth for hole in plate.holes} == set(DEPTHS)
    y, x = (np.linspace(0, s, 401) for s in SIZE[1:])
    over = np.sum([hole.covers(y[:, None], x) for hole in plate.holes], axis=0)
    assert over.max() == 1
    pvc = material("pvc")
    assert 0.9 <= plate.alpha / pvc.alpha_z <= 1.1
    assert pvc.loss(5) <= plate.h_front <= pvc.loss(15)
    assert pvc.loss(8) <= plate.h_back <= pvc.loss(25)


def test_a_seed_gives_one_plate_and_another_gives_another():
    assert draw_plate(3) == draw_plate(3)
    assert draw_plate(3) != draw_plate(4)
    assert draw_plate(3).alpha != draw_plate(3, "rectangular").alpha
    assert len(draw_plate(3, holes=5).holes) == 5
    assert 12 < len(draw_plate(3, holes=500).holes) < 500  # as many as there is room for


@pytest.mark.parametrize(
    ("values", "message"), [({"kind": "square"}, "kind='square' is unknown"), ({"seed": -1}, "seed")]
)
def test_what_cannot_be_drawn_is_named(values, message):
    with pytest.raises(InputError, match=message):
        draw_plate(**{"seed": 0, **values})


def test_a_hole_covers_a_disc_or_a_rectangle():
    y, x = np.meshgrid([0.0, 0.9, 1.1], [0.0, 1.8, 2.2], indexing="ij")
    rectangle, disc = (Hole(kind, (0.0, 0.0), (2.0, 4.0), 1.0) for kind in ("rectangular", "round"))
    np.testing.assert_array_equal(rectangle.covers(y, x), [[True, True, False], [True, True, False], [False] * 3])
    np.testing.assert_array_equal(disc.covers(y, x), [[True, True, False], [True, False, False], [False] * 3])
    assert rectangle.aspect == 2


def test_the_depth_map_says_what_lies_under_the_centre_of_a_pixel():
    depth = PLATE.depth_map((20, 20))  # pixels of 5 mm: rows 4 to 7 (20..40 mm) and columns 12 to 15 (58..82 mm)
    assert np.isfinite(depth).sum() == 4 * 4
    assert (depth[4:8, 12:16] == WIDE.depth).all()


@given(
    old=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    new=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    seed=st.integers(0, 99),
)
def test_resampling_keeps_the_mean_and_what_is_constant(old, new, seed):
    frame = np.random.default_rng(seed).uniform(1, 2, old)
    found = _resampled(frame, new)
    assert found.shape == new
    assert found.mean() == pytest.approx(frame.mean(), rel=1e-12)
    assert frame.min() - 1e-12 <= found.min() <= found.max() <= frame.max() + 1e-12
    np.testing.assert_allclose(_resampled(np.full(old, 3.0), new), 3, rtol=1e-12)
    if old == new:
        np.testing.assert_allclose(found, frame, rtol=1e-12)


def test_resampled_pixels_are_the_overlap_of_old_ones():
    found = _resampled(np.array([[1.0, 2.0, 4.0]]), (1, 2))
    np.testing.assert_allclose(found, [[(1 + 2 / 2) / 1.5, (2 / 2 + 4) / 1.5]])


@pytest.fixture(scope="module")
def exact():
    """As an ideal camera sees it."""
    return record_plate(PLATE, camera=QUIET, rise=8.0, **COARSE)


def test_a_recording_begins_with_the_rise_asked_for_and_cools_like_a_slab(exact):
    assert exact.shape == (10 + 200, 20, 20)
    assert (exact.frames[:10] == 0).all()
    assert (exact.times[:10] < 0).all()
    assert exact.times[10] == pytest.approx(0.1)
    assert np.median(exact.frames[10][~exact.facts.defects.mask]) == pytest.approx(8.0, rel=1e-6)
    far = exact.frames[10:, 15:, :5].mean(axis=(1, 2))
    late = exact.times[10:] > 5  # coarse cells of 0.5 mm show the surface once heat has crossed a few
    loss = {"h_front": PLATE.h_front, "h_back": PLATE.h_back}
    slab = slab_surface(exact.times[10:][late], PLATE.alpha, SIZE[0], **loss, pulse=(0.0, 5e-3))
    np.testing.assert_allclose(far[late] / far[late][0], slab / slab[0], rtol=0.01)


def test_the_hole_is_warmer_where_the_map_says_it_is(exact):
    np.testing.assert_array_equal(exact.facts.defects.depth, PLATE.depth_map((20, 20)))
    np.testing.assert_array_equal(exact.facts.defects.mask, np.isfinite(exact.facts.defects.depth))
    last = exact.frames[-1]
    assert last[5:7, 13:15].min() > 1.3 * np.median(last)
    assert np.unravel_index(last.argmax(), last.shape)[0] in range(4, 8)
    assert np.unravel_index(last.argmax(), last.shape)[1] in range(12, 16)


def test_what_the_recording_says_about_itself(exact):
    assert exact.size == SIZE
    assert exact.noise is None
    assert exact.excitation.duration == 5e-3
    assert (exact.boundary.h_front, exact.boundary.h_back) == (PLATE.h_front, PLATE.h_back)
    assert exact.boundary.lateral == "adiabatic"
    assert exact.facts.units == Units(length="m", time="s", temperature="K")
    made = simulation_of(exact)
    assert made.record["plate"] == {"alpha": PLATE.alpha, "h_front": PLATE.h_front, "h_back": PLATE.h_back}
    assert defects_of(exact).holes == (WIDE,)
    assert made.gain is not None
    assert (made.gain == 1).all()
    assert not exact.facts.simulated  # it does not say everything: a plate is inspected like a real one


def test_gain_and_noise_are_those_asked_for(exact):
    seen = record_plate(PLATE, camera=Camera(sigma=0.05, gain=0.03, gain_length=0.02), seed=4, rise=8.0, **COARSE)
    gain = simulation_of(seen).gain
    assert gain is not None
    noise = seen.frames - gain * exact.frames
    assert gain.std() == pytest.approx(0.03)
    assert gain.mean() == pytest.approx(1)
    assert seen.noise == 0.05
    assert noise.std() == pytest.approx(0.05, rel=0.02)
    assert abs(noise[10:].mean(axis=0)).max() < 5 * 0.05 / np.sqrt(200)  # so the gain is the one that was applied
    assert noise[:10].std() == pytest.approx(0.05, rel=0.05)
    again, other = (record_plate(PLATE, seed=s, **COARSE).frames for s in (4, 5))
    np.testing.assert_array_equal(again, record_plate(PLATE, seed=4, **COARSE).frames)
    assert not np.array_equal(again, other)


def test_a_hole_loses_heat_through_its_walls(exact):
    tight = record_plate(dataclasses.replace(PLATE, h_back=0.0), camera=QUIET, rise=8.0, **COARSE)
    warmer = tight.frames[-1] - exact.frames[-1]
    assert warmer[5:7, 13:15].min() > 5 * abs(np.median(warmer[~exact.facts.defects.mask]))


def test_a_plate_without_a_sound_pixel_is_refused():
    hole = Hole("rectangular", (0.05, 0.05), (0.2, 0.2), 2e-3)
    with pytest.raises(InputError, match="leave no sound pixel"):
        record_plate(dataclasses.replace(PLATE, holes=(hole,)), **COARSE)
