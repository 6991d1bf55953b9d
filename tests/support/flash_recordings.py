"""Recordings as a camera makes them, of a slab without defects, with artefacts in known places."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nefty.data.facts import Facts, Origin, Source, Units
from nefty.data.sequence import Sequence

FLASH_UNKNOWN = Origin(source=Source.FILE, flash_known=False)


def slab(times: np.ndarray, echo: float = 300.0) -> np.ndarray:
    """Surface rise after an ideal flash at t = 0, 1 at t = 1 before the back wall shows at about ``echo``; 0 before."""
    late = np.where(times > 0, times, np.inf)[:, None]
    n = np.arange(1, 40)
    images = 1 + 2 * np.exp(-(n**2) * echo / late).sum(axis=1)
    return np.where(times > 0, images / np.sqrt(late[:, 0]), 0.0)


def noise_of(sequence: Sequence) -> np.ndarray:
    """The noise of each frame (t,) of a recording that has one for each."""
    assert isinstance(sequence.noise, np.ndarray)
    assert sequence.noise.shape == sequence.times.shape
    return sequence.noise


@dataclass
class Camera:
    """What the recording shows; ``frames()`` makes it.

    Args:
        shape: (t, y, x).
        flash: number of the frame in which the flash falls.
        within: when it falls, in frame periods before that frame's time.
        fps: frames per second.
        rise: of the surface, one frame period after the flash.
        ambient: of the values before the flash.
        sigma: noise of a value.
        gain: of the pixels (y, x), 1 if not given.
        seed: of the noise.
        drift: of the camera, per second.
        echo: (thickness squared over diffusivity), in frame periods.
        pattern: offset of the pixels (y, x).
        facts: of the recording.
    """

    shape: tuple[int, int, int] = (300, 24, 32)
    flash: int = 11
    within: float = 0.5
    fps: float = 10.0
    rise: float = 10.0
    ambient: float = 295.0
    sigma: float = 0.03
    gain: np.ndarray | None = None
    seed: int = 1
    drift: float = 0.0
    echo: float = 300.0
    pattern: np.ndarray | float = 0.0
    facts: Facts = field(default_factory=lambda: Facts(units=Units(time="s", temperature="K"), origin=FLASH_UNKNOWN))

    @property
    def file_times(self) -> np.ndarray:
        """As the file counts them."""
        return np.arange(self.shape[0]) / self.fps

    @property
    def onset(self) -> float:
        """When the flash was, as the file counts time."""
        return (self.flash - self.within) / self.fps

    def clean(self) -> np.ndarray:
        """The rise of a pixel of gain 1, (t,)."""
        return self.rise * slab((self.file_times - self.onset) * self.fps, self.echo)

    def frames(self) -> np.ndarray:
        """As the camera gives them, (t, y, x)."""
        rng = np.random.default_rng(self.seed)
        gain = np.ones(self.shape[1:]) if self.gain is None else self.gain
        drift = self.drift * self.file_times[:, None, None]
        frames = self.ambient + drift + self.pattern + self.clean()[:, None, None] * gain
        return (frames + self.sigma * rng.standard_normal(self.shape)).astype(np.float32)

    def counts(self) -> np.ndarray:
        """The frames as whole numbers, as a camera writes them: value = 0.005 x count + 250."""
        return np.round((self.frames() - 250) / 0.005).astype(np.uint16)

    def sequence(self, frames: np.ndarray | None = None, **more) -> Sequence:
        """As ``load`` returns a file that does not say when the flash was."""
        values = self.frames() if frames is None else frames
        return Sequence(frames=values, times=self.file_times, **{"facts": self.facts, **more})
