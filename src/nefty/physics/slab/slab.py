"""A slab of one material in closed form: flash, flash with an absorption depth, pulse, losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import special

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.physics.slab.surface import slab_modes

Times = Sequence[float] | np.ndarray | float

NEGLIGIBLE = 40.0  # a term below exp(-40) is lost in rounding
MOST_MODES = 20_000


class Modes(NamedTuple):
    """mu, phase d and norm = integral of cos^2(mu z - d) over the slab, one entry per mode."""

    mu: np.ndarray
    phase: np.ndarray
    norm: np.ndarray


@dataclass(frozen=True)
class Slab:
    """Temperature in a slab as means over ``layers`` equal cells, front face first, (t, layers).

    With losses n . alpha grad T = -h T the solutions are sums over the modes

        cos(mu z - d),   mu H = n pi + d + atan(B_back/mu),   d = atan(B_front/mu),   n = 0, 1, ...

    with B = h/alpha and decay rates alpha mu^2 (Carslaw and Jaeger, Conduction of Heat in Solids, chapter 3).
    Without losses that is the cosine series, mu = n pi/H and d = 0.

    Args:
        alpha: diffusivity.
        thickness: H.
        layers: number of cells over H.
        h_front: loss at the front, in length/time.
        h_back: loss at the back.
    """

    alpha: float
    thickness: float
    layers: int
    h_front: float = 0.0
    h_back: float = 0.0

    def __post_init__(self) -> None:
        number("alpha", self.alpha, above=0)
        number("thickness", self.thickness, above=0)
        count("layers", self.layers)
        number("h_front", self.h_front, at_least=0)
        number("h_back", self.h_back, at_least=0)

    def flash(self, times: Times, amplitude: float = 1.0) -> np.ndarray:
        """After an instantaneous flash at the front face that brings the heat A H (over rho c, per area):

        T = A H sum_n cos(d_n)/norm_n exp(-alpha mu_n^2 t) cos(mu_n z - d_n)
          = A [1 + 2 sum_n exp(-n^2 pi^2 alpha t/H^2) cos(n pi z/H)] without losses (Parker et al. 1961).

        Args:
            times: times after the flash, at least 0.
            amplitude: A, the rise once the heat has spread, if none is lost.
        """
        t = _not_negative(times)
        early = self._in_first_cell(t)
        modes = self._modes_at(t[~early])
        out = self._sum(modes, self.thickness * np.cos(modes.phase) / modes.norm, t)
        out[early] = 0.0
        out[early, 0] = self.layers * special.erfcx(self.h_front * np.sqrt(t[early] / self.alpha))
        return amplitude * out

    def gaussian_flash(self, times: Times, depth: float, amplitude: float = 1.0) -> np.ndarray:
        """From the initial profile T = A exp(-z^2/(2 depth^2)), as after the paper's flash (A.5):

        T = A sum_n c_n/norm_n exp(-alpha mu_n^2 t) cos(mu_n z - d_n),   c_n = integral of profile times mode.

        Args:
            times: times after the flash, at least 0; at 0 the means of the profile itself.
            depth: the absorption depth.
            amplitude: A.
        """
        t = _not_negative(times)
        depth = number("depth", depth, above=0)
        modes = self._modes_at(t[t > 0])
        out = self._sum(modes, _gaussian_moments(modes, self.thickness, depth) / modes.norm, t)
        out[t == 0] = gaussian_means(self._edges, 0.0, depth)
        return amplitude * out

    def pulse(self, times: Times, duration: float, start: float = 0.0, amplitude: float = 1.0) -> np.ndarray:
        """Under a constant flux A H/duration into the front face from ``start`` to ``start + duration``:

        T = (A H/duration) [F(t - start) - F(t - start - duration)],   F the answer to a unit flux.

        Args:
            times: times, at least 0.
            duration: length of the pulse.
            start: when it begins.
            amplitude: A, the rise that the whole pulse leaves, if no heat is lost.
        """
        t = _not_negative(times) - start
        duration = number("duration", duration, above=0)
        unit = self._step_response(t) - self._step_response(t - duration)
        return amplitude * self.thickness / duration * unit

    def modes(self, terms: int) -> Modes:
        """The first ``terms`` modes."""
        return Modes(*slab_modes(terms, self.thickness, self.h_front / self.alpha, self.h_back / self.alpha))

    @cached_property
    def _edges(self) -> np.ndarray:
        return np.linspace(0, self.thickness, self.layers + 1)

    def _modes_at(self, times: np.ndarray) -> Modes:
        """The modes that have not vanished at the first of the times."""
        slowest = np.pi * np.sqrt(self.alpha * times.min(initial=np.inf)) / self.thickness
        return self.modes(2 + int(np.sqrt(NEGLIGIBLE) / max(slowest, np.sqrt(NEGLIGIBLE) / MOST_MODES)))

    def _sum(self, modes: Modes, weights: np.ndarray, times: np.ndarray) -> np.ndarray:
        """sum_n w_n exp(-alpha mu_n^2 t) (mean of cos(mu_n z - d_n) over each cell), (t, layers)."""
        mu, phase = modes.mu[:, None], modes.phase[:, None]
        dz = self.thickness / self.layers
        means = np.cos(mu * (self._edges[:-1] + dz / 2) - phase) * np.sinc(mu * dz / (2 * np.pi))
        return (np.exp(-self.alpha * times[:, None] * modes.mu**2) * weights) @ means

    def _step_response(self, s: np.ndarray) -> np.ndarray:
        """F(s) = steady(s) - sum_n cos(d_n)/norm_n exp(-alpha mu_n^2 s)/(alpha mu_n^2) cos(mu_n z - d_n)."""
        early = self._in_first_cell(s)
        modes = self._modes_at(s[~early])
        rates = self.alpha * modes.mu**2
        weights = np.divide(np.cos(modes.phase) / modes.norm, rates, out=np.zeros_like(rates), where=rates > 0)
        out = np.zeros((s.size, self.layers))
        out[~early] = self._steady(s[~early]) - self._sum(modes, weights, s[~early])
        since = np.maximum(s[early], 0)
        kept = _mean_erfcx(self.h_front * np.sqrt(since / self.alpha))
        out[early, 0] = since * kept * self.layers / self.thickness
        return out

    def _steady(self, s: np.ndarray) -> np.ndarray:
        """F(s) without its exponentials: a line or, if nothing is lost, a rising parabola."""
        edges, bulk = self._edges / self.thickness, self.thickness / self.alpha
        middles = (edges[1:] + edges[:-1]) / 2
        if self.h_front == self.h_back == 0:
            squares = np.diff(edges**3) / np.diff(edges) / 3
            return s[:, None] / self.thickness + bulk * (1 / 3 - middles + squares / 2)
        fall = self.h_back * bulk / (1 + self.h_back * bulk)
        surface = 1 / (self.h_front + fall / bulk)
        return np.tile(surface * (1 - fall * middles), (s.size, 1))

    def _in_first_cell(self, times: np.ndarray) -> np.ndarray:
        """Times so early that none of the heat put onto the front face has left the first cell.

        Of it the face has kept the share erfcx(h_front sqrt(t/alpha)), that of a half space.
        """
        return 4 * NEGLIGIBLE * self.alpha * times < (self.thickness / self.layers) ** 2


def gaussian_means(edges: np.ndarray, centre: float, s: float) -> np.ndarray:
    """Means of exp(-(x - centre)^2/(2 s^2)) between the edges."""
    return s * np.sqrt(np.pi / 2) * np.diff(special.erf((edges - centre) / (s * np.sqrt(2)))) / np.diff(edges)


def _gaussian_moments(modes: Modes, thickness: float, depth: float) -> np.ndarray:
    """Integrals over the slab of exp(-z^2/(2 depth^2)) cos(mu z - d), by the Faddeeva function w:

    e^(-b^2) erf(a - ib) = e^(-b^2) - e^(-a^2 + i mu H) w(b + ia), b = mu depth/sqrt 2, a = H/(depth sqrt 2).
    """
    a, b = thickness / (np.sqrt(2) * depth), modes.mu * depth / np.sqrt(2)
    near = np.exp(-(b**2)) + 2j / np.sqrt(np.pi) * special.dawsn(b)
    far = np.exp(-(a**2) + 1j * modes.mu * thickness) * special.wofz(b + 1j * a)
    return depth * np.sqrt(np.pi / 2) * (np.exp(-1j * modes.phase) * (near - far)).real


def _mean_erfcx(g: np.ndarray) -> np.ndarray:
    """Mean of erfcx(g sqrt u) over 0 < u < 1: the series sum_n (-g)^n/Gamma(n/2 + 2), or in closed form."""
    n = np.arange(60)
    series = ((-np.minimum(g, 1.0))[:, None] ** n / special.gamma(n / 2 + 2)).sum(axis=1)
    large = np.maximum(g, 1.0)
    direct = (special.erfcx(large) - 1 + 2 * large / np.sqrt(np.pi)) / large**2
    return np.where(g < 1, series, direct)


def _not_negative(times: Times) -> np.ndarray:
    """Times as a list, finite and not before the flash."""
    t = np.atleast_1d(np.asarray(times, dtype=float))
    if t.ndim != 1 or not np.isfinite(t).all() or (t < 0).any():
        raise InputError(f"times={times!r} must be a list of finite times of at least 0, counted from the flash.")
    return t
