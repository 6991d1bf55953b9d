"""What a camera adds to the temperatures it sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.core.checks import number
from nefty.core.errors import InputError

NOISE_STREAM, GAIN_STREAM = (), (1,)  # appended to the seeds, so that neither draw changes the other


@dataclass(frozen=True)
class Camera:
    """A camera with noise and uneven pixels: it records gain * temperature + noise.

    Args:
        noise: standard deviation of white Gaussian noise, as a share of the highest noise-free value: 0.001 is 0.1 %.
        sigma: the same in the unit of the temperatures; give one of both.
        gain: standard deviation, as a share, of the gain of a pixel, which stays the same over time; it stands for
            emissivity and for an uneven flash. The mean over the face is 1.
        gain_length: length over which gains are alike (standard deviation of the Gaussian that smooths them), in the
            length unit of the part; 0 gives each pixel its own.
    """

    noise: float = 0.0
    sigma: float = 0.0
    gain: float = 0.0
    gain_length: float = 0.0

    def __post_init__(self) -> None:
        for name in ("noise", "sigma", "gain", "gain_length"):
            object.__setattr__(self, name, number(name, getattr(self, name), at_least=0))
        if self.noise and self.sigma:
            raise InputError(
                f"noise={self.noise:g} (a share of the peak) and sigma={self.sigma:g} (a temperature) are two words "
                "for one thing; give one of them."
            )
        if self.gain_length and not self.gain:
            raise InputError(f"gain_length={self.gain_length:g} has no effect without a gain; give gain=0.03, say.")

    def film(self, frames: np.ndarray, pixel: tuple[float, float], seeds: tuple[int, ...]) -> tuple[np.ndarray, float]:
        """The frames as this camera records them, and the standard deviation of its noise.

        Args:
            frames: noise-free, float64, (..., t, y, x); changed in place.
            pixel: its height and width.
            seeds: the same ones give the same noise and gains.
        """
        sigma = self.sigma or self.noise * float(frames.max())
        if self.gain > 0:
            frames *= self.gains(frames.shape[:-3], frames.shape[-2:], pixel, seeds)
        if sigma > 0:
            random = np.random.default_rng([*seeds, *NOISE_STREAM])
            frames += sigma * random.standard_normal(frames.shape)
        return frames, sigma

    def gains(
        self, faces: tuple[int, ...], shape: tuple[int, ...], pixel: tuple[float, float], seeds: tuple[int, ...]
    ) -> np.ndarray:
        """Gain of every pixel, (1, y, x), or (faces, 1, y, x) where there are two."""
        random = np.random.default_rng([*seeds, *GAIN_STREAM])
        pattern = random.standard_normal((*faces, 1, *shape))
        if self.gain_length > 0:
            longest = min(n * d for n, d in zip(shape, pixel, strict=True)) / 2
            if self.gain_length > longest:
                raise InputError(
                    f"gain_length={self.gain_length:g} is more than half of the face; give at most {longest:g}."
                )
            widths = (*(0.0 for _ in faces), 0.0, *(self.gain_length / d for d in pixel))
            pattern = ndimage.gaussian_filter(pattern, widths, mode="reflect")
        pattern -= pattern.mean(axis=(-2, -1), keepdims=True)
        spread = pattern.std(axis=(-2, -1), keepdims=True)
        gains = 1 + self.gain * pattern / np.where(spread > 0, spread, 1)
        if gains.min() <= 0:
            raise InputError(f"gain={self.gain:g} leaves pixels that see nothing or less; give at most 0.2.")
        return gains
