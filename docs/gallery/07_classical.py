"""
Classical methods on the same recording
=======================================

Four methods that inspectors know, pixel by pixel, on a simulated part.
"""

import matplotlib.pyplot as plt
import numpy as np

import nefty
from nefty.classical import technique

part = nefty.draw_specimen(seed=11, defects=3)
grid = nefty.Grid(shape=(12, 48, 48), size=(1.0, 10.0, 10.0))
recording = nefty.simulate(
    part, grid=grid, times=0.05 * np.arange(1, 101), excitation=nefty.UniformFlash(100, 0.05), noise=1e-3
)

# %%
# Each result has its own maps; shown are the one with the defects, and the depth if the method gives one.

fig, axes = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained")
for axis, name in zip(axes, ("tsr", "ppt", "peak-slope", "pct"), strict=True):
    method = technique(name)
    found = method.run(recording, alpha=0.15) if method.depth else method.run(recording)
    title, picture = next(iter(found.maps().items()))
    image = axis.imshow(picture, extent=(0, 10, 10, 0), cmap="viridis")
    axis.set(title=f"{method.title}\n{title}", xlabel="x")
    axis.title.set_fontsize(9)
    fig.colorbar(image, ax=axis, shrink=0.7)
plt.show()
