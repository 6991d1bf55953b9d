"""Heat that spreads sideways out of a heated rectangle of a homogeneous part, in closed form."""

from __future__ import annotations

import numpy as np
from scipy.special import erf


def remaining_share(
    times: np.ndarray,
    diffusivity: tuple[float, float],
    size: tuple[float, float],
    pixels: tuple[int, int],
    margin: float,
) -> np.ndarray:
    """Share of the heat above each point of a frame that is still there, (t, y, x), 0 to 1:

    m(t, y, x) = m_y(t, y) m_x(t, x),   m_y = [erf((y + b)/l) + erf((W + b - y)/l)]/2,   l = sqrt(4 alpha_y t),

    for a part that was heated evenly over the frame, of width W, and a margin b on each side of it (Carslaw and Jaeger,
    section 2.2: a slab-wide source in an infinite body; the factor multiplies the solution through the thickness).

    Args:
        times: after the flash, (t,).
        diffusivity: along y and x.
        size: of the frame, along y and x.
        pixels: of the frame, along y and x; the share is that of their centres.
        margin: b.
    """
    shares = []
    for count, width, alpha in zip(pixels, size, diffusivity, strict=True):
        at = (np.arange(count) + 0.5) * width / count
        length = np.sqrt(4 * alpha * times)[:, None]
        shares.append((erf((at + margin) / length) + erf((width + margin - at) / length)) / 2)
    return shares[0][:, :, None] * shares[1][:, None, :]
