"""What a recording might have shown instead: camera noise and errors of the model, as its own residual tells them.

What the first fit leaves unexplained, over the spread of a frame, is taken apart into what differs from pixel to pixel
and from frame to frame (the camera) and what neighbours within a thickness have in common (the model): a few courses in
time, each with an image. A member gets other noise and other images, as large as those were, in place of the residual:

    r(t, y, x) = w n(t, y, x) + a(y, x) sum_k s_k u_k(t) g_k(y, x),

n and g_k standard normal, g_k smooth, u_k orthonormal, a the local size of the errors over the typical one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.data.noise import MAD_TO_SIGMA

COURSES = 3  # in time that errors of a model follow
PATCH = 1 / (2 * np.sqrt(np.pi))  # standard deviation of a normal patch over the side of the square of equal weight
LEAST, LARGEST = 0.5, 4.0  # local size of the errors over the typical one


@dataclass(frozen=True, eq=False)
class FrameErrors:
    """Errors of the frames of one recording, over the spread of each frame.

    Args:
        white: standard deviation w of what differs from pixel to pixel.
        courses: s_k u_k, (k, t).
        size: a, (y, x).
        widths: standard deviations in pixels along y and x by which images are smooth.
    """

    white: float
    courses: np.ndarray
    size: np.ndarray
    widths: tuple[float, float]

    @staticmethod
    def of(left: np.ndarray, counted: np.ndarray, patch: tuple[float, float]) -> FrameErrors:
        """Take a residual apart.

        Args:
            left: the residual over the spread, (t, y, x).
            counted: pixels (y, x) that count.
            patch: pixels along y and x over which errors of the model are alike.
        """
        left = np.where(counted, np.nan_to_num(left), 0.0)
        widths = (PATCH * patch[0], PATCH * patch[1])
        white = _from_pixel_to_pixel(left, counted)
        share = ndimage.gaussian_filter(counted.astype(np.float64), widths)
        smooth = ndimage.gaussian_filter(left, (0.0, *widths)) / np.maximum(share, 1e-6)
        values = smooth[:, counted]
        u, s, _ = np.linalg.svd(values, full_matrices=False)
        noise = white**2 * min(1.0, 1 / (4 * np.pi * max(widths[0], PATCH) * max(widths[1], PATCH)))
        power = np.maximum(s[:COURSES] ** 2 / max(counted.sum(), 1) - noise, 0.0)
        courses = np.sqrt(power)[:, None] * u[:, :COURSES].T
        square = ndimage.gaussian_filter(np.where(counted, (smooth**2).mean(axis=0), 0.0), widths)
        local = np.sqrt(square / np.maximum(share, 1e-6))
        typical = float(np.sqrt(np.mean(local[counted] ** 2))) if counted.any() else 0.0
        size = np.clip(local / typical, LEAST, LARGEST) if typical > 0 else np.ones(counted.shape)
        return FrameErrors(white, courses, size, widths)

    def drawn(self, random: np.random.Generator, model_error: float = 1.0) -> np.ndarray:
        """Errors of a member, (t, y, x), over the spread of each frame."""
        frames, shape = self.courses.shape[1], self.size.shape
        found = self.white * random.standard_normal((frames, *shape))
        for course in self.courses:
            found += model_error * course[:, None, None] * (self.size * smooth_image(random, shape, self.widths))
        return found


def smooth_image(random: np.random.Generator, shape: tuple[int, ...], widths: tuple[float, float]) -> np.ndarray:
    """A standard normal value at each pixel (y, x), alike over so many pixels."""
    more = [int(np.ceil(4 * width)) for width in widths]
    wide = random.standard_normal((shape[0] + 2 * more[0], shape[1] + 2 * more[1]))
    point = np.zeros_like(wide)
    point[wide.shape[0] // 2, wide.shape[1] // 2] = 1.0
    weight = float(np.sqrt((ndimage.gaussian_filter(point, widths, mode="wrap") ** 2).sum()))
    image = ndimage.gaussian_filter(wide, widths, mode="wrap") / weight
    return image[more[0] : more[0] + shape[0], more[1] : more[1] + shape[1]]


def _from_pixel_to_pixel(left: np.ndarray, counted: np.ndarray) -> float:
    """Standard deviation of what neither neighbours along x nor frames one after the other have in common."""
    both = counted[:, 1:] & counted[:, :-1]
    steps = np.diff(np.diff(left, axis=2), axis=0)[:, both]
    return MAD_TO_SIGMA * float(np.median(np.abs(steps))) / 2 if steps.size else 0.0
