"""
The weight of the penalty
=========================

The weight of the penalties decides how simple the volume is. If it is too small, the volume follows the noise: the
misfit falls below that of a good volume, and the defects are lost. ``auto`` chooses the weight from the noise.
"""

import matplotlib.pyplot as plt
import numpy as np

import nefty

part = nefty.draw_specimen(seed=5, defects=2)
grid = nefty.Grid(shape=(8, 28, 28), size=(1.0, 10.0, 10.0))
recording = nefty.simulate(part, grid=grid, times=0.15 * np.arange(1, 31), noise=5e-3)

few = {"model.layers": 8, "calibration.strata": 1}
results = {
    weight: nefty.reconstruct(recording, overrides={**few, "weight.tv": weight}) for weight in (0.05, 0.5, "auto")
}

# %%
# The lowest diffusivity under each pixel, for three weights and in truth.

fig, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
for axis, (weight, rec) in zip(axes, results.items(), strict=False):
    image = axis.imshow(rec.alpha.min(axis=0), vmin=0, vmax=0.2, extent=(0, 10, 10, 0))
    iou = nefty.evaluate(rec, recording.truth).iou
    axis.set(title=f"weight {weight}:\nmisfit {rec.misfit:.2f}, IoU {iou:.2f}", xlabel="x")
    axis.title.set_fontsize(9)
axes[3].imshow(recording.truth.min(axis=0), vmin=0, vmax=0.2, extent=(0, 10, 10, 0))
axes[3].set(title="truth", xlabel="x")
fig.colorbar(image, ax=axes, label="lowest diffusivity")
plt.show()
