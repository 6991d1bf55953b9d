"""No calibration: everything is as the recording says, and nothing is known of the background."""

from __future__ import annotations

from typing import Any

import numpy as np

from nefty.data.facts import CalibratedValue, Note
from nefty.inversion.calibration.interface import Calibration, Compared, as_recorded
from nefty.inversion.observation import Observation
from nefty.physics.heat_model import HeatModel


class NoCalibration(Calibration):
    """The paper's: the volume alone explains the recording.

    Args:
        model: of the part.
        seen: the recording.
    """

    def __init__(self, model: HeatModel, seen: Observation) -> None:
        self._model, self._seen = model, seen

    @property
    def background(self) -> None:
        """Not known."""
        return

    @property
    def model(self) -> HeatModel:
        """As given."""
        return self._model

    @property
    def observation(self) -> Observation:
        """As recorded."""
        return self._seen

    @property
    def buried(self) -> int:
        """None are."""
        return 0

    def share(self) -> float:
        """All of it."""
        return 1.0

    def refine(self, volume: np.ndarray, steps: int, *, searched: bool) -> int:
        """Nothing to fit."""
        return 0

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing to restore."""

    def summary(self) -> tuple[CalibratedValue, ...]:
        """Nothing was calibrated."""
        return ()

    def notes(self) -> list[Note]:
        """Nothing was left out."""
        return []

    def compared(self, volume: np.ndarray, pixels: np.ndarray | float) -> Compared:
        """Frames of a volume beside those recorded."""
        return as_recorded(self._seen, self._model, volume, pixels)
