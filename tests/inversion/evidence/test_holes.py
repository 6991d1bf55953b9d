"""A hole by an independent simulator, with losses on all walls: the shape has its size and its depth, and is a hole."""

import numpy as np
import pytest

from nefty.core.grid import Grid
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.shapes import ShapeFit
from nefty.inversion.evidence.sheets import SheetFit
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import TopHatPulse
from nefty.physics.slab.weak_sheet import WeakSheet
from nefty.synth.explicit import simulate_explicit

ALPHA, H_FRONT, H_BACK = 1.2e-7, 7e-6, 1.1e-5  # PVC: 10 and 15 W/m2K over rho c
SIZE, CELLS, PIXELS = (5e-3, 22e-3, 22e-3), (25, 44, 44), 22
TIMES = np.geomspace(1.0, 150.0, 30)
AWAY = np.hypot(*((np.indices((PIXELS, PIXELS)) + 0.5 - PIXELS / 2) * SIZE[1] / PIXELS))


def frames(depth: float, diameter: float) -> np.ndarray:
    """The surface (t, y, x) on pixels of 1 mm; simulated on cells of 0.5 mm."""
    grid = Grid(CELLS, SIZE)
    boundary = Boundary("adiabatic", "robin", "robin", H_FRONT, H_BACK)
    z, y, x = np.meshgrid(*grid.centres(), indexing="ij", sparse=True)
    air = (z > depth) & (np.hypot(y - SIZE[1] / 2, x - SIZE[2] / 2) < diameter / 2)
    pulse = TopHatPulse(amplitude=1.0, duration=5e-3)
    seen = simulate_explicit(
        grid, np.full(CELLS, ALPHA), TIMES, pulse, boundary, observe="surface", safety=1.5, air=air
    )
    return seen.reshape(len(TIMES), PIXELS, 2, PIXELS, 2).mean(axis=(2, 4))


@pytest.mark.parametrize(("depth", "diameter"), [(1.4e-3, 5e-3), (2.6e-3, 7e-3)])
def test_a_hole_has_its_size_and_depth(depth, diameter):
    values = np.log(frames(depth, diameter) / frames(1.0, 0.0))
    pixel = SIZE[1] / PIXELS
    contrast = Contrast(TIMES, values, np.ones((PIXELS, PIXELS)), np.full(len(TIMES), 3e-3), (pixel, pixel))
    settings = SheetSettings()
    fit = SheetFit(contrast, WeakSheet(ALPHA, SIZE[0], H_FRONT, H_BACK), (1.0, 1.0), settings)
    wide, deep = 0.9 * diameter > AWAY, np.full((PIXELS, PIXELS), 1.1 * depth)
    begun = fit.fit(wide, 0.4 * wide, deep, np.zeros(wide.shape, dtype=int), steps=8)
    best = ShapeFit(fit, begun, wide, settings).best()
    assert best.hole
    assert best.unknowns[6] * SIZE[0] / settings.layers == pytest.approx(depth, rel=0.05)
    found = np.sqrt(4 / np.pi * best.covered((PIXELS, PIXELS)).sum()) * pixel
    assert found == pytest.approx(diameter, rel=0.06)
