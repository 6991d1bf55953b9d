"""How quickly the misfit of a sheet grows with changes of its insulation and depth: that of a weak one.

A weak sheet at one depth is a convolution, and between sides that no heat crosses, cosines are its own patterns. So a
product with the curvature takes a few cosine transforms instead of a run of the heat model. The response to a change
of the insulation dc and of the depth dz of a sheet c is b(k) dc + d(k) c dz for each wave k and frame; only the sums
over frames of b b, b d and d d matter.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.responses import rates_between, responses, spreading
from nefty.physics.slab.weak_sheet import WeakSheet

FLOOR = 0.05  # of the mean curvature: waves that a weak sheet does not show, a strong one may
DEPTHS = np.linspace(0.05, 0.95, 19)  # of the thickness, between which what is known of a pixel is interpolated


class Curvature:
    """The curvature of half the squared misfit of a sheet.

    Args:
        contrast: of the recording.
        slab: the sound part.
        along: diffusivity along y and x over that through the thickness.
        depth: of the sheet.
        cell: unit of changes of the depth.
    """

    def __init__(
        self, contrast: Contrast, slab: WeakSheet, along: tuple[float, float], depth: float, cell: float
    ) -> None:
        rate = _rates_of_cosines(contrast, slab, along)
        rates, near = rates_between(rate), np.array([-0.5, 0.0, 0.5]) * cell
        above, here, below = (contrast.whitened(r) for r in responses(contrast, slab, depth + near, rates))
        share = depth / slab.thickness  # R/(thickness/alpha) of a unit of insulation
        of_c, of_z = share * here, share * (below - above)
        self._cc, self._cz, self._zz = (
            np.interp(rate, rates, (a * b).sum(axis=0)) for a, b in ((of_c, of_c), (of_c, of_z), (of_z, of_z))
        )
        self._cc += FLOOR * self._cc.mean()
        self._zz += FLOOR * self._zz.mean()

    def __call__(self, change: np.ndarray, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The product with a change of the insulation and with insulation times change of the depth, each (y, x)."""
        c, z = (fft.dctn(v, norm="ortho") for v in (change, moved))
        slope_c, slope_z = (
            fft.idctn(p, norm="ortho") for p in (self._cc * c + self._cz * z, self._cz * c + self._zz * z)
        )
        return np.asarray(slope_c), np.asarray(slope_z)


class Information:
    """What a recording tells of a pixel: once for all depths, since of a heating that lasts it takes seconds.

    Args:
        contrast: of the recording.
        slab: the sound part.
        along: diffusivity along y and x over that through the thickness.
    """

    def __init__(self, contrast: Contrast, slab: WeakSheet, along: tuple[float, float]) -> None:
        rate = _rates_of_cosines(contrast, slab, along)
        rates = rates_between(rate)
        self._depths = DEPTHS * slab.thickness
        self._scales = [
            np.sqrt(float(np.interp(rate, rates, (contrast.whitened(shown) ** 2).sum(axis=0)).mean())) * share
            for share, shown in zip(DEPTHS, responses(contrast, slab, self._depths, rates), strict=True)
        ]

    def __call__(self, depth: np.ndarray | float) -> np.ndarray:
        """1 over the standard deviation of the insulation of one pixel, alone and to first order, at those depths."""
        return np.maximum(np.interp(depth, self._depths, self._scales), 1e-9)


def _rates_of_cosines(contrast: Contrast, slab: WeakSheet, along: tuple[float, float]) -> np.ndarray:
    """Rates at which the cosines of a frame between sides that no heat crosses spread, (ky, kx)."""
    waves = [np.pi * np.arange(n) / (n * d) for n, d in zip(contrast.counted.shape, contrast.pixel, strict=True)]
    return spreading(waves, (slab.alpha * along[0], slab.alpha * along[1]))
