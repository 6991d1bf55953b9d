"""What every calibration can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.data.facts import CalibratedValue, Note
from nefty.inversion.observation import Observation
from nefty.physics.heat_model import HeatModel


@dataclass(frozen=True, eq=False)
class Compared:
    """What the result shows side by side.

    Args:
        measured: frames as recorded, (t, y, x) or (2, t, y, x); NaN where a value does not count.
        fitted: what the camera would show of the volume, of the same shape.
        noise: standard deviation of a value, one number or (t,).
    """

    measured: np.ndarray
    fitted: np.ndarray
    noise: float | np.ndarray


class Calibration(ABC):
    """What is known of a part but for its defects, and of how the camera saw it.

    It holds the background, the model of the part and the recording as that model would show it, and may change all
    three when it is fitted again under the defects found.
    """

    @property
    @abstractmethod
    def background(self) -> np.ndarray | None:
        """Diffusivity of the layers without defects, (z,); ``None`` if it is not known."""

    @property
    @abstractmethod
    def model(self) -> HeatModel:
        """Diffusivity to frames, as calibrated."""

    @property
    @abstractmethod
    def observation(self) -> Observation:
        """The recording as the cells of ``model`` would show it."""

    @property
    @abstractmethod
    def buried(self) -> int:
        """Layers of cells under the front face of which the frames say nothing, and which are taken as sound."""

    @abstractmethod
    def share(self) -> np.ndarray | float:
        """Of its weight that each value keeps, broadcasting to the frames."""

    @abstractmethod
    def refine(self, volume: np.ndarray, steps: int, *, searched: bool) -> int:
        """Fit again under the defects found so far; returns what that cost, in evaluations of the objective.

        Args:
            volume: the present diffusivity, (z, y, x).
            steps: of Gauss-Newton; 0 leaves the fit as it is.
            searched: whether a stage was done, so that the volume's defects were found in this recording.
        """

    def adopt(self, background: np.ndarray) -> None:
        """Take the background, (z,), that was optimised along with the defects."""
        raise NotImplementedError(f"{type(self).__name__} has no background that is optimised along.")

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All that a checkpoint has to hold."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""

    @abstractmethod
    def summary(self) -> tuple[CalibratedValue, ...]:
        """What was calibrated, for the report; empty if nothing is told."""

    @abstractmethod
    def notes(self) -> list[Note]:
        """What was left out."""

    @abstractmethod
    def compared(self, volume: np.ndarray, pixels: np.ndarray | float) -> Compared:
        """Frames of a volume beside those recorded.

        Args:
            volume: diffusivity, (z, y, x).
            pixels: factor of each pixel on the frames of ``model``, (t, y, x); 1 if all are alike.
        """


class UnchangedRecording(Calibration):
    """A calibration that takes the recording as it is, and all of it; what it knows of the background is its own.

    Args:
        model: of the part.
        seen: the recording.
    """

    def __init__(self, model: HeatModel, seen: Observation) -> None:
        self._model, self._seen = model, seen

    @property
    def model(self) -> HeatModel:
        """Of the part, under the flash as given or fitted."""
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

    def summary(self) -> tuple[CalibratedValue, ...]:
        """Nothing beyond the background, which the result holds."""
        return ()

    def notes(self) -> list[Note]:
        """Nothing was left out."""
        return []

    def compared(self, volume: np.ndarray, pixels: np.ndarray | float) -> Compared:
        """Frames of a volume beside those recorded."""
        noise = self._seen.noise if np.ndim(self._seen.noise) == 0 else np.ravel(self._seen.noise)
        measured = np.where(self._seen.counted, self._seen.frames, np.nan)
        return Compared(measured, self._model(volume).double().numpy() * pixels, noise)
