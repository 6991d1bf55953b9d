"""Known defects from a volume, holes, a mask or a table; targets of a run; tables as CSV."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.facts import Hole, KnownDefects, Window
from nefty.metrics.detection import FalseCalls
from nefty.metrics.detection.table import DetectionTable, SoundPlace, Target, joined, read_table, table_csv, targets_of
from nefty.metrics.known_defects import holes_as_defects, known_defects, listed_defects
from support.parts import BULK, COLUMNS, FACTS, GRID, ROWS, planted

HOLES = (
    Hole("rectangular", centre=(6.15e-3, 2.3e-3), width=(2.1e-3, 2.2e-3), depth=0.6e-3),
    Hole("round", centre=(2.0e-3, 7.0e-3), width=(1.2e-3, 1.2e-3), depth=0.9e-3),
)
DRILLED = FACTS.replaced(defects=KnownDefects(holes=HOLES))


@pytest.fixture(scope="module")
def rec():
    return planted()


def test_a_true_volume_knows_its_defects(rec):
    (known,) = known_defects(replace(rec, truth=rec.alpha))
    assert known.depth == pytest.approx(0.6e-3, abs=1e-5)
    assert known.centre[1:] == (pytest.approx(6.15e-3), pytest.approx(2.3e-3))
    assert known.footprint[ROWS, COLUMNS].all()
    assert known.footprint.sum() == 77


def test_holes_cover_their_pixels_and_have_the_size_of_their_area(rec):
    box, disc = known_defects(replace(rec, facts=DRILLED))
    assert box.footprint.sum() == 77
    assert box.diameter == pytest.approx(math.sqrt(4 * 2.1 * 2.2 / math.pi) * 1e-3)
    assert disc.diameter == pytest.approx(1.2e-3)
    assert disc.footprint.sum() * 0.06 == pytest.approx(math.pi * 0.36, rel=0.15)
    assert disc.footprint[6, 35]
    tiny = [Hole("round", centre=(2.0e-3, 7.0e-3), width=(1e-5, 1e-5), depth=math.nan)]
    assert holes_as_defects(rec, tiny)[0].footprint.sum() == 1
    assert math.isnan(holes_as_defects(rec, tiny)[0].depth)


def test_holes_stand_where_they_are_in_the_whole_frames(rec):
    """The recording was cut 10 rows and 4 columns of 0.3 mm x 0.2 mm into the frames."""
    cut = replace(rec, facts=FACTS.replaced(window=Window(top=10, left=4)))
    moved = [replace(hole, centre=(hole.centre[0] + 3.0e-3, hole.centre[1] + 0.8e-3)) for hole in HOLES]
    here, there = holes_as_defects(rec, HOLES), holes_as_defects(cut, moved)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one.footprint, other.footprint)
        assert other.centre[1:] == pytest.approx(one.centre[1:])
    outside = [Hole("round", centre=(0.1e-3, 0.1e-3), width=(1e-3, 1e-3), depth=0.5e-3)]
    assert holes_as_defects(cut, outside) == []


def test_a_mask_knows_places_and_areas_but_no_depth(rec):
    mask = np.zeros(GRID.shape[1:], bool)
    mask[2:5, 3:9] = True
    mask[20:22, 30:33] = True
    one, other = known_defects(replace(rec, facts=FACTS.replaced(defects=KnownDefects(mask=mask))))
    assert (one.footprint.sum(), other.footprint.sum()) == (18, 6)
    assert one.centre[1:] == (pytest.approx(3.5 * 0.3e-3), pytest.approx(6 * 0.2e-3))
    assert math.isnan(one.depth)
    with pytest.raises(InputError, match=r"shape \(2, 2\)"):
        known_defects(replace(rec, facts=FACTS.replaced(defects=KnownDefects(mask=np.ones((2, 2), bool)))))
    with pytest.raises(InputError, match="does not know its defects"):
        known_defects(rec)


def test_a_table_of_known_defects_is_in_millimetres(rec, tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text("run,x (mm),y (mm),size (mm),depth\nhere,2.3,6.15,2.4,0.6\nelsewhere,1,1,1,\n")
    (known,) = listed_defects(path, rec, "here")
    assert known.centre == (pytest.approx(0.6e-3), pytest.approx(6.15e-3), pytest.approx(2.3e-3))
    assert known.diameter == pytest.approx(2.4e-3)
    path.write_text("x;y;size\n2.3;6.15;2.4\n")
    assert len(listed_defects(path, rec, "any")) == 1
    path.write_text("x (in),y,size\n1,1,1\n")
    with pytest.raises(InputError, match=r"is in 'in', the run any in 'mm'"):
        listed_defects(path, rec, "any")
    path.write_text("x,size\n1,1\n")
    with pytest.raises(InputError, match="no column y"):
        listed_defects(path, rec)


def test_targets_are_found_or_missed_and_others_are_false_calls(rec):
    table = targets_of(replace(rec, facts=DRILLED), "run 1")
    found, missed = table.targets
    assert (found.detected, missed.detected, table.false_calls()) == (True, False, FalseCalls(0, 1))
    assert (found.size, found.depth) == (pytest.approx(2.4254, abs=1e-3), pytest.approx(0.6))
    assert found.found_depth == pytest.approx(0.6, abs=0.01)
    assert math.isnan(missed.found_depth)
    assert found.signal > 30 > 3 > missed.signal  # the signal is measured where nothing was found too
    assert (table.unit, found.run) == ("mm", "run 1")
    nothing_known = targets_of(rec, known=[])
    assert (nothing_known.targets, nothing_known.false_calls()) == ((), FalseCalls(1, 1))
    sound = replace(rec, alpha=np.full(GRID.shape, BULK), facts=DRILLED)
    assert [t.detected for t in targets_of(sound).targets] == [False, False]


def test_tables_are_joined_and_survive_a_file(tmp_path):
    false = SoundPlace(True, run="a", score=4.5)
    one = DetectionTable(
        (Target(1.5, True, 3.0, 0.5, 0.52, "a", 7.5), Target(0.4, False, run="a")), "mm", (false,) * 2, 1
    )
    other = DetectionTable((Target(0.7, None, 1.25, run="b"),), "mm", (SoundPlace(False, run="b"),), 1)
    both = joined([one, other])
    assert (len(both.targets), both.unit, both.false_calls()) == (3, "mm", FalseCalls(2, 2))
    path = tmp_path / "targets.csv"
    path.write_text(table_csv(both))
    again = read_table(path)
    assert again.unit == "mm"
    assert str(again.targets) == str(both.targets)  # NaN is not equal to itself
    assert (again.false_calls(), str(again.sound)) == (FalseCalls(2, 2), str(both.sound))
    assert joined([one, replace(other, sound=())]).false_calls() is None
    with pytest.raises(InputError, match="different units, '' and 'mm'"):
        joined([one, replace(other, unit="")])
    with pytest.raises(InputError, match="no targets"):
        joined([])


@pytest.mark.parametrize(
    ("text", "sizes", "hits"),
    [
        ("size,detected\n1.5,1\n2,0\n", [1.5, 2], [True, False]),
        ("Size (mm);Detected\n1.5;yes\n\n2;no\n", [1.5, 2], [True, False]),
        ("\ufeffsize\tdetected\tremark\n3\thit\tx\n4\tmiss\t\n", [3, 4], [True, False]),
    ],
)
def test_tables_of_other_programs_are_read(tmp_path, text, sizes, hits):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    table = read_table(path)
    np.testing.assert_array_equal(table.sizes, sizes)
    np.testing.assert_array_equal(table.hits, hits)
    with pytest.raises(InputError, match="target 1 has no signal"):
        table.signals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no row"),
        ("size,detected\n", "holds no row"),
        ("width,detected\n1,1\n", "has the columns width, detected; .* needs size"),
        ("size\n1\n", "needs size, and detected"),
        ("size,detected\n1,maybe\n", r"line 2: detected='maybe' must be 0 \(missed\) or 1"),
        ("size,detected\n1;5,1\n", "line 2: size='1;5' is not a number"),
        ("size,detected\n1,1,1\n", "line 2 has 3 cells, the header 2"),
    ],
)
def test_bad_tables_are_named_by_their_line(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_table(path)


def test_what_is_no_table_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xff\xfe\x00binary")
    with pytest.raises(InputError, match=r"cannot read the table .* it is no text"):
        read_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match="cannot read the table"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="target 1 does not say whether"):
        DetectionTable((Target(1.0),)).hits


def test_rows_without_a_size_are_sound_places(tmp_path):
    """Called or not by their word, or by their signal; of parts where every row names its run."""
    path = tmp_path / "t.csv"
    path.write_text("size (mm),detected,signal\n1,0,2\n2,1,5\n,1,3\n,0,1\n,,4\n")
    table = read_table(path)
    assert len(table.targets) == 2
    assert table.false_calls() is None  # the last does not say
    assert table.false_calls(2.5) == FalseCalls(2, 3, "sound place")
    path.write_text("size,detected,run\n1,0,a\n2,1,b\n,1,b\n,1,b\n,0,c\n")
    assert read_table(path).false_calls() == FalseCalls(2, 3)
    assert read_table(path).false_calls(2.5) is None  # no signals
    path.write_text("size,detected,run\n1,0,a\n2,1,b\n")
    assert read_table(path).false_calls() is None
