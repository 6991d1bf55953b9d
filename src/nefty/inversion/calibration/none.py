"""No calibration: everything is as the recording says, and nothing is known of the background."""

from __future__ import annotations

from typing import Any

import numpy as np

from nefty.inversion.calibration.interface import UnchangedRecording


class NoCalibration(UnchangedRecording):
    """The paper's: the volume alone explains the recording."""

    @property
    def background(self) -> None:
        """Not known."""
        return

    def refine(self, volume: np.ndarray, steps: int, *, searched: bool) -> int:
        """Nothing to fit."""
        return 0

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing to restore."""
