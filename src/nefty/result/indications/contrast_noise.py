"""How clearly a defect stands out of an image: contrast, signal-to-noise and contrast-to-noise ratio.

Authors use the same two names for different formulas, so a result says which one it is.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nefty.core.checks import one_of
from nefty.core.errors import InputError

#: The noise in both ratios, by name; d: pixels of the defect, s: of sound ones, n: how many, sigma: deviation.
NOISES = {
    "sound": "sigma_s",
    "mean": "sqrt((sigma_d^2 + sigma_s^2)/2)",
    "sum": "sqrt(sigma_d^2 + sigma_s^2)",
    "pooled": "sqrt((n_d sigma_d^2 + n_s sigma_s^2)/(n_d + n_s))",
}


@dataclass(frozen=True)
class ContrastNoise:
    """A defect against sound pixels beside it, in one image.

    Args:
        contrast: mean_defect - mean_sound, with its sign, in the image's unit.
        snr: in decibels, 20 log10(cnr); infinite without noise, minus infinity without contrast.
        cnr: |contrast| / noise, a plain ratio; NaN if both are 0.
        noise: the denominator.
        snr_formula: as text, for reports.
        cnr_formula: the same.
        mean_defect: over the defect's pixels.
        mean_sound: over the sound ones.
        sigma_defect: standard deviation (n - 1) of the defect's pixels; NaN of a single one.
        sigma_sound: the same of the sound ones.
        pixels_defect: that counted.
        pixels_sound: that counted.
        pixels_ignored: in either mask, and NaN in the image.
    """

    contrast: float
    snr: float
    cnr: float
    noise: float
    snr_formula: str
    cnr_formula: str
    mean_defect: float
    mean_sound: float
    sigma_defect: float
    sigma_sound: float
    pixels_defect: int
    pixels_sound: int
    pixels_ignored: int

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"SNR {self.snr:.1f} dB ({self.snr_formula}), CNR {self.cnr:.3g} ({self.cnr_formula}), over "
            f"{self.pixels_defect} defect and {self.pixels_sound} sound pixels"
        )


def contrast_noise(image: Any, defect: Any, sound: Any, *, noise: str = "sound") -> ContrastNoise:
    """Contrast, SNR and CNR of a defect in an image.

    SNR = 20 log10(|mean_d - mean_s| / noise) in decibels and CNR = |mean_d - mean_s| / noise, where noise is one of

    - ``"sound"``: sigma_s, the deviation of the sound pixels; what thermography calls SNR;
    - ``"mean"``: sqrt((sigma_d^2 + sigma_s^2)/2);
    - ``"sum"``: sqrt(sigma_d^2 + sigma_s^2);
    - ``"pooled"``: sqrt((n_d sigma_d^2 + n_s sigma_s^2)/(n_d + n_s)).

    Args:
        image: (y, x): a frame, a phase or an amplitude, a map of contrast. NaN pixels do not count.
        defect: (y, x), its pixels.
        sound: (y, x), sound pixels beside it; deviations over a large area hold uneven heating as well.
        noise: the denominator, by name.
    """
    one_of("noise", noise, NOISES)
    image = _image(image)
    masks = {"defect": _mask("defect", defect, image.shape), "sound": _mask("sound", sound, image.shape)}
    both = int(np.count_nonzero(masks["defect"] & masks["sound"]))
    if both:
        raise InputError(f"{both} pixels belong to both the defect and the sound region; take them out of one.")
    d, s = (_pixels(what, image[mask], 1 if what == "defect" else 2) for what, mask in masks.items())
    mean_d, mean_s = float(d.mean()), float(s.mean())
    sigma_d, sigma_s = (float(values.std(ddof=1)) if len(values) > 1 else math.nan for values in (d, s))
    if math.isnan(sigma_d) and noise != "sound":
        raise InputError(f'noise="{noise}" needs two or more defect pixels, there is one; use noise="sound".')
    scatter = {
        "sound": sigma_s,
        "mean": math.sqrt((sigma_d**2 + sigma_s**2) / 2),
        "sum": math.hypot(sigma_d, sigma_s),
        "pooled": math.sqrt((len(d) * sigma_d**2 + len(s) * sigma_s**2) / (len(d) + len(s))),
    }[noise]
    cnr = _ratio(abs(mean_d - mean_s), scatter)
    return ContrastNoise(
        contrast=mean_d - mean_s,
        snr=20 * math.log10(cnr) if cnr > 0 else (-math.inf if cnr == 0 else math.nan),
        cnr=cnr,
        noise=scatter,
        snr_formula=f"20 log10(|mean_d - mean_s| / {NOISES[noise]})",
        cnr_formula=f"|mean_d - mean_s| / {NOISES[noise]}",
        mean_defect=mean_d,
        mean_sound=mean_s,
        sigma_defect=sigma_d,
        sigma_sound=sigma_s,
        pixels_defect=len(d),
        pixels_sound=len(s),
        pixels_ignored=int(np.isnan(image[masks["defect"] | masks["sound"]]).sum()),
    )


def _ratio(contrast: float, noise: float) -> float:
    if noise > 0:
        return contrast / noise
    return math.inf if contrast > 0 else math.nan


def _pixels(what: str, values: np.ndarray, at_least: int) -> np.ndarray:
    """The values that are numbers."""
    known = values[~np.isnan(values)]
    if not np.isfinite(known).all():
        raise InputError(f"the image is infinite in the {what} region; mark dead pixels with NaN.")
    if len(known) < at_least:
        found = f"holds {len(values)} pixels" + (f", {len(values) - len(known)} of them NaN" if len(values) else "")
        raise InputError(f"the {what} region {found}; it needs {at_least} or more that are known: enlarge its mask.")
    return known


def _image(given: Any) -> np.ndarray:
    try:
        image = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the image must be numbers (y, x), got {type(given).__name__}.") from None
    if image.ndim != 2:
        raise InputError(f"the image has shape {image.shape}; give one image (y, x), such as one frame.")
    return image


def _mask(what: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    mask = np.asarray(given)
    if mask.dtype != bool:
        raise InputError(f"the {what} mask must be boolean, got {mask.dtype}; compare with a threshold.")
    if mask.shape != shape:
        raise InputError(f"the {what} mask has shape {mask.shape}, the image {shape} (y, x); resample one of them.")
    return mask
