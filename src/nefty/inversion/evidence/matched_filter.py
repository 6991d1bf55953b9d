"""How strongly each template shows at each place of the frame."""

from __future__ import annotations

import numpy as np
from numpy import fft

from nefty.inversion.evidence.bank import Template, padded
from nefty.inversion.evidence.contrast import Contrast

ENOUGH = 0.2  # of what the middle place knows of a template; places with less, at corners, are not looked at


class MatchedFilter:
    """The filters of a bank, for the frames of one recording.

    Around each place, within a Gaussian window as wide as the template, a plane of each frame is free.

    Args:
        contrast: of the recording; its values do not matter here.
        templates: of the bank.
    """

    def __init__(self, contrast: Contrast, templates: list[Template]) -> None:
        self._contrast, self.templates = contrast, templates
        self._filters = [_Filter(contrast, template) for template in templates]

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Standard scores, if the scatter were white, of values ln(T/T_sound), (template, y, x); linear in them."""
        white = self._contrast.whitened(values) * self._contrast.weight
        return np.stack([one(white) for one in self._filters])

    @property
    def information(self) -> np.ndarray:
        """1 over the standard deviation of a disc's R/(thickness/alpha) times its pixels, (template, y, x)."""
        return np.stack([one.root for one in self._filters])


class _Filter:
    """One template at all places."""

    def __init__(self, contrast: Contrast, template: Template) -> None:
        self._courses, self._counted = template.courses, contrast.counted
        self._shape, mask = padded(contrast.counted.shape), contrast.weight.astype(np.float64)
        offsets = [fft.fftfreq(n, 1 / n) * d for n, d in zip(self._shape, contrast.pixel, strict=True)]
        y, x = offsets[0][:, None] / template.reach, offsets[1][None, :] / template.reach
        window = np.exp(-(x**2 + y**2) / 2)
        plane = window * np.stack(np.broadcast_arrays(1.0, y, x))
        self._plane = fft.rfft2(plane).conj()
        self._own = fft.rfft2(window * template.images).conj()
        seen = fft.rfft2(mask, self._shape)
        products = plane[:, None] * np.stack(np.broadcast_arrays(1.0, y, x))
        gram = self._inside(fft.rfft2(products).conj() * seen)  # (3, 3, y, x)
        own = self._inside(fft.rfft2(plane * template.images[:, None]).conj() * seen)  # (rank, 3, y, x)
        square = self._inside(fft.rfft2((window * template.images**2).sum(axis=0)).conj() * seen)
        ridge = 1e-6 * np.trace(gram).max() * np.eye(3)
        solved = np.linalg.solve(np.moveaxis(gram, (0, 1), (-2, -1)) + ridge, np.moveaxis(own, (0, 1), (-1, -2)))
        self._solved = np.moveaxis(solved, (-1, -2), (0, 1))
        square = square - (self._solved * own).sum(axis=(0, 1))
        enough = contrast.counted & (square > ENOUGH * np.median(square[contrast.counted]))
        self.root = np.where(enough, np.sqrt(np.maximum(square, 0.0)), 0.0)

    def __call__(self, white: np.ndarray) -> np.ndarray:
        seen = fft.rfft2(np.tensordot(self._courses, white, axes=1), self._shape)
        cross = self._inside((self._own * seen).sum(axis=0))
        data = self._inside(self._plane * seen[:, None])
        cross = cross - (self._solved * data).sum(axis=(0, 1))
        return np.divide(cross, self.root, out=np.zeros_like(cross), where=self.root > 0)

    def _inside(self, spectrum: np.ndarray) -> np.ndarray:
        rows, columns = self._counted.shape
        return fft.irfft2(spectrum, self._shape)[..., :rows, :columns]
