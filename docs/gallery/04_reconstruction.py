"""
A first reconstruction
======================

From frames with noise to the volume, its indications and their depths, beside the truth.
"""

import matplotlib.pyplot as plt
import numpy as np

import nefty

part = nefty.draw_specimen(seed=11, defects=3)
grid = nefty.Grid(shape=(12, 40, 40), size=(1.0, 10.0, 10.0))
recording = nefty.simulate(part, grid=grid, times=0.1 * np.arange(1, 51), noise=1e-3)
rec = nefty.reconstruct(recording, overrides={"model.layers": 12, "calibration.strata": 1})
print(rec.verdict().text)

# %%
# The depth map: how deep the top of each indication lies.

true_depth = np.where((recording.truth < 0.03).any(0), (recording.truth < 0.03).argmax(0) / grid.shape[0], np.nan)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for axis, depth, title in ((axes[0], rec.depth_map(), "found"), (axes[1], true_depth, "true, in whole cells")):
    image = axis.imshow(depth, extent=(0, 10, 10, 0), cmap="viridis_r", vmin=0, vmax=1)
    axis.set(title=title, xlabel="x", ylabel="y")
for found in rec.indications():
    x, y = found.centre[2], found.centre[1] - found.size_y / 2 - 0.3
    axes[0].annotate(f"{found.label}: {found.depth_to_top:.2f}", (x, y), ha="center")
fig.colorbar(image, ax=axes, label="depth of the top, in thicknesses")

# %%
# A cut along the depth through the largest indication.

row = int(rec.indications()[0].centre[1] / grid.spacing[1])
fig, axes = plt.subplots(2, 1, figsize=(8, 4), layout="constrained", sharex=True)
for axis, volume, title in ((axes[0], rec.alpha, "found"), (axes[1], recording.truth, "true")):
    image = axis.imshow(volume[:, row], extent=(0, 10, 1, 0), aspect="auto", vmin=0, vmax=0.2)
    axis.set(title=title, ylabel="z")
axes[1].set_xlabel("x")
fig.colorbar(image, ax=axes, label="diffusivity")
plt.show()
