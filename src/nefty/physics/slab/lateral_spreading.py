"""Heat that spreads sideways out of a heated rectangle of a homogeneous part, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erf


@dataclass(frozen=True)
class Piece:
    """Where a piece of a frame lies.

    Args:
        corner: its first corner, along y and x, from that of the whole frame.
        whole: size of the whole frame, along y and x.
    """

    corner: tuple[float, float]
    whole: tuple[float, float]


def remaining_share(
    times: np.ndarray,
    diffusivity: tuple[float, float],
    size: tuple[float, float],
    pixels: tuple[int, int],
    margin: float,
    piece: Piece | None = None,
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
        piece: where the frame lies in the one that was heated, W of which is then the size; all of it if not given.
    """
    shares = []
    corner, whole = ((0.0, 0.0), size) if piece is None else (piece.corner, piece.whole)
    for count, own, first, width, alpha in zip(pixels, size, corner, whole, diffusivity, strict=True):
        at = first + (np.arange(count) + 0.5) * own / count
        length = np.sqrt(4 * alpha * times)[:, None]
        shares.append((erf((at + margin) / length) + erf((width + margin - at) / length)) / 2)
    return shares[0][:, :, None] * shares[1][:, None, :]
