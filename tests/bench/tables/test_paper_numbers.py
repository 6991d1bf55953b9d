import math

import pytest

from nefty.bench.tables.paper_numbers import PaperTable, paper_table, paper_tables
from nefty.bench.tables.table import Interval
from nefty.bench.tasks.methods import METHODS
from nefty.core.errors import InputError

BY_COUNT = ["homogeneous 1", "homogeneous 2", "homogeneous 3", "homogeneous 4", "layered 3", "layered 4"]
KEYS = {
    "main": ["homogeneous", "layered"],
    "robustness": BY_COUNT,
    "surface": BY_COUNT,
    "ablation": ["homogeneous", "layered"],
    "training": ["specimen"],
    "solver": ["specimen"],
    "edges": ["homogeneous"],
    "pvc": ["plates"],
}
STEPS = ["Base", "+PE", "+PE, FA", "+PE, FA, sigma", "+PE, FA, sigma, HM", "Full (+TV)"]


def test_every_table_has_its_groups_and_a_title():
    assert {key: list(table.groups) for key, table in paper_tables().items()} == KEYS
    assert all(table.title for table in paper_tables().values())


@pytest.mark.parametrize("key", KEYS)
def test_every_group_has_the_same_rows_and_columns(key):
    table = paper_table(key)
    rows = table.rows()
    columns = {
        tuple(column for column in numbers if column != "collocation")  # of PINNs only
        for group in table.groups.values()
        for numbers in group.values()
    }
    assert all(list(group) == rows for group in table.groups.values())
    assert len(columns) == 1
    assert set(table.labels) <= set(rows)
    numbers = [n for group in table.groups.values() for row in group.values() for n in row.values()]
    assert all(math.isfinite(n.mean) and (n.half_width is None or n.half_width >= 0) for n in numbers)


def test_rows_are_named_as_the_methods_say():
    assert paper_table("ablation").rows() == STEPS
    known = {"NeFTY", "Grid Opt.", "PINN", "SPINN", "Causal-PINN", "DCGD", "U-Net (Sound-Only)", "U-Net (Full)"}
    for key in ("main", "robustness", "surface", "training", "edges"):
        assert set(paper_table(key).rows()) <= known
        assert "NeFTY" in paper_table(key).rows()
    assert {m.paper for m in METHODS.values() if m.paper} <= known | set(paper_table("pvc").rows())
    assert {"TSR", "PPT", "NeFTY", "Grid Opt.", "SPINN", "Swin-UNETR"} == set(paper_table("pvc").rows())


def number(key, group, row, column):
    found = paper_table(key).number(group, row, column)
    assert found is not None
    return found


def same(found, mean, half=None):
    assert found.mean == pytest.approx(mean, rel=1e-12)
    assert (found.half_width is None) == (half is None)
    assert half is None or found.half_width == pytest.approx(half, rel=1e-12)


def test_numbers_are_those_of_the_paper_in_plain_units():
    same(number("main", "homogeneous", "NeFTY", "mse"), 3.66e-4, 1.31e-4)
    same(number("main", "layered", "NeFTY", "iou"), 0.37, 0.06)
    same(number("main", "layered", "SPINN", "psnr"), 9.71, 0.77)
    same(number("main", "homogeneous", "U-Net (Sound-Only)", "ssim"), 0.83, 0.02)
    same(number("robustness", "homogeneous 2", "NeFTY", "iou"), 0.51)
    same(number("robustness", "layered 4", "U-Net (Full)", "psnr"), 19.26)
    same(number("surface", "homogeneous 4", "Grid Opt.", "surface_mse"), 29.84e-4)
    same(number("surface", "layered 3", "PINN", "surface_psnr"), 62.05)
    same(number("ablation", "layered", "+PE", "mse"), 87.16e-4, 29.71e-4)
    same(number("ablation", "homogeneous", "+PE, FA, sigma, HM", "psnr"), 10.95, 0.94)
    same(number("training", "specimen", "NeFTY", "seconds"), 576)
    same(number("training", "specimen", "DCGD", "peak_bytes"), 11.7e9)
    same(number("training", "specimen", "Grid Opt.", "unknowns"), 70_000)
    same(number("solver", "specimen", "Ours (AM)", "peak_bytes"), 21.9e6)
    same(number("solver", "specimen", "PhiFlow (Ex)", "forward_s"), 26.36, 0.10)
    same(number("edges", "homogeneous", "NeFTY", "edge_f1"), 0.470, 0.137)
    same(number("pvc", "plates", "NeFTY", "depth_abs_rel"), 0.465)
    same(number("pvc", "plates", "NeFTY", "depth_rmse"), 0.541e-3)
    same(number("pvc", "plates", "TSR", "depth_abs_rel"), 13.366)
    same(number("pvc", "plates", "PPT", "iou"), 0.419)
    same(number("pvc", "plates", "Swin-UNETR", "depth_delta3"), 0.190)


def test_the_last_step_of_the_ablation_is_the_method_of_table_1():
    for group in ("homogeneous", "layered"):
        assert paper_table("ablation").groups[group]["Full (+TV)"] == paper_table("main").groups[group]["NeFTY"]


def test_what_the_paper_does_not_give_is_none():
    assert paper_table("main").number("sound", "NeFTY", "iou") is None
    assert paper_table("main").number("layered", None, "iou") is None
    assert paper_table("main").number("layered", "NeFTY", "edge_f1") is None
    assert PaperTable().number("layered", "NeFTY", "iou") is None
    assert isinstance(paper_table("edges").number("homogeneous", "PINN", "edge_f1"), Interval)


def test_an_unknown_table_is_an_error_with_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean 'robustness'"):
        paper_table("robustnes")
