"""
In the shadow of a defect
=========================

Heat hardly passes a delamination. What lies under it hardly changes the frames.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import nefty

grid = nefty.Grid(shape=(16, 48, 48), size=(1.0, 10.0, 10.0))
times = 0.1 * np.arange(1, 61)
model = nefty.HeatModel(grid, times, initial=nefty.UniformFlash(amplitude=100, depth=0.1))


def part(upper: bool, lower: bool) -> torch.Tensor:
    """A slab with a delamination, with a block under it, or with both."""
    alpha = torch.full(grid.shape, 0.15)
    if upper:
        alpha[4, 12:36, 12:36] = 0.0005
    if lower:
        alpha[9:12, 20:28, 20:28] = 0.005
    return alpha


frames = {key: model(part(*key)).numpy() for key in [(False, False), (False, True), (True, False), (True, True)]}

# %%
# The block alone is clearly visible. Under the delamination it is not.

alone = np.abs(frames[False, True] - frames[False, False]).max(axis=0)
hidden = np.abs(frames[True, True] - frames[True, False]).max(axis=0)
peak = frames[False, False].max()

fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
axes[0].imshow(part(True, True)[:, 24].numpy(), aspect="auto", extent=(0, 10, 1, 0), cmap="viridis")
axes[0].set(title="The part, cut in the middle", xlabel="x", ylabel="z")
for axis, seen, title in ((axes[1], alone, "Block alone"), (axes[2], hidden, "Block under the delamination")):
    image = axis.imshow(100 * seen / peak, extent=(0, 10, 10, 0), cmap="inferno")
    axis.set(title=title, xlabel="x")
    fig.colorbar(image, ax=axis, label="largest change, % of the peak")
print(f"the block alone changes the frames by {100 * alone.max() / peak:.2f} % of the peak")
print(f"in the shadow by {100 * hidden.max() / peak:.5f} %")
plt.show()
