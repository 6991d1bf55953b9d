"""
Preparing a recording
=====================

What happens to a camera's frames before they are compared: the flash is found, the ambient temperature subtracted, and
frames are averaged in windows that grow with time.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import nefty
from nefty.synth import Plate, record_plate

hole = nefty.Hole("round", centre=(0.012, 0.012), width=(0.005, 0.005), depth=0.001)
plate = Plate(holes=(hole,), alpha=1.2e-7, h_front=5e-6, h_back=8e-6, size=(0.003, 0.024, 0.024))
camera = nefty.Camera(sigma=0.03, gain=0.02, gain_length=0.005)  # 30 mK of noise, pixels that differ by 2 %
filmed = record_plate(plate, pixels=(24, 24), fps=5, seconds=60, before=10, cell=(2e-4, 1e-3), camera=camera)
file = Path(tempfile.mkdtemp()) / "plate.npy"
np.save(file, filmed.frames.astype("float32") + 295)

raw = nefty.read(file, fps=5, units="K", absolute=True)
ready = nefty.load(file, fps=5, units="K", material="pvc", thickness="3 mm", pixel="1 mm")
for step in ready.facts.steps:
    print(f"{step.name}: {step.text}")

# %%
# Few means instead of hundreds of frames: early ones are kept nearly one by one, late ones are averaged, and their
# noise falls accordingly.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(raw.times, raw.frames[:, 12, 12], ".", markersize=2)
left.set(title="as read", xlabel="time, s", ylabel="temperature, K")
right.loglog(ready.times, ready.frames[:, 12, 12], "o", markersize=4, label="over the hole")
right.loglog(ready.times, ready.frames[:, 2, 2], "s", markersize=3, label="beside it")
right.set(title="prepared", xlabel="time after the flash, s", ylabel="rise, K")
right.legend()
plt.show()
