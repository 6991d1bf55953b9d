"""At which order does an error vanish?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nefty.core.errors import InputError


def observed_order(sizes: Sequence[float] | np.ndarray, errors: Sequence[float] | np.ndarray) -> float:
    """Return p of error = C size^p, by least squares on logarithms.

    Args:
        sizes: time steps or cell sizes, positive, at least two different ones.
        errors: the error at each size, positive.
    """
    sizes, errors = np.asarray(sizes, dtype=float), np.asarray(errors, dtype=float)
    if sizes.ndim != 1 or sizes.shape != errors.shape:
        raise InputError(f"sizes {sizes.shape} and errors {errors.shape} must be lists of the same length.")
    if np.unique(sizes).size < 2:
        raise InputError(f"sizes={sizes.tolist()} must hold at least two different sizes to see an order.")
    for name, values in (("sizes", sizes), ("errors", errors)):
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise InputError(
                f"{name}={values.tolist()} must be positive and finite; an error of exactly 0 has no order, "
                "start from coarser sizes."
            )
    x, y = np.log(sizes), np.log(errors)
    x, y = x - x.mean(), y - y.mean()
    return float(x @ y / (x @ x))


@dataclass(frozen=True)
class ConvergenceStudy:
    """Errors over a series of sizes; prints as a table.

    Args:
        sizes: time steps or cell sizes.
        errors: the error at each size.
    """

    sizes: tuple[float, ...]
    errors: tuple[float, ...]

    @classmethod
    def run(cls, error_of: Callable[[float], float], sizes: Iterable[float]) -> ConvergenceStudy:
        """Evaluate ``error_of`` at every size."""
        sizes = tuple(float(s) for s in sizes)
        return cls(sizes, tuple(float(error_of(s)) for s in sizes))

    @property
    def order(self) -> float:
        """The order over all sizes."""
        return observed_order(self.sizes, self.errors)

    @property
    def orders(self) -> tuple[float, ...]:
        """The order from each size to the next; they settle once the sizes are small enough."""
        return tuple(observed_order(self.sizes[i : i + 2], self.errors[i : i + 2]) for i in range(len(self.sizes) - 1))

    def __str__(self) -> str:
        local = ["", *(f"{p:7.2f}" for p in self.orders)]
        rows = [f"{s:12.4g} {e:12.4g} {p}" for s, e, p in zip(self.sizes, self.errors, local, strict=True)]
        return "\n".join([f"{'size':>12} {'error':>12}   order", *rows, f"order {self.order:.2f}"])
