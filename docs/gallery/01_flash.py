"""
A flash over a hidden defect
============================

The forward model: what a camera sees after a flash over a part with one defect.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import nefty

grid = nefty.Grid(shape=(16, 64, 64), size=(1.0, 10.0, 10.0))  # z, y, x
times = 0.05 * np.arange(1, 101)
model = nefty.HeatModel(grid, times, initial=nefty.UniformFlash(amplitude=100, depth=0.1))

sound = torch.full(grid.shape, 0.15)
part = sound.clone()
part[5:8, 20:34, 30:44] = 0.01  # a defect at a depth of 5/16 of the thickness

frames, without = model(part).numpy(), model(sound).numpy()

# %%
# The defect holds back heat, so the surface above it stays warmer. The contrast comes late, rises, and fades.

fig, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for axis, index in zip(axes, (5, 15, 40, 99), strict=True):
    image = axis.imshow(frames[index] - without[index], extent=(0, 10, 10, 0), cmap="inferno")
    axis.set_title(f"t = {times[index]:.2f}")
    axis.set_xlabel("x")
    fig.colorbar(image, ax=axis, shrink=0.7)
axes[0].set_ylabel("y")
fig.suptitle("Contrast: with the defect minus without")

# %%
# One pixel over the defect, and one beside it. In logarithms a thick sound part falls with a slope of -1/2.

fig, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.loglog(times, frames[:, 27, 37], label="over the defect")
axis.loglog(times, frames[:, 5, 5], label="beside it")
axis.set(xlabel="time after the flash", ylabel="rise of temperature")
axis.legend()
plt.show()
