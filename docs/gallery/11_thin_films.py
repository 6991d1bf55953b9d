"""
Films thinner than a cell
=========================

An air gap far thinner than a cell still holds back heat. The model describes it as a resistance between two layers, and
the frames determine that resistance: a thin gap of air and a thicker film of polymer look alike.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import nefty

cfrp = nefty.material("cfrp")
rho_c = cfrp.rho * cfrp.cp if cfrp.rho and cfrp.cp else 1.6e6
grid = nefty.Grid(shape=(12, 24, 24), size=(3e-3, 12e-3, 12e-3))  # metres
times = np.geomspace(0.05, 10, 50)
model = nefty.HeatModel(grid, times, nefty.TopHatPulse(amplitude=1.0, duration=0.01))
alpha = torch.full(grid.shape, cfrp.alpha_z)
sound = model(alpha)


def with_film(thickness: float, conductivity: float) -> torch.Tensor:
    """Frames with a film in place of as much of the part, at a depth of 1 mm."""
    resistance = torch.zeros(grid.shape[0] - 1, *grid.shape[1:])
    resistance[3, 8:16, 8:16] = rho_c * thickness / conductivity  # m2K/W times rho c: s/m
    return model(alpha, resistance=resistance)


fig, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name, thickness, conductivity in (
    ("air, 2 µm", 2e-6, 0.026),
    ("air, 6.5 µm", 6.5e-6, 0.026),
    ("polymer, 62.5 µm", 62.5e-6, 0.25),
    ("air, 50 µm", 50e-6, 0.026),
):
    contrast = (with_film(thickness, conductivity) - sound)[:, 12, 12]
    label = f"{name}: {thickness / conductivity:.2e} m²K/W"
    axis.semilogx(times, contrast, "--" if "polymer" in name else "-", label=label)
axis.set(xlabel="time after the pulse, s", ylabel="contrast (1 = rise when all heat has spread)")
axis.legend()
plt.show()
