"""Parts at random keep to what they promise."""

from __future__ import annotations

import pytest

from nefty.synth.parts.draw import DEEP, FAMILIES, WIDE, draw_part
from nefty.synth.parts.part import FlatHole, Impact, width_over_depth

PARTS = [draw_part(seed) for seed in range(240)]


def test_the_same_seed_draws_the_same_part():
    assert draw_part(3) == draw_part(3)
    assert draw_part(3) != draw_part(4)


def test_a_third_of_the_parts_is_sound():
    assert sum(not part.defects for part in PARTS) / len(PARTS) == pytest.approx(1 / 3, abs=0.1)
    assert all(not draw_part(seed, sound=True).defects for seed in range(10))
    assert all(draw_part(seed, sound=False).defects for seed in range(40))


def test_every_material_and_every_kind_of_defect_is_there():
    assert {part.material.name for part in PARTS} == {family.name for family in FAMILIES}
    assert {d.kind for part in PARTS for d in part.defects} == {"film", "gap", "hole", "impact"}
    assert {len(part.defects) for part in PARTS} == {0, 1, 2, 3, 4, 5}


def test_defects_are_as_deep_and_wide_as_promised():
    for part in PARTS:
        for defect in part.defects:
            assert DEEP[0] * part.thickness <= defect.depth * (1 + 1e-9)
            assert defect.depth <= DEEP[1] * part.thickness * (1 + 1e-9)
            assert WIDE[0] * 0.999 <= width_over_depth(defect)
            if not isinstance(defect, Impact):
                assert width_over_depth(defect) <= WIDE[1] * 1.001
            if not isinstance(defect, FlatHole):
                assert all(layer.depth + layer.thickness < part.thickness for layer in defect.layers)


def test_recordings_last_and_some_end_before_the_back_wall_is_seen():
    spans = [part.seconds / part.time for part in PARTS]
    early = [span for span in spans if span < 0.6]
    assert 0.05 < len(early) / len(spans) < 0.25
    assert all(1.5 <= span <= 3 for span in spans if span >= 0.6)
    assert all(50 < part.seconds * part.fps < 4000 for part in PARTS)


def test_some_parts_end_within_the_frame_and_some_are_not_heated_beyond_it():
    ending = [part for part in PARTS if any(edge is not None for axis in part.edges for edge in axis)]
    assert 0.1 < len(ending) / len(PARTS) < 0.35
    assert 0.1 < sum(not part.heat.beyond for part in PARTS) / len(PARTS) < 0.35


def test_the_frame_has_the_pixels_asked_for():
    assert draw_part(1, pixels=24).pixels == (24, 24)
    assert {part.pixels[0] for part in PARTS} & set(range(72, 101))
