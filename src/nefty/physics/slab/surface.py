"""The surface of a sound slab after a flash or pulse, exactly, with losses on both faces."""

from __future__ import annotations

import numpy as np

from nefty.physics.chebyshev import response_of

NEGLIGIBLE = 40.0  # a mode below exp(-40) is lost in rounding
MOST_MODES = 4000
HALVINGS = 60


def slab_surface(
    times: np.ndarray,
    alpha: float,
    thickness: float,
    *,
    h_front: float = 0.0,
    h_back: float = 0.0,
    pulse: tuple[float, float] | None = None,
) -> np.ndarray:
    """Temperature of the heated face, (t,), for heat that would warm the slab by 1 if nothing were lost:

    T(t) = H sum_n cos^2(d_n)/norm_n f(alpha mu_n^2, t),   mu_n H = n pi + d_n + atan(B_back/mu_n),
    d_n = atan(B_front/mu_n),   B = h/alpha,   norm_n = H/2 + [B_f/(mu_n^2 + B_f^2) + B_b/(mu_n^2 + B_b^2)]/2,

    with f = exp(-lam t) after a flash and its mean over the pulse otherwise (Carslaw and Jaeger, chapter 3).

    Args:
        times: after the flash, above 0; of a pulse, those within it converge slowly.
        alpha: diffusivity.
        thickness: H.
        h_front: loss of the heated face over rho c, in length/time.
        h_back: of the other.
        pulse: when the heating begins and ends; a flash at t = 0 if not given.
    """
    t = np.asarray(times, dtype=np.float64)
    since = t if pulse is None else np.where(t > pulse[1], t - pulse[1], t)
    gap = since[since > 0].min(initial=np.inf)
    slowest = np.pi * np.sqrt(alpha * gap) / thickness
    count = 2 + int(min(np.sqrt(NEGLIGIBLE) / max(slowest, 1e-12), MOST_MODES))
    mu, phase, norm = slab_modes(count, thickness, h_front / alpha, h_back / alpha)
    response = response_of(alpha * mu[:, None] ** 2, t, pulse)[0]
    if pulse is not None:
        response = response / (pulse[1] - pulse[0])
    return (thickness * np.cos(phase) ** 2 / norm) @ response


def slab_modes(
    count: int, thickness: float, front: float = 0.0, back: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """mu, d and norm of the first modes cos(mu z - d) of a slab with B_front and B_back.

    The right side of mu H = n pi + atan(B_front/mu) + atan(B_back/mu) falls with mu and the left one grows: there is
    one root for each n, between n pi/H and (n + 1) pi/H, and halving that bracket finds it.
    """
    n = np.arange(count)
    low, high = n * np.pi / thickness, (n + 1) * np.pi / thickness
    if front == back == 0:
        return low, np.zeros(count), np.where(n == 0, thickness, thickness / 2)
    for _ in range(HALVINGS):
        mu = (low + high) / 2
        beyond = mu * thickness > n * np.pi + np.arctan2(front, mu) + np.arctan2(back, mu)
        low, high = np.where(beyond, low, mu), np.where(beyond, mu, high)
    mu = (low + high) / 2
    norm = thickness / 2 + (front / (mu**2 + front**2) + back / (mu**2 + back**2)) / 2
    return mu, np.arctan2(front, mu), norm
