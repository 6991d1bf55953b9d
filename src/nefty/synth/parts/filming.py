"""What a camera makes of the rises it sees: gain, lens, noise, counts, and when its frames come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.core.checks import count, number

STREAM = 141  # seeds of cameras
HIGHEST = 65535


@dataclass(frozen=True, eq=False)
class Filming:
    """A camera in front of a part.

    Args:
        gain: of every pixel, (y, x); it stands for emissivity and the pixel's own sensitivity.
        blur: standard deviation of the lens, in pixels.
        noise: standard deviation of the noise of a value, in K.
        ambient: temperature before the flash, in degrees Celsius.
        counts: per K, linear; 0 for a camera that gives kelvin.
        before: frames before the first one that the heating has reached.
        late: how long before that frame the heating began, in frames, 0 to 1.
    """

    gain: np.ndarray
    blur: float
    noise: float
    ambient: float
    counts: float
    before: int
    late: float

    def times(self, fps: float, seconds: float) -> np.ndarray:
        """Of all frames in s after the heating began, those before it negative."""
        after = int((seconds * fps) - self.late) + 1
        return (np.arange(-self.before, after) + self.late) / fps

    def seen(self, rises: np.ndarray) -> np.ndarray:
        """Rises (t, y, x) through the lens, without gain and noise."""
        return np.asarray(ndimage.gaussian_filter(rises, (0, self.blur, self.blur), mode="nearest"))

    def film(self, rises: np.ndarray, seed: int) -> np.ndarray:
        """Frames of rises (t, y, x) in K: uint16 counts, or float32 in kelvin.

        Args:
            rises: of the surface.
            seed: of the noise.
        """
        random = np.random.default_rng([seed, STREAM, 1])
        values = self.gain * self.seen(rises)
        values += self.noise * random.standard_normal(values.shape)
        if not self.counts:
            return (values + self.ambient + 273.15).astype(np.float32)
        return np.clip(np.rint((values + self.ambient) * self.counts + 2000), 0, HIGHEST).astype(np.uint16)


def draw_filming(seed: int, pixels: tuple[int, int]) -> Filming:
    """A camera at random: 18 to 35 mK, gains of 1 to 4 % over the face and 0.2 to 0.8 % from pixel to pixel, a lens
    that blurs by 0.4 to 0.9 pixels, 5 to 20 frames before the flash, which comes at any time between two frames.

    Args:
        seed: the same one gives the same camera.
        pixels: of its frame, (y, x).
    """
    random = np.random.default_rng([count("seed", seed, at_least=0), STREAM, 0])
    smooth = ndimage.gaussian_filter(random.standard_normal(pixels), min(pixels) / 5, mode="reflect")
    smooth = np.asarray(smooth) - np.mean(smooth)
    gain = 1 + random.uniform(0.01, 0.04) * smooth / np.std(smooth)
    gain = gain + random.uniform(0.002, 0.008) * random.standard_normal(pixels)
    return Filming(
        gain=gain / gain.mean(),
        blur=float(random.uniform(0.4, 0.9)),
        noise=number("noise", float(random.uniform(0.018, 0.035)), above=0),
        ambient=float(random.uniform(18, 26)),
        counts=float(random.uniform(80, 250)) if random.random() < 0.5 else 0.0,
        before=int(random.integers(5, 21)),
        late=float(random.uniform(0, 1)),
    )
