"""VWC, the virtual wave concept (Burgholzer 2017): the wave whose diffusion is the recording, and its echoes."""

from __future__ import annotations

from collections.abc import Sequence as Listing
from dataclasses import dataclass

import numpy as np

from nefty.classical.decays import BLOCK, Decays
from nefty.classical.estimate import DepthEstimate, needed
from nefty.core.checks import count, number
from nefty.data.sequence import Sequence

SHALLOWEST = 0.5  # first node in units of sqrt(alpha t_first)
DEEPEST = 4.0  # last node in units of sqrt(alpha t_last), whose echo has not arrived: exp(-16)
BLIND = 3.0  # echoes nearer than so many times the first node are not told from the flash itself
REACH = 0.3  # an echo is as wide, to each side, in ln depth
ROUNDING = 1e-10


@dataclass(frozen=True)
class TruncatedSvd:
    """Invert on the leading singular vectors.

    Its side lobes look like an echo of strength 0.4 to 0.6 where there is none.

    Args:
        rank: how many; if not given, those before the first whose data do not stand out of the noise (the discrete
            Picard condition): root mean square of u_k . T over the pixels above ``factor`` sigma.
        factor: see there.
    """

    rank: int | None = None
    factor: float = 2.0


@dataclass(frozen=True)
class Admm:
    """Minimise |K v - T|^2/2 + lambda sum(v) over v >= 0, by the alternating direction method of multipliers.

    Args:
        sparsity: lambda, as a share of the smallest that leaves no wave at all.
        penalty: of the splitting, as a share of the largest squared singular value of K.
        iterations: of every pixel.
    """

    sparsity: float = 1e-6
    penalty: float = 1e-5
    iterations: int = 500


WEAKEST_ECHO = {TruncatedSvd: 0.8, Admm: 0.2}  # that counts; see ``VwcResult.strength``


@dataclass(frozen=True, eq=False)
class VwcResult:
    """The virtual wave under every pixel.

    Args:
        virtual_times: t' of the nodes, the first 0, then in equal ratios, (n,).
        wave: its strength at the nodes, (n, y, x).
        echo_time: t' of the first strong echo, (y, x); NaN where there is none.
        strength: of the echo against all that came before it, (y, x); 2 for an adiabatic back face. Where there is no
            echo, that of the strongest candidate.
        depth: c t'/2, (y, x).
        speed: c.
        rank: singular vectors that were used.
        inverse: how the kernel was inverted.
    """

    virtual_times: np.ndarray
    wave: np.ndarray
    echo_time: np.ndarray
    strength: np.ndarray
    depth: np.ndarray
    speed: float
    rank: int
    inverse: TruncatedSvd | Admm

    def estimate(self) -> DepthEstimate:
        """The depth; of the back face under sound pixels, so without a mask."""
        how = f"truncated SVD, rank {self.rank}" if isinstance(self.inverse, TruncatedSvd) else "ADMM"
        return DepthEstimate(self.depth, None, "VWC", f"first echo at t' = 2 L/c, {how}")

    def maps(self) -> dict[str, np.ndarray]:
        """What is worth a look, by name."""
        return {"depth": self.depth, "echo strength": self.strength}


def kernel(
    times: Listing[float] | np.ndarray, alpha: float, virtual_times: Listing[float] | np.ndarray, speed: float = 1.0
) -> np.ndarray:
    """K[t, t'] = c/sqrt(pi alpha t) exp(-c^2 t'^2/(4 alpha t)), (t, t'); T = integral of K T_virt over t' >= 0."""
    t, late = np.asarray(times, dtype=np.float64)[:, None], np.asarray(virtual_times, dtype=np.float64)
    return speed / np.sqrt(np.pi * alpha * t) * np.exp(-((speed * late) ** 2) / (4 * alpha * t))


