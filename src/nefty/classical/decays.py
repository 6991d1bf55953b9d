"""A recording as decays, one per pixel, handed out in blocks that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.heating_history import HeatingHistory
from nefty.physics.pulses import TopHatPulse

#: Values in a block: 32 MB in float64.
BLOCK = 1 << 22
#: Pixels that the noise is estimated from.
SAMPLE = 1024
#: Share of the largest differences that may be glitches, and that much less than all of them may be 0.
GLITCHES, SILENT = 0.01, 0.1


@dataclass(frozen=True, eq=False)
class Decays:
    """The front face after the flash, pixel by pixel.

    These methods know an instantaneous flash. A pulse that lasts is turned into one: frames during the pulse are left
    out, times count from its middle, and values are multiplied by ``factor``, which is exact for a half space.

    Args:
        times: after the flash or the middle of the pulse, (t,).
        frames: rise above ambient as recorded, (t, pixels).
        pixels: numbers of the pixels that are used: under the mask and without a missing value.
        shape: rows and columns of the image.
        noise: standard deviation of a recorded value, one or one per frame, if the recording knows it.
        factor: of every frame, (t,); 1 after a flash.
    """

    times: np.ndarray
    frames: np.ndarray
    pixels: np.ndarray
    shape: tuple[int, int]
    noise: float | np.ndarray | None = None
    factor: np.ndarray | None = None

    @staticmethod
    def of(sequence: Sequence, window: tuple[float, float] | None = None, at_least: int = 3) -> Decays:
        """The decays of a recording.

        Args:
            sequence: seen from the front; of ``observe="both"`` the front is taken.
            window: first and last time that count, after the flash or the middle of the pulse; all if not given.
            at_least: number of frames that are needed.
        """
        if sequence.observe == "back":
            raise InputError(
                "observe='back': these methods read the echo at the heated face; record the front, or use reconstruct."
            )
        late = sequence.after_flash()
        frames = late.frames[0] if late.observe == "both" else late.frames
        times, skipped, factor = _as_after_a_flash(late)
        first, last = (0, times.size) if window is None else _frames_within(times, window)
        kept = slice(skipped + first, skipped + last)
        times, frames, factor = times[first:last], frames[kept], factor[first:last]
        if times.size < at_least:
            raise InputError(f"{times.size} frames after the flash are too few; at least {at_least} are needed.")
        flat = frames.reshape(times.size, -1)
        used = np.ones(flat.shape[1], dtype=bool) if late.mask is None else late.mask.ravel().copy()
        step = max(BLOCK // flat.shape[1], 1)
        for start in range(0, times.size, step):
            used &= np.isfinite(flat[start : start + step]).all(axis=0)
        if not used.any():
            raise InputError("no pixel is under the mask and without missing values; change the mask or fill the gaps.")
        rows, columns = frames.shape[1:]
        noise = late.noise if late.noise is None or np.ndim(late.noise) == 0 else np.asarray(late.noise)[kept]
        return Decays(times, flat, np.flatnonzero(used), (rows, columns), noise, factor)

    def values(self, frames: slice, pixels: np.ndarray) -> np.ndarray:
        """Decays (t, n) of some frames and pixels, in float64; a copy that may be changed."""
        found = self.frames[frames, pixels].astype(np.float64)
        return found if self.factor is None else found * self.factor[frames, None]

    def blocks(self, values_per_pixel: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Which of the used pixels, and their decays (t, n) in float64; a copy that may be changed.

        Args:
            values_per_pixel: of the work to be done, where it is more than the frames.
        """
        step = max(BLOCK // max(values_per_pixel or 0, self.times.size), 1)
        for start in range(0, self.pixels.size, step):
            part = slice(start, min(start + step, self.pixels.size))
            yield part, self.values(slice(None), self.pixels[part])

    def image(self, values: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        """Values (..., used pixels) as maps (..., y, x), NaN where a pixel is not used."""
        maps = np.full((*values.shape[:-1], self.shape[0] * self.shape[1]), np.nan, dtype=dtype)
        maps[..., self.pixels] = values
        return maps.reshape(*values.shape[:-1], *self.shape)

    def among_used(self, mask: np.ndarray | None, what: str = "sound") -> np.ndarray:
        """Which of the used pixels lie in a mask (y, x); all if there is none."""
        if mask is None:
            return np.ones(self.pixels.size, dtype=bool)
        mask = np.asarray(mask)
        if mask.shape != self.shape:
            raise InputError(f"{what} has shape {mask.shape}, the image {self.shape} (y, x).")
        if mask.dtype != bool:
            raise InputError(f"{what} must be a mask of True and False, got {mask.dtype}; say mask > 0.")
        inside = mask.ravel()[self.pixels]
        if not inside.any():
            raise InputError(f"{what} holds no pixel that can be used; mark a region without defects and NaN.")
        return inside

    def noise_per_frame(self) -> np.ndarray:
        """Standard deviation of the values of each frame, (t,)."""
        factor = np.ones(self.times.size) if self.factor is None else self.factor
        return np.broadcast_to(self._recorded_noise() if self.noise is None else self.noise, factor.shape) * factor

    def noise_level(self) -> float:
        """Standard deviation of a value, the median over the frames."""
        return float(np.median(self.noise_per_frame()))

    def _recorded_noise(self) -> float:
        """From the second differences of the later half.

        r = T_k - (T_(k-1) + T_(k+1))/2 has variance 3/2 sigma^2 and hardly any signal; sigma = 1.4826 median|r| /
        sqrt(3/2). The curvature of a smooth decay is taken for noise, so without any it is small and not 0. Where the
        camera's steps are so coarse that most r are 0, their root mean square counts, without the largest.
        """
        some = self.pixels[:: -(-self.pixels.size // SAMPLE)]
        late = self.frames[min(self.times.size // 2, self.times.size - 3) :, some].astype(np.float64)
        rest = np.abs(late[1:-1] - (late[:-2] + late[2:]) / 2)
        usual = float(1.4826 * np.median(rest))
        spread = float(np.sqrt(np.mean(rest[rest <= np.quantile(rest, 1 - GLITCHES)] ** 2)))
        return (usual if usual > SILENT * spread else spread) / np.sqrt(1.5)


def _as_after_a_flash(late: Sequence) -> tuple[np.ndarray, int, np.ndarray]:
    """Times (t,) of an equivalent flash, how many frames are left out, and the factor of the others, (t,).

    A pulse of length d heats a half space to (sqrt(t) - sqrt(t - d)) 2/(d sqrt(pi)), a flash at its middle to
    1/sqrt(pi tau), tau = t - d/2: their ratio is 1.41 at the end of the pulse and 1 + (d/tau)^2/32 later.
    """
    times = np.asarray(late.times, np.float64)
    pulse = late.excitation
    if isinstance(pulse, HeatingCurve):
        return _as_after_a_flash_of(pulse.history, times)
    if not isinstance(pulse, TopHatPulse):
        return times, 0, np.ones(times.size)
    skipped = int(np.searchsorted(times, pulse.start + pulse.duration, "right"))
    if skipped == times.size:
        raise InputError(
            f"all frames lie within the pulse, which ends at {pulse.start + pulse.duration:g}; these methods need the "
            "decay after it."
        )
    tau, half = times[skipped:] - pulse.start - pulse.duration / 2, pulse.duration / 2
    return tau, skipped, half / (np.sqrt(tau) * (np.sqrt(tau + half) - np.sqrt(tau - half)))


def _as_after_a_flash_of(history: HeatingHistory, times: np.ndarray) -> tuple[np.ndarray, int, np.ndarray]:
    """The same for a heating of any course: a flash at the mean time of its heat."""
    skipped = int(np.searchsorted(times, history.end, "right"))
    if skipped == times.size:
        raise InputError(
            f"all frames lie within the heating, which ends at {history.end:g}; these methods need the decay after it."
        )
    tau = times[skipped:] - history.middle
    return tau, skipped, 1 / (np.sqrt(tau) * history.half_space(times[skipped:]))


def _frames_within(times: np.ndarray, window: tuple[float, float]) -> tuple[int, int]:
    """First and one past the last frame between two times."""
    try:
        first, last = (float(t) for t in window)
    except (TypeError, ValueError):
        raise InputError(f"window={window!r} must be two times, (first, last).") from None
    if not first < last:
        raise InputError(f"window={window!r} must be (first, last) with first < last.")
    return int(np.searchsorted(times, first, "left")), int(np.searchsorted(times, last, "right"))


def parabola_peak(values: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place and height of a peak between equidistant samples (n, pixels), from the sample ``at`` and its neighbours.

    Returns the place in samples, within half a one of ``at``, which must have a neighbour on both sides.
    """
    left, here, right = (np.take_along_axis(values, (at + k)[None], axis=0)[0] for k in (-1, 0, 1))
    bend = left - 2 * here + right
    shift = np.divide((left - right) / 2, bend, out=np.zeros_like(bend), where=bend < 0)
    shift = np.clip(shift, -0.5, 0.5)
    return at + shift, here - (left - right) / 4 * shift
