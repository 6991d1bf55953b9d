"""The surface of a sound slab after a flash or pulse, exactly, with losses on both faces."""

from __future__ import annotations

import numpy as np

from nefty.physics.chebyshev import response_of
from nefty.physics.heating_history import HeatingHistory
from nefty.physics.problem import Pulse

NEGLIGIBLE = 40.0  # a mode below exp(-40) is lost in rounding
MOST_MODES = 4000
FEWEST_MODES, MOST_UNDER_HISTORY = 256, 800  # under a history, whose faster modes are summed in closed form
HALVINGS = 60


def slab_surface(
    times: np.ndarray,
    alpha: float,
    thickness: float,
    *,
    h_front: float = 0.0,
    h_back: float = 0.0,
    pulse: Pulse = None,
) -> np.ndarray:
    """Temperature of the heated face, (t,), for heat that would warm the slab by 1 if nothing were lost:

    T(t) = H sum_n cos^2(d_n)/norm_n f(alpha mu_n^2, t),   mu_n H = n pi + d_n + atan(B_back/mu_n),
    d_n = atan(B_front/mu_n),   B = h/alpha,   norm_n = H/2 + [B_f/(mu_n^2 + B_f^2) + B_b/(mu_n^2 + B_b^2)]/2,

    with f = exp(-lam t) after a flash and its mean over the pulse otherwise (Carslaw and Jaeger, chapter 3); of a
    history g(t) f = q(lam, t), and the modes beyond the last that is summed up follow g at once: q = g/lam, whose sum
    over all modes is the steady surface under a unit of flux.

    Args:
        times: after the flash, above 0; of a pulse given by its ends, those within it converge slowly.
        alpha: diffusivity.
        thickness: H.
        h_front: loss of the heated face over rho c, in length/time.
        h_back: of the other.
        pulse: when the heating begins and ends, or its history; a flash at t = 0 if not given.
    """
    t = np.asarray(times, dtype=np.float64)
    if isinstance(pulse, HeatingHistory):
        return _under_history(t, alpha, thickness, h_front, h_back, pulse)
    since = t if pulse is None else np.where(t > pulse[1], t - pulse[1], t)
    count = _modes_after(since[since > 0].min(initial=np.inf), alpha, thickness)
    mu, phase, norm = slab_modes(count, thickness, h_front / alpha, h_back / alpha)
    response = response_of(alpha * mu[:, None] ** 2, t, pulse)[0]
    if pulse is not None:
        response = response / (pulse[1] - pulse[0])
    return (thickness * np.cos(phase) ** 2 / norm) @ response


def _modes_after(gap: float, alpha: float, thickness: float) -> int:
    """How many modes are left after a time."""
    slowest = np.pi * np.sqrt(alpha * gap) / thickness
    return 2 + int(min(np.sqrt(NEGLIGIBLE) / max(slowest, 1e-12), MOST_MODES))


def _under_history(
    t: np.ndarray, alpha: float, thickness: float, h_front: float, h_back: float, history: HeatingHistory
) -> np.ndarray:
    """``slab_surface`` for a history."""
    since = t[:, None] - np.array(history.jumps)
    gap = since[since > 0].min(initial=np.inf)
    count = max(FEWEST_MODES, min(_modes_after(gap, alpha, thickness), MOST_UNDER_HISTORY))
    mu, phase, norm = slab_modes(count, thickness, h_front / alpha, h_back / alpha)
    rates, weights = alpha * mu**2, thickness * np.cos(phase) ** 2 / norm
    summed = float(np.sum(weights[rates > 0] / rates[rates > 0]))
    if h_front == h_back == 0:
        steady = thickness**2 / (3 * alpha)
    else:
        below = h_back / (1 + h_back * thickness / alpha)  # conductance from the surface through the slab to the air
        steady = thickness / (h_front + below)
    return weights @ history.response(rates[:, None], t) + (steady - summed) * history.rate(t)


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