def virtual_wave(
    sequence: Sequence,
    alpha: float,
    *,
    inverse: TruncatedSvd | Admm | None = None,
    nodes: int = 96,
    speed: float = 1.0,
    least: float | None = None,
    window: tuple[float, float] | None = None,
) -> VwcResult:
    """Recover the virtual wave of every pixel and the depth of its first strong echo.

    The wave is a strength at each of the nodes (its integral over a step). Their virtual times stand in equal ratios,
    since the kernel depends on c^2 t'^2/(alpha t) alone: echoes are then equally blurred at all depths.

    The echo is the first local maximum that is strong enough, its place the centroid of what exceeds half of its
    height. Depths below 1.5 sqrt(alpha t_first) cannot be seen.

    Args:
        sequence: the recording.
        alpha: diffusivity through the thickness.
        inverse: ``Admm(...)``, the default, or ``TruncatedSvd(...)``, which is quicker and less exact.
        nodes: of the wave, besides t' = 0.
        speed: c, in length per virtual time; the depth does not depend on it.
        least: echoes weaker than this are none, see ``VwcResult.strength``; 0.8 for the truncated SVD and 0.2 for ADMM
            if not given.
        window: first and last time that count.
    """
    alpha, speed = needed(alpha, "a virtual wave"), number("speed", speed, above=0)
    inverse = Admm() if inverse is None else inverse
    least = WEAKEST_ECHO[type(inverse)] if least is None else number("least", least, at_least=0)
    decays = Decays.of(sequence, window)
    first, last = np.sqrt(alpha * decays.times[[0, -1]])
    depths = np.geomspace(SHALLOWEST * first, DEEPEST * last, count("nodes", nodes, at_least=8))
    virtual = np.concatenate([[0.0], 2 * depths / speed])
    u, s, vt = np.linalg.svd(kernel(decays.times, alpha, virtual, speed), full_matrices=False)
    data = np.empty((s.size, decays.pixels.size))
    for part, block in decays.blocks():
        data[:, part] = u.T @ block
    rank = _rank(inverse, s, data, np.sqrt(u.T**2 @ decays.noise_per_frame() ** 2))
    s, vt, data = s[:rank], vt[:rank], data[:rank]
    wave = np.empty((virtual.size, decays.pixels.size), np.float32)
    found = np.empty((2, decays.pixels.size))
    step = max(BLOCK // (4 * virtual.size), 1)
    for start in range(0, decays.pixels.size, step):
        part = slice(start, start + step)
        here = data[:, part]
        v = vt.T @ (here / s[:, None]) if isinstance(inverse, TruncatedSvd) else _admm(inverse, s, vt, here)
        wave[:, part] = v
        found[:, part] = _first_echo(v, depths, least)
    depth = decays.image(found[0])
    return VwcResult(
        virtual, decays.image(wave, np.float32), 2 * depth / speed, decays.image(found[1]), depth, speed, rank, inverse
    )


def _rank(inverse: TruncatedSvd | Admm, s: np.ndarray, data: np.ndarray, noise: np.ndarray) -> int:
    """Singular vectors to use: never those below rounding; ``noise`` is the standard deviation of each u_k . T."""
    sure = int(np.count_nonzero(s > ROUNDING * s[0]))
    if isinstance(inverse, Admm):
        return sure
    if inverse.rank is not None:
        return min(count("rank", inverse.rank), sure)
    size = np.sqrt((data[:sure] ** 2).mean(axis=1))
    sigma = np.maximum(noise[:sure], ROUNDING * size[0])
    lost = size <= number("factor", inverse.factor, above=0) * sigma
    return max(int(lost.argmax()), 1) if lost.any() else sure


def _admm(settings: Admm, s: np.ndarray, vt: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The positive, sparse wave, (nodes, n), in the coordinates of the singular vectors: K = diag(s) vt."""
    a = (s / s[0])[:, None] * vt
    scale = np.maximum(np.abs(data).max(axis=0), np.finfo(float).tiny)
    right = a.T @ (data / scale)
    rho = number("penalty", settings.penalty, above=0)
    cut = number("sparsity", settings.sparsity, at_least=0) * np.abs(right).max(axis=0) / rho
    inverse = np.linalg.inv(a.T @ a + rho * np.eye(a.shape[1]))
    z, dual = np.zeros_like(right), np.zeros_like(right)
    for _ in range(count("iterations", settings.iterations)):
        x = 1.6 * (inverse @ (right + rho * (z - dual))) - 0.6 * z
        z = np.maximum(x + dual - cut, 0)
        dual += x - z
    return z * scale / s[0]


def _first_echo(wave: np.ndarray, depths: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Depth of the first echo of at least this strength, NaN if there is none, and its strength, (n,)."""
    v, u = wave[1:], np.log(depths)[:, None]
    reach = max(round(REACH / (u[1, 0] - u[0, 0])), 1)
    sums = np.concatenate([wave[:1], wave[:1] + np.cumsum(v, axis=0)])  # of all before a node
    node = np.arange(depths.size)
    before, until = sums[np.maximum(node - reach, 0)], sums[np.minimum(node + reach + 1, depths.size)]
    strength = np.divide(until - before, before, out=np.zeros_like(before), where=before > 0)
    top = np.zeros(v.shape, dtype=bool)
    top[1:-1] = (v[1:-1] >= v[:-2]) & (v[1:-1] > v[2:]) & (v[1:-1] > 0) & (depths[1:-1, None] > BLIND * depths[0])
    echoes = np.where(top, strength, 0.0)
    strong = top & (strength >= least)
    found = strong.any(axis=0)
    at = np.where(found, strong.argmax(axis=0), echoes.argmax(axis=0))
    height = np.take_along_axis(v, at[None], axis=0)
    weight = np.where(np.abs(node[:, None] - at) <= reach, np.maximum(v - height / 2, 0), 0)
    total = weight.sum(axis=0)
    place = np.divide((weight * u).sum(axis=0), total, out=np.full(total.shape, np.nan), where=found & (total > 0))
    return np.exp(place), np.take_along_axis(echoes, at[None], axis=0)[0]
