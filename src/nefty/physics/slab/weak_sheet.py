"""How a thin, weak resistance inside a slab shows on its heated face, in closed form.

A sheet of the resistance R (thickness over diffusivity, time/length) at the depth z holds back the heat flux q that
crosses it: the temperature jumps by R q there. To first order in R the face is warmer by what that jump sends back. In
the Laplace domain, for a sheet that varies sideways like a wave whose heat spreads at the rate kappa,

    dT(p) = R F(z, p) F(z, p + kappa),   F(z, p) = flux at the depth z of a unit of heat that enters the face,

since the way back is the way in (reciprocity). For a slab with the losses h on its faces, s = sqrt(p/alpha),

    F(z, p) = [sinh s(H - z) + b cosh s(H - z)] / [sinh sH + b cosh sH + f (cosh sH + b sinh sH)],

b = h_back/(alpha s), f = h_front/(alpha s). The way back to time is Talbot's (Abate and Valko 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.physics.heating_history import HeatingHistory

NODES = 24  # of the contour; its error falls like 10^(-0.6 NODES) down to rounding
DEFAULT_SPREADING = np.zeros(1)
LAGS = 300  # times since the heat came, over which a heating that lasts is summed: as many in logarithm as evenly


@dataclass(frozen=True)
class WeakSheet:
    """The sound slab that a weak sheet lies in.

    Args:
        alpha: diffusivity through the thickness, length^2/time.
        thickness: H.
        h_front: loss of the heated face over rho c, length/time.
        h_back: of the other.
    """

    alpha: float
    thickness: float
    h_front: float = 0.0
    h_back: float = 0.0

    def contrast(
        self,
        times: np.ndarray,
        depths: np.ndarray,
        spreading: np.ndarray = DEFAULT_SPREADING,
        heating: HeatingHistory | None = None,
    ) -> np.ndarray:
        """Rise of the heated face over that of the sound slab, per R/(thickness/alpha), (depth, kappa, t).

        Args:
            times: after a flash, above 0; or on the clock of the heating.
            depths: z of the sheets, within the slab.
            spreading: kappa = alpha_y k_y^2 + alpha_x k_x^2 of waves that the sheet's resistance is made of, 1/time.
            heating: its course g, where it lasts: both rises are then sums over it, integral g(t - s) dT(s) ds.
        """
        times = np.asarray(times, dtype=np.float64)
        if heating is None:
            warmer, sound = self._after_flash(times, depths, spreading)
            return self.thickness / self.alpha * warmer / sound
        lags = _lags(float(times.max() - heating.start))
        warmer, sound = self._after_flash(lags, depths, spreading)
        between = np.concatenate([[0.0], (lags[1:] + lags[:-1]) / 2, [lags[-1]]])
        share = -np.diff(heating.heat(times[:, None] - between), axis=1)  # that came so long ago, however shortly
        return self.thickness / self.alpha * (warmer @ share.T) / (sound @ share.T)

    def _after_flash(
        self, times: np.ndarray, depths: np.ndarray, spreading: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rise that a sheet of unit R adds, (depth, kappa, t), and that of the sound slab, (t,)."""
        p, weight = _talbot(times)
        z = np.asarray(depths, dtype=np.float64)[:, None, None, None]
        into = self._flux(z, p)
        back = self._flux(z, p + np.asarray(spreading, dtype=np.float64)[:, None, None])
        warmer = np.real(weight * into * back).sum(axis=-1)
        return warmer, np.real(weight * self._face(p)).sum(axis=-1)

    def _parts(self, z: np.ndarray | float, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """s, sinh + b cosh and cosh + b sinh of s(H - z), and the flux's denominator; all three over exp(sH)/2."""
        s = np.sqrt(p / self.alpha)
        b, f = self.h_back / (self.alpha * s), self.h_front / (self.alpha * s)
        down, up = np.exp(-s * z), np.exp(-s * (2 * self.thickness - z))
        end = np.exp(-2 * s * self.thickness)
        below = (1 + b) + (1 - b) * end, (1 + b) - (1 - b) * end
        return s, (1 + b) * down - (1 - b) * up, below[0], below[1] + f * below[0]

    def _flux(self, z: np.ndarray, p: np.ndarray) -> np.ndarray:
        """F(z, p)."""
        _, at_depth, _, heated = self._parts(z, p)
        return at_depth / heated

    def _face(self, p: np.ndarray) -> np.ndarray:
        """Temperature of the heated face of the sound slab, of a unit of heat."""
        s, _, warm, heated = self._parts(0.0, p)
        return warm / (self.alpha * s * heated)


def _lags(longest: float) -> np.ndarray:
    """Times since a heat came, up to the longest."""
    even = np.linspace(0, longest, LAGS + 1)[1:]
    return np.unique(np.concatenate([np.geomspace(1e-7 * longest, longest, LAGS), even]))


def _talbot(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes p and weights, (t, node), so that f(t) = sum of the real part of weight * F(p)."""
    theta = np.arange(1, NODES) * np.pi / NODES
    cot = 1 / np.tan(theta)
    radius = 2 * NODES / 5
    delta = np.concatenate([[radius], radius * theta * (cot + 1j)])
    gamma = np.concatenate([[0.5 * np.exp(radius)], (1 + 1j * theta * (1 + cot**2) - 1j * cot) * np.exp(delta[1:])])
    return delta / times[:, None], 0.4 * gamma / times[:, None]
