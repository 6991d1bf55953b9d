"""Arrays whose memory is used again: where the same sizes come and go a hundred times a second.

A fresh array of some hundred kilobytes is given back to the system when it is dropped, and its next owner pays for each
page at the first touch: half of the solver's time went there. Here an array that nobody holds any more, no view of it
either, leaves its memory to the next of that size.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np

ALIGNMENT = 64  # bytes: a cache line, and the longest vectors
MOST_KEPT = 2**27  # bytes that wait for an owner

_waiting: defaultdict[int, list[np.ndarray]] = defaultdict(list)
_kept = 0  # bytes in ``_waiting``; a race makes it a little wrong, and no array


class _Loan:
    """What a borrowed array is a view of; it gives the memory back when the last view is gone."""

    def __init__(self, size: int) -> None:
        global _kept
        try:
            self._memory = _waiting[size].pop()
            _kept -= size
        except IndexError:
            self._memory = np.empty(size + ALIGNMENT, np.uint8)
        start = -self._memory.ctypes.data % ALIGNMENT
        self._size, self.__array_interface__ = size, self._memory[start : start + size].__array_interface__

    def __del__(self) -> None:
        global _kept
        if _kept + self._size <= MOST_KEPT:
            _kept += self._size
            _waiting[self._size].append(self._memory)


def borrow(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array with anything in it, at a multiple of 64 bytes; for a size that is asked for again and again."""
    kind = np.dtype(dtype)
    return np.asarray(_Loan(math.prod(shape) * kind.itemsize)).view(kind).reshape(shape)


def borrow_zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """The same, filled with 0."""
    array = borrow(shape, dtype)
    array.fill(0)
    return array
