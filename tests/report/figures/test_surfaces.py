from typing import Any

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.report.figures.surfaces import MOST_CELLS, Body, defect_surfaces, depth_stretch

SIZE = (1.0, 8.0, 10.0)


def body(inside: np.ndarray) -> Body:
    return Body(np.where(inside, 0.1, 1.0), inside)


@pytest.fixture
def box():
    inside = np.zeros((8, 16, 20), dtype=bool)
    inside[2:4, 4:8, 10:16] = True
    return inside


def of_kind(figure: Any, kind: str) -> list[Any]:
    return [trace for trace in figure.data if trace.type == kind]


def surface(figure: Any) -> Any:
    return next(trace for trace in of_kind(figure, "mesh3d") if trace.intensity is not None)


def test_the_surface_encloses_the_defect_where_it_is(box):
    mesh = surface(defect_surfaces(body(box), SIZE))
    centre = [(a.min() + a.max()) / 2 for a in (mesh.z, mesh.y, mesh.x)]
    assert centre == pytest.approx([0.375, 3.0, 6.5], abs=1e-5)
    assert np.ptp(mesh.x) == pytest.approx(3.0, abs=0.5)
    np.testing.assert_array_equal(mesh.intensity, mesh.z)
    assert (mesh.cmin, mesh.cmax) == (0, 1)


def test_a_defect_at_the_faces_stays_inside_the_part():
    inside = np.zeros((4, 6, 6), dtype=bool)
    inside[:, :3] = True
    mesh = surface(defect_surfaces(body(inside), SIZE))
    for axis, length in zip((mesh.z, mesh.y, mesh.x), SIZE, strict=True):
        assert axis.min() >= 0
        assert axis.max() <= length


def test_low_values_outside_the_mask_are_not_drawn(box):
    values = np.where(box, 0.1, 1.0)
    values[6, 12, 2] = 0.1
    mesh = surface(defect_surfaces(Body(values, box), SIZE))
    assert mesh.z.max() < 0.6


def test_a_mask_above_the_level_is_drawn_all_the_same(box):
    mesh = surface(defect_surfaces(Body(np.where(box, 0.7, 1.0), box), SIZE))
    assert len(mesh.i) > 10


def test_the_truth_is_rings_one_per_layer(box):
    figure = defect_surfaces(body(box), SIZE, truth=body(box))
    rings = next(trace for trace in of_kind(figure, "scatter3d") if "truth" in (trace.name or ""))
    depths = np.unique(rings.z[np.isfinite(rings.z)])
    assert depths == pytest.approx([0.3125, 0.4375])
    assert surface(figure).opacity < 1


def test_without_defects_only_the_part_is_drawn():
    nothing = np.zeros((4, 6, 6), dtype=bool)
    figure: Any = defect_surfaces(body(nothing), SIZE, truth=body(nothing))
    assert not [trace for trace in of_kind(figure, "mesh3d") if trace.intensity is not None]
    assert len(figure.data) == 3


def test_depth_points_down_and_rows_towards_the_reader(box):
    figure: Any = defect_surfaces(body(box), SIZE, labels=[("1", (0.4, 3.0, 6.5))])
    scene = figure.layout.scene
    assert scene.zaxis.range == (1.0, 0)
    assert scene.yaxis.range == (8.0, 0)
    assert scene.xaxis.range == (0, 10.0)


def test_thin_parts_are_stretched_by_a_round_number():
    assert depth_stretch((1.0, 10.0, 10.0)) == 3
    assert depth_stretch((1.3, 20.0, 20.0)) == 5
    assert depth_stretch((5.0, 8.0, 10.0)) == 1
    figure: Any = defect_surfaces(body(np.zeros((2, 2, 2), dtype=bool)), (1.0, 10.0, 10.0))
    stretched = figure.layout.scene.aspectratio
    assert stretched.z / stretched.x == pytest.approx(0.3)


def test_large_volumes_are_made_coarser():
    inside = np.zeros((12, 300, 300), dtype=bool)
    assert inside.size > MOST_CELLS
    inside[4:8, 100:200, 100:200] = True
    mesh = surface(defect_surfaces(body(inside), (1.0, 10.0, 10.0)))
    assert np.ptp(mesh.x) == pytest.approx(10 / 3, abs=0.1)
    assert mesh.i.dtype == np.uint16


def test_a_body_needs_one_shape():
    with pytest.raises(InputError, match=r"\(2, 2, 2\) and \(3, 2, 2\)"):
        Body(np.ones((2, 2, 2)), np.ones((3, 2, 2), dtype=bool))
