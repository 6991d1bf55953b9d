"""
A neural field, band by band
============================

The paper's unknown: a network of the coordinates whose encoding opens octave by octave. Coarse features come
first. Here it is fitted to a known volume, without any heat equation, to show what each number of bands can express.
"""

import matplotlib.pyplot as plt
import torch

import nefty

grid = nefty.Grid(shape=(8, 32, 32), size=(1.0, 10.0, 10.0))
truth = torch.as_tensor(nefty.draw_specimen(seed=11, defects=3).alpha(grid), dtype=torch.float32)

fig, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
for axis, bands in zip(axes, (1, 2, 4), strict=False):
    generator = torch.Generator().manual_seed(0)
    field = nefty.NeuralField(grid, depth=3, width=48, bands=bands, skip=1, horizon=0, generator=generator)
    optimiser = torch.optim.Adam(field.parameters(), lr=3e-3)
    for _ in range(150):
        optimiser.zero_grad()
        loss = (field().log() - truth.log()).square().mean()
        loss.backward()
        optimiser.step()
    image = axis.imshow(field().detach().min(0).values, vmin=0, vmax=0.2, extent=(0, 10, 10, 0))
    axis.set(title=f"{bands} band{'s' if bands > 1 else ''}, {field.unknowns:,} unknowns", xlabel="x")
axes[3].imshow(truth.min(0).values, vmin=0, vmax=0.2, extent=(0, 10, 10, 0))
axes[3].set(title="truth", xlabel="x")
fig.colorbar(image, ax=axes, label="lowest diffusivity under a pixel")
plt.show()
