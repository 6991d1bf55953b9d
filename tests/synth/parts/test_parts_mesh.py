"""Meshes of parts resolve films and grow smoothly away from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.synth.parts.mesh import ACROSS_FILM, BEYOND, GROWTH, Mesh, depth_faces, face_axis

L = 4e-3
SIZES: dict[str, Any] = {"first": 1e-5, "near": L / 40, "largest": L / 20}


def test_a_film_has_cells_of_its_own():
    top, bottom = 1e-3, 1e-3 + 20e-6
    z = depth_faces(L, [(top, bottom)], **SIZES)
    inside = (z > top - 1e-12) & (z < bottom + 1e-12)
    assert inside.sum() >= ACROSS_FILM + 1
    assert z[0] == 0
    assert z[-1] == pytest.approx(L)
    assert (np.diff(z) > 0).all()


def test_cells_grow_by_little_from_one_to_the_next():
    widths = np.diff(depth_faces(L, **SIZES))
    ratio = widths[1:] / widths[:-1]
    assert np.maximum(ratio, 1 / ratio).max() < 1.5
    assert widths[0] < 1.5 * SIZES["first"]
    assert widths.max() <= SIZES["largest"] * GROWTH


def test_films_that_overlap_in_depth_share_faces():
    z = depth_faces(L, [(1e-3, 1.1e-3), (1.05e-3, 1.2e-3)], [2e-3], **SIZES)
    for face in (1e-3, 1.05e-3, 1.1e-3, 1.2e-3, 2e-3):
        assert np.abs(z - face).min() < 1e-12
    assert (np.diff(z) > 1e-9).all()


def test_a_film_at_the_face_is_refused():
    with pytest.raises(InputError, match="within the thickness"):
        depth_faces(L, [(0.0, 1e-5)], **SIZES)


def test_the_frame_is_even_and_its_surroundings_grow():
    x = face_axis(10, 1e-3, (None, 8), margin=5e-3)
    inside = x[(x >= -1e-12)]
    assert np.diff(inside) == pytest.approx(1e-3)
    assert x[-1] == pytest.approx(8e-3)
    assert x[0] <= -5e-3
    beyond = np.diff(x[x <= 1e-12])[::-1]
    assert beyond[1:] / beyond[:-1] == pytest.approx(BEYOND)


def test_volumes_fill_the_body():
    mesh = Mesh(depth_faces(L, **SIZES), np.linspace(0, 2, 4), np.linspace(0, 3, 5))
    assert mesh.volume.sum() == pytest.approx(L * 6)
