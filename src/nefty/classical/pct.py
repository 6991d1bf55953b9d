"""PCT, principal component thermography (Rajic 2002): the singular value decomposition of pixels by time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.classical.contrast import half_maximum
from nefty.classical.decays import Decays
from nefty.classical.estimate import DepthEstimate
from nefty.core.checks import count, one_of
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence

STANDARDISE = ("pixel", "frame", "none")
SHOWN = 4  # components
CLEAR_SPREADS = 5.0  # times the spread over all pixels that a component must reach over a defect


@dataclass(frozen=True, eq=False)
class PctResult:
    """The leading components X = sum_k s_k map_k curve_k.

    Args:
        images: the orthonormal maps over the pixels, (k, y, x).
        curves: the orthonormal curves over the times, (k, t); the entry of largest size of each is positive, and
            its map has the sign that goes with it.
        singular_values: s, falling, (k,).
        explained: s_k^2 over the sum of all, (k,).
        times: (t,).
        standardise: what was done to X before.
    """

    images: np.ndarray
    curves: np.ndarray
    singular_values: np.ndarray
    explained: np.ndarray
    times: np.ndarray
    standardise: str

    def estimate(self) -> DepthEstimate:
        """No depth; as mask, where one of the first four components is far from its median.

        It is the component and the sign in which some pixels stand out most, by their distance from the median over
        1.4826 MAD of all; down to half of the maximum of each region.
        """
        candidates = []
        for number, image in enumerate(self.images[:SHOWN], 1):
            away = image - np.nanmedian(image)
            spread = 1.4826 * np.nanmedian(np.abs(away))
            clear = away / spread if spread > 0 else np.zeros_like(away)
            candidates += [(number, clear), (number, -clear)]
        number, clear = max(candidates, key=lambda found: np.nanmax(found[1]))
        nothing = np.full(clear.shape, np.nan)
        mask, note = half_maximum(clear, CLEAR_SPREADS), f"component {number} over its spread"
        return DepthEstimate(nothing, mask, "PCT", note, clear / CLEAR_SPREADS)

    def maps(self) -> dict[str, np.ndarray]:
        """The first four components, by name."""
        shares = zip(self.images[:SHOWN], self.explained, strict=False)
        return {f"component {k} ({100 * share:.3g} %)": image for k, (image, share) in enumerate(shares, 1)}


def pct(
    sequence: Sequence,
    *,
    components: int = 6,
    standardise: str = "pixel",
    window: tuple[float, float] | None = None,
) -> PctResult:
    """Decompose a recording; gives no depth.

    Blocks of pixels are reduced by QR one after the other, X = Q R, and R is decomposed: the same singular values and
    curves as those of the whole X, without holding it.

    Args:
        sequence: the recording.
        components: how many to keep.
        standardise: ``"pixel"``, each decay minus its mean over the times, over its standard deviation, which takes
            out gains; ``"frame"``, each frame minus its mean over the pixels, over its standard deviation; ``"none"``.
        window: first and last time that count.
    """
    one_of("standardise", standardise, STANDARDISE)
    decays = Decays.of(sequence, window)
    components = count("components", components)
    most = min(decays.times.size, decays.pixels.size)
    if components > most:
        raise InputError(f"components={components} is more than there are, {most}.")
    centre, scale = _frame_statistics(decays) if standardise == "frame" else (0.0, 1.0)

    def prepared(block: np.ndarray) -> np.ndarray:
        if standardise == "pixel":
            block -= block.mean(axis=0)
            spread = block.std(axis=0)
            return np.divide(block, spread, out=np.zeros_like(block), where=spread > 0).T
        return ((block - centre) / scale).T

    r = np.empty((0, decays.times.size))
    for _, block in decays.blocks():
        r = np.linalg.qr(np.concatenate([r, prepared(block)]), mode="r")
    _, values, curves = np.linalg.svd(r, full_matrices=False)
    total = float((values**2).sum())
    values, curves = values[:components], curves[:components]
    largest = np.take_along_axis(curves, np.abs(curves).argmax(axis=1)[:, None], axis=1)
    curves = curves * np.sign(largest)
    images = np.empty((components, decays.pixels.size))
    for part, block in decays.blocks():
        images[:, part] = curves @ prepared(block).T
    images = np.divide(images, values[:, None], out=np.zeros_like(images), where=values[:, None] > 0)
    explained = values**2 / total if total > 0 else np.zeros_like(values)
    return PctResult(decays.image(images), curves, values, explained, decays.times, standardise)


def _frame_statistics(decays: Decays) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every frame over the used pixels, (t, 1); a spread of 0 counts as 1."""
    total, square = np.zeros(decays.times.size), np.zeros(decays.times.size)
    for _, block in decays.blocks():
        total += block.sum(axis=1)
    mean = total / decays.pixels.size
    for _, block in decays.blocks():
        square += ((block - mean[:, None]) ** 2).sum(axis=1)
    spread = np.sqrt(square / decays.pixels.size)
    return mean[:, None], np.where(spread > 0, spread, 1.0)[:, None]
