"""The bank of weak discs that are looked for: what each would show, through the heat of a sound slab."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy import fft
from scipy.fft import next_fast_len
from scipy.special import j1

from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.responses import WAVES, rates_between, responses, spreading
from nefty.inversion.evidence.settings import EvidenceSettings
from nefty.physics.slab.weak_sheet import WeakSheet

RANK = 3  # courses in time that make up a template; the fourth has less than 1e-3 of its square
NARROWEST = 1.5  # pixels
WIDEST = 0.6  # of the frame's smaller side


@dataclass(frozen=True, eq=False)
class Template:
    """What a weak disc under the middle pixel shows.

    Args:
        depth: of the disc.
        diameter: of the disc.
        courses: in time, over the spread of the frames, orthonormal, (rank, t).
        images: of each course, (rank, y, x), on the padded frame with the disc's centre at pixel (0, 0).
        reach: over which it is felt sideways.
    """

    depth: float
    diameter: float
    courses: np.ndarray
    images: np.ndarray
    reach: float


def bank(
    contrast: Contrast,
    slab: WeakSheet,
    along: tuple[float, float],
    shallowest: float,
    settings: EvidenceSettings,
) -> list[Template]:
    """All discs that the frames can tell about.

    Args:
        contrast: of the recording.
        slab: the sound part.
        along: diffusivity along y and x.
        shallowest: depth above which nothing is said.
        settings: which discs.
    """
    shape = padded(contrast.counted.shape)
    frame = min(n * d for n, d in zip(contrast.counted.shape, contrast.pixel, strict=True))
    waves = [2 * np.pi * fft.fftfreq(n, d) for n, d in zip(shape, contrast.pixel, strict=True)]
    rate = spreading(waves, along)
    rates = rates_between(rate)
    depths = np.array([d for d in slab.thickness * np.array(settings.depths) if d >= shallowest])
    found = []
    for depth, response in zip(depths, responses(contrast, slab, depths, rates), strict=True):
        position = np.interp(rate, rates, np.arange(WAVES))
        low = np.minimum(position.astype(int), WAVES - 2)
        share = (position - low).ravel()
        spectrum = (1 - share) * response[:, low.ravel()] + share * response[:, low.ravel() + 1]
        white = contrast.whitened(spectrum)
        for width in settings.widths:
            diameter = width * depth
            if NARROWEST * max(contrast.pixel) <= diameter <= WIDEST * frame:
                found.append(_template(white, waves, shape, depth, diameter))
    return found


def _template(
    white: np.ndarray, waves: list[np.ndarray], shape: tuple[int, int], depth: float, diameter: float
) -> Template:
    disc = _disc(np.hypot(waves[0][:, None], waves[1][None, :]) * diameter / 2).ravel()
    spectrum = white * disc  # orthonormal courses of the spectrum are those of the images
    courses, _, _ = np.linalg.svd(spectrum.reshape(len(white), -1) @ spectrum.reshape(len(white), -1).conj().T)
    courses = np.real(courses[:, :RANK].T)
    images = fft.ifft2((courses @ spectrum).reshape(-1, *shape)).real
    return Template(depth, diameter, courses, images, diameter / 2 + 1.5 * depth)


def _disc(x: np.ndarray) -> np.ndarray:
    """Fourier transform of a disc of area 1, with x = k radius."""
    return np.where(x > 1e-6, 2 * j1(x) / np.maximum(x, 1e-6), 1.0)


def padded(shape: tuple[int, ...]) -> tuple[int, int]:
    """A frame with room beside it, so that nothing wraps around."""
    rows, columns = (int(next_fast_len(2 * n, real=True)) for n in shape)  # pyright: ignore[reportArgumentType]
    return rows, columns
