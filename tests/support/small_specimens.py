"""The set-up of recordings that are simulated in a moment."""

import numpy as np

from nefty.core.grid import Grid
from nefty.physics.pulses import GaussianFlash
from nefty.synth.camera import Camera
from nefty.synth.setup import Setup

SMALL = Setup(
    grid=Grid((8, 16, 16), (1.0, 10.0, 10.0)),
    times=np.linspace(0.2, 4.0, 20),
    excitation=GaussianFlash(width=6.0),
    camera=Camera(noise=1e-3),
    dtype="float32",
)
