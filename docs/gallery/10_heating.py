"""
Flash, pulse, step and a measured lamp
======================================

The heating over time changes the decay of the face, but not the method: any heating curve costs as little as a flash.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import nefty

grid = nefty.Grid(shape=(16, 32, 32), size=(1.0, 8.0, 8.0))
times = 0.05 * np.arange(1, 121)
sound = torch.full(grid.shape, 0.15)
part = sound.clone()
part[5:7, 10:22, 10:22] = 0.01

seconds = np.linspace(0, 3, 61)
heatings = {
    "short pulse": nefty.TopHatPulse(duration=0.02),
    "long pulse": nefty.TopHatPulse(duration=2.0),
    "lamp with afterglow": nefty.HeatingCurve(seconds, np.exp(-seconds / 0.4)),
    "modulated lamp": nefty.HeatingCurve(np.linspace(0, 6, 241), 1 - np.cos(2 * np.pi * np.linspace(0, 6, 241) / 2)),
}

fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
for name, heating in heatings.items():
    model = nefty.HeatModel(grid, times, initial=heating)
    seen, without = model(part)[:, 16, 16], model(sound)[:, 16, 16]
    left.plot(times, without, label=name)
    right.plot(times, seen - without, label=name)
left.set(title="sound face", xlabel="time", ylabel="rise; 1 when all heat has spread", ylim=(0, 4))
right.set(title="contrast over the defect", xlabel="time", ylabel="warmer by")
left.legend()
plt.show()
