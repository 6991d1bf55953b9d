"""
Probability of detection
========================

From which size are defects found? A curve fitted to hits and misses, with the size that is found nine times in ten
with 95 % confidence. The hits are drawn at random from a known curve, so that the answer can be checked.
"""

import matplotlib.pyplot as plt
import numpy as np

from nefty.metrics import hit_miss

rng = np.random.default_rng(4)
sizes = rng.uniform(0.5, 8, 120)  # mm
true_curve = 1 / (1 + np.exp(-4 * (np.log(sizes) - np.log(2.5))))
hits = rng.random(120) < true_curve
curve = hit_miss(sizes, hits)
print(curve)

# %%
# The fitted curve over the data.

grid = np.linspace(0.5, 8, 200)
fig, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
axis.plot(grid, curve(grid), label="fitted")
axis.plot(grid, 1 / (1 + np.exp(-4 * (np.log(grid) - np.log(2.5)))), "--", label="that the hits were drawn from")
axis.plot(sizes, hits + 0.03 * rng.uniform(-1, 1, 120), "|", color="grey", label="hits and misses")
axis.axvline(curve.a90, color="tab:green", linestyle=":", label=f"a90 = {curve.a90:.1f} mm")
axis.axvline(curve.a90_wald, color="tab:red", linestyle=":", label=f"a90/95 = {curve.a90_wald:.1f} mm")
axis.set(xlabel="diameter, mm", ylabel="probability of detection")
axis.legend(loc="lower right")
plt.show()
