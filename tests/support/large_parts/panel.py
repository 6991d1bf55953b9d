"""A panel with two films in it, as a camera records it: a file of frames in kelvin, the flash in one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from nefty.core.grid import Grid
from nefty.data.facts import Facts, Units
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.materials import Material
from nefty.physics.pulses import TopHatPulse

ALPHA, H, PIXEL, FPS, NOISE = 4.4e-7, 3e-3, 0.75e-3, 8.0, 0.02
RHO, CP = 1800.0, 1200.0
LOSS = 10 / (RHO * CP)
LAYERS = 12
MATERIAL = Material(name="panel", alpha_z=ALPHA, alpha_y=ALPHA, alpha_x=ALPHA, rho=RHO, cp=CP)
SIDES = Boundary("adiabatic", "robin", "robin", h_front=LOSS, h_back=LOSS)
PULSE = 5e-3
#: Centre (row, column), radius in pixels, and layer of cells above each film.
FILMS = ((16.0, 14.0, 4.0, 4), (33.0, 32.0, 3.0, 3))
#: So that a run takes seconds.
QUICK: dict[str, Any] = {"model.layers": LAYERS, "stages.0.iterations": 6, "stages.1.iterations": 6}
FLASH_FRAME = 4
KNOWN: dict[str, Any] = {
    "fps": FPS,
    "units": "K",
    "flash_frame": FLASH_FRAME,
    "onset": "frame",
    "material": MATERIAL,
    "thickness": H,
    "pixel": PIXEL,
    "pulse": PULSE,
}


def frames_of(
    shape: tuple[int, int], times: np.ndarray, films: tuple[tuple[float, float, float, int], ...] = FILMS, seed: int = 1
) -> np.ndarray:
    """Rise of the pixels after the flash, (t, y, x), with noise."""
    grid = Grid((LAYERS, *shape), (H, shape[0] * PIXEL, shape[1] * PIXEL))
    model = HeatModel(grid, times, TopHatPulse(amplitude=4.0, duration=PULSE), SIDES)
    resistance = np.zeros((LAYERS - 1, *shape), dtype=np.float32)
    y, x = np.indices(shape) + 0.5
    for row, column, radius, layer in films:
        over = (y - row) ** 2 + (x - column) ** 2 <= radius**2
        resistance[layer][over] = 1.5 * (layer + 1) * H / LAYERS / ALPHA
    frames = model(torch.full(grid.shape, ALPHA), resistance=torch.from_numpy(resistance)).double().numpy()
    return frames + NOISE * np.random.default_rng(seed).standard_normal(frames.shape)


def panel(shape: tuple[int, int] = (48, 48), **more: Any) -> Sequence:
    """The same as a recording that is prepared already."""
    times = np.geomspace(0.12, 0.8 * H**2 / ALPHA, 40)
    return Sequence(
        frames_of(shape, times, **more),
        times,
        size=(H, shape[0] * PIXEL, shape[1] * PIXEL),
        excitation=TopHatPulse(duration=PULSE),
        boundary=SIDES,
        noise=NOISE,
        facts=Facts(units=Units(length="m", time="s", temperature="K"), material=MATERIAL),
    )


def panel_file(path: Path, shape: tuple[int, int] = (48, 48)) -> Path:
    """A .npy file of the panel; ``KNOWN`` is what it does not say."""
    times = np.arange(1, 121) / FPS
    after = frames_of(shape, times)
    before = NOISE * np.random.default_rng(2).standard_normal((FLASH_FRAME + 1, *shape))
    np.save(path, (295.0 + np.concatenate([before, after])).astype(np.float32))
    return path
