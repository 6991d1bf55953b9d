"""One part flashed with and without its defect, simulated and predicted: the numbers behind the demo's page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nefty.core.grid import Grid
from nefty.report.curves import peak


@dataclass(frozen=True, eq=False)
class FlashStudy:
    """A part with a defect and the same part without, both flashed, both simulated twice.

    Args:
        grid: the cells.
        times: of the frames.
        part: diffusivity with the defect, (z, y, x).
        sound: diffusivity without.
        recording: frames of the part by the independent simulator, (t, y, x).
        reference: frames of the sound part by the independent simulator.
        modelled: frames of the part by the solver.
        modelled_sound: frames of the sound part by the solver.
        gradient: d misfit / d alpha at the sound part, (z, y, x); the misfit is half the sum of squares between
            ``modelled_sound`` and ``recording``.
        seconds: durations by name; holds ``forward`` and ``gradient``.
    """

    grid: Grid
    times: np.ndarray
    part: np.ndarray
    sound: np.ndarray
    recording: np.ndarray
    reference: np.ndarray
    modelled: np.ndarray
    modelled_sound: np.ndarray
    gradient: np.ndarray
    seconds: Mapping[str, float]

    @cached_property
    def defect(self) -> np.ndarray:
        """Mask of the defect, (z, y, x)."""
        return self.part < self.sound

    @property
    def outline(self) -> np.ndarray:
        """Mask of the defect as seen from the front, (y, x)."""
        return np.max(self.defect, axis=0)

    @property
    def contrast(self) -> np.ndarray:
        """Absolute contrast of the recording, (t, y, x)."""
        return self.recording - self.reference

    @cached_property
    def centre(self) -> tuple[int, int, int]:
        """Cell (z, y, x) nearest to the middle of the defect."""
        z, y, x = (round(float(axis.mean())) for axis in np.nonzero(self.defect))
        return z, y, x

    @property
    def depths(self) -> tuple[float, float]:
        """Depth of the defect's top and bottom."""
        layers, dz = np.flatnonzero(self.defect.any(axis=(1, 2))), self.grid.spacing[0]
        return float(layers[0] * dz), float((layers[-1] + 1) * dz)

    @property
    def opposite(self) -> tuple[int, int]:
        """Pixel (y, x) across the middle of the face: sound, and as strongly heated as the defect's centre."""
        _, ny, nx = self.grid.shape
        return ny - 1 - self.centre[1], nx - 1 - self.centre[2]

    @property
    def strongest(self) -> tuple[int, int, int]:
        """Cell (z, y, x) where the gradient is largest."""
        z, y, x = np.unravel_index(int(np.argmax(np.abs(self.gradient))), self.gradient.shape)
        return int(z), int(y), int(x)

    def summary(self) -> dict[str, Any]:
        """The numbers of the page, for ``summary.json``."""
        _, y, x = self.centre
        contrast_time, contrast_peak = peak(self.times, self.contrast[:, y, x])
        z, gy, gx = self.strongest
        middle = [float(c.ravel()[i]) for c, i in zip(self.grid.centres(), (z, gy, gx), strict=True)]
        return {
            "rmse_part": rmse(self.modelled, self.recording),
            "rmse_sound": rmse(self.modelled_sound, self.reference),
            "largest_error_part": float(np.abs(self.modelled - self.recording).max()),
            "largest_error_sound": float(np.abs(self.modelled_sound - self.reference).max()),
            "contrast_peak": contrast_peak,
            "contrast_peak_time": contrast_time,
            "defect_depths": list(self.depths),
            "gradient_peak_zyx": middle,
            "seconds": dict(self.seconds),
        }


def rmse(a: np.ndarray, b: np.ndarray) -> float:
    """Root of the mean squared difference."""
    return float(np.sqrt(np.mean((np.asarray(a, dtype=np.float64) - b) ** 2)))
