"""PPT, pulsed phase thermography (Maldague, Marinetti 1996): the phase of each decay, frequency by frequency."""

from __future__ import annotations

from collections.abc import Sequence as Listing
from dataclasses import dataclass

import numpy as np

from nefty.classical.contrast import half_maximum
from nefty.classical.decays import BLOCK, Decays
from nefty.classical.estimate import DepthEstimate, known, needed
from nefty.classical.ppt_transform import TAPERS, transform_of
from nefty.core.checks import count, number, one_of
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.physics.slab.reference_decay import reference_decay

#: depth = C sqrt(alpha/(pi f_b)) (Ibarra-Castanedo, Maldague 2004).
LITERATURE = 1.82
#: Six from 0.01 to 0.5 Hz; the paper does not say how they are spaced, we take equal ratios.
PAPER_FREQUENCIES = tuple(float(f) for f in np.geomspace(0.01, 0.5, 6))
RULES = ("blind", "peak")
SPREADS = 5.0
PHASE_ROUNDING = 1e-6  # radians; contrast below this is rounding


@dataclass(frozen=True, eq=False)
class PptResult:
    """Phase and amplitude of every pixel.

    Args:
        frequencies: (f,), per time unit, without 0.
        phase: radians, counted from the flash, (f, y, x); -pi/4 at all frequencies for a half space.
        amplitude: of the transform, temperature times time, (f, y, x).
        reference: median phase of the sound pixels, (f,).
        threshold: contrast that counts as seen, radians, (f,).
        frequency: blind frequency, or that of the largest contrast, (y, x); NaN where no contrast is seen.
        rule: ``"blind"`` or ``"peak"``.
        constant: C of the depth.
        literature: the C of the literature, 1.82, to compare.
        depth: (y, x), ``None`` without alpha.
        taper: that was used.
        until: time at which the decays were cut off.
    """

    frequencies: np.ndarray
    phase: np.ndarray
    amplitude: np.ndarray
    reference: np.ndarray
    threshold: np.ndarray
    frequency: np.ndarray
    rule: str
    constant: float
    literature: float = LITERATURE
    depth: np.ndarray | None = None
    taper: str = "falling"
    until: float | None = None

    @property
    def contrast(self) -> np.ndarray:
        """Phase against the sound pixels', within -pi to pi, (f, y, x)."""
        return _wrapped(self.phase - self.reference.astype(self.phase.dtype)[:, None, None])

    def estimate(self) -> DepthEstimate:
        """The depth and a mask: where the contrast is seen, down to half of its maximum; by the paper's rule, all
        pixels with a depth.
        """
        depth = known(self.depth, "a depth by PPT")
        mask = np.isfinite(depth)
        clear = np.max(np.abs(self.contrast) / self.threshold[:, None, None], axis=0)
        if self.rule == "blind":
            mask = half_maximum(clear, 1.0)
        name = "f_b" if self.rule == "blind" else "f_peak"
        note = f"{self.constant:.3g} sqrt(alpha/(pi {name})); the literature's constant is {self.literature}"
        return DepthEstimate(depth, mask, "PPT", note, clear)

    def maps(self) -> dict[str, np.ndarray]:
        """What is worth a look, by name."""
        found = {} if self.depth is None else {"depth": self.depth}
        strongest = int(np.nanmax(np.abs(self.contrast), axis=(1, 2)).argmax())
        name = f"phase contrast at {self.frequencies[strongest]:.3g}"
        return {**found, "frequency": self.frequency, name: self.contrast[strongest]}


@dataclass(frozen=True)
class Calibration:
    """The constant C that the exact slab asks for, beside the literature's.

    Args:
        constant: depth / sqrt(alpha/(pi frequency)).
        frequency: that was found.
        depth: of the slab.
        literature: 1.82.
    """

    constant: float
    frequency: float
    depth: float
    literature: float = LITERATURE


