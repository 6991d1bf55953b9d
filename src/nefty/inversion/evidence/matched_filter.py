"""How strongly each template shows at each place of the frame."""

from __future__ import annotations

import numpy as np
from scipy import fft

from nefty.inversion.evidence.bank import Template, padded
from nefty.inversion.evidence.contrast import Contrast


def matched_filter(contrast: Contrast, templates: list[Template]) -> tuple[np.ndarray, np.ndarray]:
    """Standard scores if the scatter were white, and strength R/(thickness/alpha) of the disc that fits best.

    Around each place, within a Gaussian window as wide as the template, a plane of each frame is free.

    Returns:
        scores and strengths, (template, y, x); 0 where too few pixels count.
    """
    white = contrast.whitened(contrast.values) * contrast.counted
    scores, strengths = [], []
    for template in templates:
        score, strength = _one(np.tensordot(template.courses, white, axes=1), contrast, template)
        scores.append(score)
        strengths.append(strength)
    return np.stack(scores), np.stack(strengths)


def _one(seen: np.ndarray, contrast: Contrast, template: Template) -> tuple[np.ndarray, np.ndarray]:
    shape, mask = padded(contrast.counted.shape), contrast.counted.astype(np.float64)
    offsets = [fft.fftfreq(n, 1 / n) * d for n, d in zip(shape, contrast.pixel, strict=True)]
    y, x = offsets[0][:, None] / template.reach, offsets[1][None, :] / template.reach
    window = np.exp(-(x**2 + y**2) / 2)
    plane = np.stack(np.broadcast_arrays(1.0, y, x))

    def around(kernel: np.ndarray, image: np.ndarray) -> np.ndarray:
        """Sum over the offsets q of kernel(q) image(p + q), (..., y, x)."""
        product = fft.rfft2(kernel).conj() * fft.rfft2(image, shape)
        rows, columns = contrast.counted.shape
        return fft.irfft2(product, shape)[..., :rows, :columns]

    gram = around(window * plane[:, None] * plane[None], mask)  # (3, 3, y, x)
    own = around(window * template.images[:, None] * plane, mask)  # (rank, 3, y, x)
    data = around(window * plane, seen[:, None])  # (rank, 3, y, x)
    square = around((window * template.images**2).sum(axis=0), mask)
    cross = sum(around(window * image, a) for image, a in zip(template.images, seen, strict=True))
    ridge = 1e-6 * np.trace(gram).max() * np.eye(3)
    solved = np.linalg.solve(np.moveaxis(gram, (0, 1), (-2, -1)) + ridge, np.moveaxis(own, (0, 1), (-1, -2)))
    solved = np.moveaxis(solved, (-1, -2), (0, 1))  # (rank, 3, y, x)
    square = square - (solved * own).sum(axis=(0, 1))
    cross = cross - (solved * data).sum(axis=(0, 1))
    enough = contrast.counted & (square > 0.2 * np.median(square[contrast.counted]))
    safe = np.where(enough, square, 1.0)
    return np.where(enough, cross / np.sqrt(safe), 0.0), np.where(enough, cross / safe, 0.0)
