"""
A plate in millimetres
======================

From a camera's file to depths in millimetres, with the recipe ``real``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import nefty
from nefty.synth import Plate, record_plate

holes = (nefty.Hole("round", centre=(0.012, 0.012), width=(0.005, 0.005), depth=0.001),)
plate = Plate(holes=holes, alpha=1.2e-7, h_front=5e-6, h_back=8e-6, size=(0.003, 0.024, 0.024))
camera = nefty.Camera(sigma=0.03, gain=0.02, gain_length=0.005)  # 30 mK of noise, pixels that differ by 2 %
filmed = record_plate(plate, pixels=(24, 24), fps=2, seconds=60, before=5, cell=(2e-4, 1e-3), camera=camera)
file = Path(tempfile.mkdtemp()) / "plate.npy"
np.save(file, filmed.frames.astype("float32") + 295)

recording = nefty.load(file, fps=2, units="K", material="pvc", thickness="3 mm", pixel="1 mm")
rec = nefty.reconstruct(recording, overrides={"model.layers": 12})
print(rec.verdict().text)

# %%
# Found, and as drilled. The circle is the true hole; numbers are depths in millimetres with their bands.

fig, axis = plt.subplots(figsize=(6.5, 5), layout="constrained")
image = axis.imshow(1e3 * rec.depth_map(), extent=(0, 24, 24, 0), cmap="viridis_r", vmin=0, vmax=3)
fig.colorbar(image, ax=axis, label="depth of the top, mm")
for hole in holes:
    y, x = 1e3 * np.array(hole.centre)
    axis.add_patch(plt.Circle((x, y), 500 * hole.width[0], fill=False, color="black"))
    axis.annotate(f"true {1e3 * hole.depth:.1f}", (x, y - 3.5), ha="center")
for found, band in zip(rec.indications(), rec.evidence(), strict=True):
    text = f"{1e3 * found.depth_to_top:.2f}\n({1e3 * band.depth_low:.2f} to {1e3 * band.depth_high:.2f})"
    axis.annotate(text, (1e3 * found.centre[2], 1e3 * found.centre[1]), ha="center", va="center", fontsize=8)
axis.set(xlabel="x, mm", ylabel="y, mm")
plt.show()
