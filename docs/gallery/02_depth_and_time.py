"""
How deep one can see
====================

The same defect at different depths: the contrast comes later, and is weaker, the deeper it lies.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import nefty

alpha, thickness = 0.15, 1.0
grid = nefty.Grid(shape=(20, 32, 32), size=(thickness, 8.0, 8.0))
times = np.geomspace(0.02, 8, 60)
model = nefty.HeatModel(grid, times, initial=nefty.UniformFlash(amplitude=100, depth=0.05))
sound = torch.full(grid.shape, alpha)
reference = model(sound)[:, 16, 16]

fig, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
depths, peaks, best = [], [], []
for top in (2, 4, 6, 9, 12, 15):
    part = sound.clone()
    part[top : top + 2, 11:21, 11:21] = 0.01
    contrast = (model(part)[:, 16, 16] - reference).numpy()
    depths.append(top * grid.spacing[0])
    peaks.append(contrast.max())
    best.append(times[contrast.argmax()])
    axis.semilogx(times, contrast, label=f"depth {depths[-1]:.2f}")
axis.set(xlabel="time after the flash", ylabel="contrast over the middle of the defect")
axis.legend()
plt.show()

# %%
# The first sign comes after a time that grows with the square of the depth. The largest contrast comes later, when heat
# already flows around the defect, and falls steeply.

fig, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
axis.loglog(depths, best, "o-", label="time of the largest contrast")
axis.loglog(depths, np.array(depths) ** 2 / (np.pi * alpha), "--", label=r"$z^2/(\pi\alpha)$: the first sign")
twin = axis.twinx()
twin.loglog(depths, peaks, "s:", color="tab:red", label="largest contrast")
axis.set(xlabel="depth of the top", ylabel="time")
twin.set_ylabel("contrast", color="tab:red")
axis.legend(loc="lower center")
plt.show()
