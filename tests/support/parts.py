"""A part of carbon fibre in metres with one planted defect, off-centre under pixels that are not square."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from nefty.core.grid import Grid
from nefty.data.facts import CameraFacts, Facts, Note, NoteKind, Origin, Source, Units
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.materials import Material
from nefty.physics.pulses import TopHatPulse
from nefty.result.reconstruction import Reconstruction

GRID = Grid((13, 30, 44), (1.3e-3, 30 * 0.3e-3, 44 * 0.2e-3))  # pixels of 0.3 mm x 0.2 mm
BULK = 4.5e-7
LAYERS, ROWS, COLUMNS = slice(6, 9), slice(17, 24), slice(6, 17)  # the defect: 0.6 to 0.9 mm deep, 2.1 mm x 2.2 mm
TIMES = np.geomspace(0.03, 3.0, 50)
NOISE = 0.02
FACTS = Facts(
    units=Units(length="m", time="s", temperature="K"),
    material=Material(name="cfrp", alpha_z=BULK, alpha_y=BULK, alpha_x=BULK, note="table of nefty"),
    camera=CameraFacts(model="SC5000", lens="27 mm", frame_rate=50.0),
    origin=Origin(source=Source.FILE, name="plate 12.h5"),
    notes=(Note(NoteKind.CONVERSION, "Counts became kelvin by the file's lookup table."),),
)


def planted(*, layers: slice = LAYERS, noise: float = NOISE, **changes: Any) -> Reconstruction:
    """A reconstruction that is right: its volume is the one that made its frames.

    Args:
        layers: of cells that the defect fills.
        noise: of the measured frames, in K.
        changes: other fields.
    """
    alpha = np.full(GRID.shape, BULK)
    alpha[layers, ROWS, COLUMNS] = 0.04 * BULK
    model = HeatModel(GRID, TIMES, TopHatPulse(amplitude=8.0, duration=0.02), boundary=Boundary(lateral="adiabatic"))
    fitted = model(torch.tensor(alpha)).numpy()
    random = np.random.default_rng(5)
    values: dict[str, Any] = {
        "grid": GRID,
        "alpha": alpha,
        "background": np.full(GRID.shape[0], BULK),
        "times": TIMES,
        "measured": fitted + noise * random.standard_normal(fitted.shape),
        "fitted": fitted,
        "noise": noise,
        "facts": FACTS,
    }
    return Reconstruction(**(values | changes))
