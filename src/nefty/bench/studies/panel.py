"""A flat panel with films in it, of any number of pixels, as a recording that is prepared already."""

from __future__ import annotations

import numpy as np
import torch

from nefty.core.grid import Grid
from nefty.data.facts import Facts, Units
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.materials import Material
from nefty.physics.pulses import TopHatPulse

THICKNESS, PIXEL, PULSE, RISE, NOISE = 3e-3, 0.5e-3, 5e-3, 4.0, 0.02  # m, m, s, K, K
GLASS = Material(name="panel", alpha_z=4.4e-7, alpha_y=4.4e-7, alpha_x=4.4e-7, rho=1800.0, cp=1200.0)
STILL_AIR = 10.0  # W/m2K, of both faces
LAST = 0.8  # Fourier number of the last frame
APART = 64  # pixels from film to film
FILMS = ((3.0, 0.25), (5.0, 0.35), (8.0, 0.5))  # radii in pixels, and depths as shares of the thickness, in turn


def places_of_films(face: tuple[int, int]) -> list[tuple[int, int]]:
    """Rows and columns of the films' centres in a panel of so many pixels."""
    rows, columns = face
    return [(r, c) for r in range(APART // 2, rows, APART) for c in range(APART // 2, columns, APART)]


def simulated_panel(shape: tuple[int, int, int], frames: int = 60, seed: int = 0) -> Sequence:
    """A recording of a panel of glass fibre, 3 mm thick, in pixels of 0.5 mm; one film per 64 x 64 pixels.

    Args:
        shape: cells (z, y, x); the frames have y x x pixels.
        frames: from 0.12 s on, at growing distances.
        seed: of the noise.
    """
    layers, rows, columns = shape
    grid = Grid(shape, (THICKNESS, rows * PIXEL, columns * PIXEL))
    times = np.geomspace(0.12, LAST * THICKNESS**2 / GLASS.alpha_z, frames)
    h = GLASS.loss(STILL_AIR)
    sides = Boundary("adiabatic", "robin", "robin", h_front=h, h_back=h)
    model = HeatModel(grid, times, TopHatPulse(amplitude=RISE, duration=PULSE), sides)
    resistance = np.zeros((layers - 1, rows, columns), dtype=np.float32)
    y, x = np.indices((rows, columns))
    for number, (row, column) in enumerate(places_of_films((rows, columns))):
        radius, deep = FILMS[number % len(FILMS)]
        face = max(1, round(deep * layers))
        over = (y - row) ** 2 + (x - column) ** 2 <= radius**2
        resistance[face - 1][over] = deep * THICKNESS / GLASS.alpha_z
    seen = model(torch.full(shape, GLASS.alpha_z), resistance=torch.from_numpy(resistance)).numpy()
    noise = np.random.default_rng(seed).standard_normal(seen.shape, dtype=np.float32)
    return Sequence(
        (seen + NOISE * noise).astype(np.float32),
        times,
        size=grid.size,
        excitation=TopHatPulse(duration=PULSE),
        boundary=sides,
        noise=NOISE,
        facts=Facts(units=Units(length="m", time="s", temperature="K"), material=GLASS),
    )
