"""What a reconstruction is: the volume, how well it explains the recording, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nefty.core.grid import Grid


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The diffusivity inside a part, recovered from a recording.

    Args:
        grid: the cells.
        alpha: diffusivity along z, (z, y, x).
        background: diffusivity that the part has at each depth without defects, (z,); calibrated.
        times: of the compared frames, (t,).
        measured: the recording that was fitted, (t, y, x), or (2, t, y, x) front first; NaN where it does not count.
        fitted: the model's frames of ``alpha``, of the same shape.
        noise: standard deviation of the measured values; ``None`` if it is not known.
        history: one column per quantity, one entry per iteration: ``stage``, ``evaluations``, ``seconds``, ``misfit``
            (the mean of the squared residuals over noise^2), ``objective``, ``step`` and what the optimiser adds.
        recipe: the resolved configuration.
        provenance: versions, host, seed, input, timings, as text.
        stopped: why it ended, in words.
        truth: the true diffusivity (z, y, x), where known.
        meta: what the recording said about itself.
    """

    grid: Grid
    alpha: np.ndarray
    background: np.ndarray
    times: np.ndarray
    measured: np.ndarray
    fitted: np.ndarray
    noise: float | None = None
    history: dict[str, np.ndarray] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    truth: np.ndarray | None = None
    meta: dict[str, Any] = field(default_factory=dict)
