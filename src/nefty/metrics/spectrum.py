"""How much structure of which size a volume has around the defects (paper, appendices E.2 and G)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.core.grid import AXES, Grid
from nefty.metrics.volume import THRESHOLD, checked_pair

CROP = (8, 16, 16)
BINS = 16


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A power spectrum, averaged over the directions.

    Args:
        frequencies: centres of the bins of |k|, in cycles per length unit.
        power: mean of |F(k)|^2 / N^2 over the modes of each bin, in diffusivity^2; NaN where a bin has none.
        modes: how many each bin has. ``nansum(power * modes)`` is the variance of the crop (Parseval).
    """

    frequencies: np.ndarray
    power: np.ndarray
    modes: np.ndarray


def radial_spectrum(
    alpha: Any,
    truth: Any,
    size: tuple[float, float, float],
    *,
    threshold: float = THRESHOLD,
    crop: tuple[int, int, int] = CROP,
    bins: int = BINS,
) -> Spectrum:
    """Radially averaged power spectrum of a crop around the true defects; give the truth twice for its own.

    The bins are centred on 1, 2, ... times w = N/``bins``, N the Nyquist frequency 1/(2 dz) along z, up to the highest
    |k| there is; each reaches w/2 to both sides, the first down to 0. They follow from the cells alone, so the spectra
    of specimens with equal cells average bin by bin. k = 0, the crop's mean, is left out. There is no window.

    Args:
        alpha: the volume.
        truth: the true one, which says where the crop lies: its middle is the mean position of all cells below
            ``threshold``, or that of the volume if there are none; at the sides it moves inwards.
        size: edge lengths (z, y, x) of the volume.
        threshold: diffusivity below which a cell is defect.
        crop: cells (z, y, x); of an axis with fewer, all of them.
        bins: how many, up to the Nyquist frequency along z.
    """
    alpha, truth = checked_pair(alpha, truth)
    grid, bins = Grid(truth.shape, size), count("bins", bins)
    defect = truth < number("threshold", threshold)
    piece = alpha[_crop(defect, _cells(crop))]

    power = np.abs(np.fft.fftn(piece)) ** 2 / piece.size**2
    axes = [np.fft.fftfreq(n, d) for n, d in zip(piece.shape, grid.spacing, strict=True)]
    k = np.sqrt(sum(f**2 for f in np.meshgrid(*axes, indexing="ij")))
    nyquist = [1 / (2 * d) for d in grid.spacing]
    width = nyquist[0] / bins
    bin_of_mode = _nearest_bin(k.ravel()[1:] / width)
    number_of_bins = int(_nearest_bin(math.hypot(*nyquist) / width)) + 1
    modes = np.bincount(bin_of_mode, minlength=number_of_bins)
    total = np.bincount(bin_of_mode, power.ravel()[1:], minlength=number_of_bins)
    mean = np.divide(total, modes, out=np.full(number_of_bins, np.nan), where=modes > 0)
    return Spectrum((np.arange(number_of_bins) + 1) * width, mean, modes)


def _nearest_bin(widths: np.ndarray | float) -> np.ndarray:
    """Number, from 0, of the bin with the nearest centre (1, 2, ...); half way the upper, whatever the last digit."""
    return np.maximum(np.floor(np.asarray(widths) + 0.5 + 1e-9).astype(int) - 1, 0)


def _cells(given: Any) -> tuple[int, ...]:
    try:
        z, y, x = given
    except (TypeError, ValueError):
        raise InputError(f"crop={given!r} must be three numbers of cells, (z, y, x).") from None
    return tuple(count(f"crop along {a}", n) for a, n in zip(AXES, (z, y, x), strict=True))


def _crop(defect: np.ndarray, crop: tuple[int, ...]) -> tuple[slice, ...]:
    """Where the crop lies: around the mean of the cells of ``defect``, within the volume."""
    cells = np.argwhere(defect) if defect.any() else (np.array([defect.shape]) - 1) / 2
    middle = cells.mean(axis=0) + 0.5
    ends = []
    for centre, wanted, there in zip(middle, crop, defect.shape, strict=True):
        length = min(wanted, there)
        first = min(max(math.floor(centre - length / 2 + 0.5), 0), there - length)
        ends.append(slice(first, first + length))
    return tuple(ends)
