"""Specimens: the same seed draws the same part, within its ranges, on any grid."""

import json
import math

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.core.storage.hdf5 import digest
from nefty.synth.specimen import KINDS, PAPER_GRID, Defect, Ranges, Specimen, draw_specimen

SEEDS = range(40)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_draws_the_same_part_and_another_seed_another(kind):
    assert draw_specimen(3, kind) == draw_specimen(3, kind)
    assert len({draw_specimen(seed, kind) for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        ("homogeneous", "3caad162ea57e202"),
        ("layered", "f181d8ab468920e9"),
        ("sound", "9f7986270a01ad1a"),
        ("sound-layered", "a0f47105b1344486"),
    ],
)
def test_seeds_draw_what_they_always_drew(kind, known):
    assert digest([draw_specimen(seed, kind).record() for seed in range(50)])[:16] == known


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_redraws_the_part_even_after_json(kind):
    specimen = draw_specimen(5, kind)
    assert Specimen.from_record(specimen.record()) == specimen
    assert Specimen.from_record(json.loads(json.dumps(specimen.record()))) == specimen


@pytest.mark.parametrize("record", [{}, {"size": (1, 1, 1)}, None, {**draw_specimen(0).record(), "colour": "red"}])
def test_what_is_no_record_is_refused(record):
    with pytest.raises(InputError, match=r"not the record of a specimen"):
        Specimen.from_record(record)


@pytest.mark.parametrize("kind", ["homogeneous", "layered"])
def test_what_is_drawn_lies_within_the_ranges(kind):
    limits = Ranges()
    counts, shapes = set(), set()
    for seed in SEEDS:
        part = draw_specimen(seed, kind)
        assert len(part.bulk) == len(part.interfaces) + 1
        assert all(limits.bulk[0] <= b <= limits.bulk[1] for b in part.bulk)
        assert np.diff([0.0, *part.interfaces, part.size[0]]).min() >= limits.thinnest - 1e-12
        for defect in part.defects:
            z, y, x = defect.centre
            assert limits.depth[0] <= z <= limits.depth[1]
            assert limits.margin <= min(y, x) <= max(y, x) <= 10 - limits.margin
            assert limits.half_thickness[0] <= defect.radii[0] <= limits.half_thickness[1]
            assert limits.radius[0] <= min(defect.radii[1:]) <= max(defect.radii[1:]) <= limits.radius[1]
            assert limits.alpha[0] <= defect.alpha <= limits.alpha[1]
            assert defect.top > 0
            shapes.add(defect.shape)
        for i, a in enumerate(part.defects):
            for b in part.defects[:i]:
                apart = math.hypot(a.centre[1] - b.centre[1], a.centre[2] - b.centre[2])
                assert apart >= a.reach + b.reach + 0.2 - 1e-12
        counts.add(len(part.defects))
    assert counts == {1, 2, 3, 4}
    assert shapes == {"ellipsoid", "cylinder", "box"}


def test_kinds_differ_in_strata_and_defects():
    assert {len(draw_specimen(seed, "layered").bulk) for seed in SEEDS} == {3, 4}
    assert {len(draw_specimen(seed).bulk) for seed in SEEDS} == {1}
    assert not any(draw_specimen(seed, "sound").defects for seed in SEEDS)
    assert len(draw_specimen(0, "sound-layered").bulk) > 1
    assert len(draw_specimen(0, defects=2).defects) == 2


def test_the_diffusivity_is_that_of_strata_and_defects():
    box = Defect("box", (0.5, 5.0, 5.0), (0.25, 1.0, 2.0), 0.0, 0.01)
    part = Specimen((1.0, 10.0, 10.0), (0.5,), (0.1, 0.2), (box,))
    grid = Grid((4, 10, 10), (1.0, 10.0, 10.0))
    alpha = part.alpha(grid)
    assert part.background(grid).tolist() == [0.1, 0.1, 0.2, 0.2]
    expected = np.broadcast_to(part.background(grid)[:, None, None], grid.shape).copy()
    expected[1:3, 4:6, 3:7] = 0.01
    assert alpha.dtype == np.float64
    assert (alpha == expected).all()


@pytest.mark.parametrize(("shape", "volume"), [("ellipsoid", 4 / 3 * math.pi), ("cylinder", 2 * math.pi), ("box", 8.0)])
@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_a_defect_has_the_volume_of_its_shape(shape, volume, angle):
    defect = Defect(shape, (0.5, 5.0, 5.0), (0.2, 1.0, 1.6), angle, 0.01)
    grid = Grid((80, 200, 200), (1.0, 10.0, 10.0))
    inside = defect.inside(*grid.centres())
    assert np.count_nonzero(inside) * math.prod(grid.spacing) == pytest.approx(volume * 0.2 * 1.0 * 1.6, rel=0.02)
    z, y, x = (c[np.nonzero(inside)[axis]] for axis, c in enumerate(map(np.ravel, grid.centres())))
    assert z.min() == pytest.approx(defect.top, abs=grid.spacing[0])
    assert max(np.ptp(y), np.ptp(x)) / 2 <= defect.reach


def test_a_turned_defect_lies_along_its_angle():
    long = Defect("ellipsoid", (0.5, 5.0, 5.0), (0.2, 0.5, 2.0), math.pi / 4, 0.01)
    z, along, across = np.array(0.5), np.array(1.2), np.array(-1.2)
    inside = [bool(long.inside(z, 5 + dy, 5 + dx)) for dy, dx in [(along, along), (along, across)]]
    assert sorted(inside) == [False, True]


def test_a_finer_grid_shows_the_same_part():
    for seed in range(3):  # with three cells in place of one, the middle one has its centre
        part = draw_specimen(seed, "layered")
        assert (part.alpha() == part.alpha(PAPER_GRID.refined(3))[1::3, 1::3, 1::3]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_specimen(-1), "seed=-1"),
        (lambda: draw_specimen(0, "layred"), "Did you mean 'layered'"),
        (lambda: draw_specimen(0, defects=60), "found no room for 60 defects"),
        (lambda: draw_specimen(0, "layered", ranges=Ranges(strata=(9, 9))), "9 strata of at least 0.15"),
        (lambda: Ranges(bulk=(0.2, 0.1)), r"bulk=\(0.2, 0.1\) must be \(lowest, highest\)"),
        (lambda: Ranges(depth=0.5), r"depth=0.5 must be two numbers"),  # pyright: ignore[reportArgumentType]
        (lambda: draw_specimen(0).alpha(Grid((4, 4, 4), (2.0, 10.0, 10.0))), "is not the specimen's"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_defects_may_overlap_where_the_ranges_allow_it():
    assert len(draw_specimen(0, defects=30, ranges=Ranges(gap=None)).defects) == 30
