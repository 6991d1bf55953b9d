"""
How strongly each depth shows
=============================

Products with the Jacobian give the change of the frames for a small change inside. Here a small disc is weakened
a little at each depth in turn.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import nefty

grid = nefty.Grid(shape=(16, 32, 32), size=(1.0, 8.0, 8.0))
times = 0.1 * np.arange(1, 61)
model = nefty.HeatModel(grid, times, initial=nefty.UniformFlash(amplitude=100, depth=0.1), dtype="float64")
lin = model.linearize(torch.full(grid.shape, 0.15, dtype=torch.float64))

_, y, x = grid.centres()
distance = torch.as_tensor(np.hypot(y - 4, x - 4)[0])
directions = []
for radius in (0.5, 2.0):
    for layer in range(grid.shape[0]):
        change = torch.zeros(grid.shape, dtype=torch.float64)
        change[layer][distance < radius] = -0.015  # 10 % less
        directions.append({"alpha": change})
answers = torch.stack(lin.jvps(directions)).abs().amax(dim=(1, 2, 3)).reshape(2, -1)

# %%
# A disc half as wide as the part is thick is lost long before the back face; a wide one shows deeper.

fig, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
z = grid.centres()[0].ravel()
for radius, answer in zip((0.5, 2.0), answers, strict=True):
    axis.semilogy(z, 100 * answer / lin.frames.max(), "o-", label=f"disc of radius {radius}")
axis.axhline(0.1, color="grey", linestyle="--", label="noise of 0.1 % in one value")
axis.set(xlabel="depth of the weakened layer", ylabel="largest change, % of the peak")
axis.legend()
plt.show()