def ppt(
    sequence: Sequence,
    alpha: float | None = None,
    *,
    frequencies: Listing[float] | np.ndarray | None = None,
    taper: str = "falling",
    padding: int = 4,
    until: float | None = None,
    highest: float | None = None,
    sound: np.ndarray | None = None,
    rule: str = "blind",
    threshold: float | None = None,
    constant: float = LITERATURE,
) -> PptResult:
    """Transform every decay and find the depth from the frequency at which its phase contrast ends.

    F(f) = sum_k T(t_k) exp(-2 pi i f t_k) w_k dt_k, by the FFT for equidistant frames; single ones that are missing are
    interpolated.

    The blind frequency f_b lies above the largest contrast, where it first falls to the threshold or changes its
    sign. Over an adiabatic back face and against a half space the contrast is
    -atan(sin 2x/sinh 2x) with x = L sqrt(pi f/alpha), whose first zero, x = pi/2, makes C = pi/2 = 1.571; finite
    recordings shift it, see ``calibrate``.

    Args:
        sequence: the recording.
        alpha: diffusivity through the thickness, for a depth.
        frequencies: per time unit, increasing; those of the FFT if not given.
        taper: w, ``"falling"``, the later half of a Hann window, 1 at the flash; ``"hann"``; or ``"none"``. Without a
            taper the step at the end of a recording that has not cooled down rings through all frequencies, and the
            contrast changes its sign where the recording's length says, not the depth.
        padding: zeros are added up to so many times the length, for finer steps of frequency.
        until: time at which the decays are cut off.
        highest: frequency beyond which none are kept.
        sound: mask (y, x) of a region without defects; all pixels if not given.
        rule: ``"blind"``; or ``"peak"``, the paper's, the frequency of the largest contrast.
        threshold: phase contrast in radians that counts as seen; if not given, at each frequency five times the
            spread (1.4826 MAD) over the sound pixels, since it must not be reached by chance at any of them.
        constant: C.
    """
    one_of("taper", taper, TAPERS)
    one_of("rule", rule, RULES)
    constant = number("constant", constant, above=0)
    decays = Decays.of(sequence, None if until is None else (0.0, number("until", until, above=0)))
    f, transform = transform_of(decays.times, frequencies, taper, count("padding", padding), highest)
    n = decays.pixels.size
    phase, amplitude = np.empty((f.size, n), np.float32), np.empty((f.size, n), np.float32)
    for part, block in decays.blocks(4 * f.size):
        spectrum = transform(block)
        phase[:, part], amplitude[:, part] = np.angle(spectrum), np.abs(spectrum)
    reference, level = _reference(phase, decays.among_used(sound), threshold)
    found = np.empty(n)
    for part in _slices(n, f.size):
        found[part] = _end_of_contrast(_wrapped(phase[:, part] - reference[:, None]), level, f, rule)
    frequency = decays.image(found)
    depth = None
    if alpha is not None:
        depth = constant * np.sqrt(needed(alpha, "a depth by PPT") / (np.pi * frequency))
    phases, amplitudes = decays.image(phase, np.float32), decays.image(amplitude, np.float32)
    return PptResult(
        f, phases, amplitudes, reference, level, frequency, rule, constant, depth=depth, taper=taper, until=until
    )


def calibrate(
    times: Listing[float] | np.ndarray,
    alpha: float,
    depth: float,
    *,
    thickness: float | None = None,
    rule: str = "blind",
    threshold: float = 0.0,
    frequencies: Listing[float] | np.ndarray | None = None,
    taper: str = "falling",
    padding: int = 4,
    until: float | None = None,
) -> Calibration:
    """C on the exact decay over an adiabatic defect, recorded and transformed like the recording.

    Args:
        times: of the recording's frames after the flash.
        alpha: diffusivity through the thickness.
        depth: of the defect that C shall be right for; it depends a little on it.
        thickness: of the background that it is compared with; a half space if not given.
        rule: and the following as in ``ppt``.
        threshold: phase contrast in radians that counts as seen; 0 finds the change of sign.
        frequencies: per time unit.
        taper: of the decays.
        padding: of the decays.
        until: time at which they are cut off.
    """
    t = np.asarray(times, dtype=np.float64)
    depth = number("depth", depth, above=0)
    pair = np.stack([reference_decay(t, alpha, depth), reference_decay(t, alpha, thickness)], axis=1)
    found = ppt(
        Sequence(frames=pair[:, None, :], times=t),
        sound=np.array([[False, True]]),
        rule=rule,
        threshold=threshold,
        frequencies=frequencies,
        taper=taper,
        padding=padding,
        until=until,
    ).frequency[0, 0]
    if not np.isfinite(found):
        raise InputError(
            f"the phase contrast of a defect at depth {depth:g} does not end within the frequencies of this recording; "
            "take a deeper defect, or a faster camera."
        )
    return Calibration(float(depth / np.sqrt(alpha / (np.pi * found))), float(found), depth)


def _reference(phase: np.ndarray, sound: np.ndarray, threshold: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Median phase of the sound pixels, and the contrast that counts as seen, (f,) each."""
    reference, level = np.empty(len(phase)), np.empty(len(phase))
    for part in _slices(len(phase), phase.shape[1]):
        here = phase[part][:, sound].astype(np.float64)
        reference[part] = np.median(here, axis=1)
        away = np.abs(_wrapped(here - reference[part, None]))
        level[part] = SPREADS * 1.4826 * np.median(away, axis=1)
    if threshold is not None:
        level[:] = number("threshold", threshold, at_least=0)
    return reference, np.maximum(level, PHASE_ROUNDING)


def _end_of_contrast(contrast: np.ndarray, level: np.ndarray, f: np.ndarray, rule: str) -> np.ndarray:
    """The frequency by the rule, (n,); NaN where no contrast exceeds the level, or none ends."""
    clear = np.abs(contrast) / level[:, None]
    at = clear.argmax(axis=0) if rule == "blind" else np.where(clear > 1, np.abs(contrast), -1).argmax(axis=0)
    columns = np.arange(contrast.shape[1])
    seen = clear[at, columns] > 1
    if rule == "peak":
        return np.where(seen, f[at], np.nan)
    if f.size < 2:
        return np.full(contrast.shape[1], np.nan)
    above = np.sign(contrast[at, columns]) * contrast - level[:, None]
    after = np.arange(f.size)[:, None] > at
    ended = after & (above <= 0)
    k = np.maximum(ended.argmax(axis=0), 1)
    low, high = above[k - 1, columns], above[k, columns]
    share = np.divide(low, low - high, out=np.zeros_like(low), where=low > high)
    return np.where(seen & ended.any(axis=0), f[k - 1] + share * (f[k] - f[k - 1]), np.nan)


def _wrapped(angle: np.ndarray) -> np.ndarray:
    """Within -pi to pi."""
    return (angle + np.pi) % (2 * np.pi) - np.pi


def _slices(length: int, width: int):
    step = max(BLOCK // width, 1)
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
