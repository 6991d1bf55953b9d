"""Memory that is used again, and never while somebody still holds it."""

import threading

import numpy as np
import pytest

from nefty.core import buffers
from nefty.core.buffers import ALIGNMENT, borrow, borrow_zeros

ODD = (3, 1237)  # a size that nothing else asks for


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_of_a_dropped_array_goes_to_the_next_of_that_size():
    first = borrow(ODD, np.float32)
    where = address(first)
    del first
    again = borrow(ODD, np.int32)  # as many bytes
    assert address(again) == where
    assert again.shape == ODD
    assert where % ALIGNMENT == 0


def test_a_view_keeps_its_memory():
    row = borrow_zeros(ODD, np.float64)[1:2].T
    other = borrow(ODD, np.float64)
    other.fill(7.0)
    assert not np.shares_memory(row, other)
    assert not row.any()


def test_zeros_are_zeros_in_used_memory():
    used = borrow(ODD, np.float32)
    used.fill(np.nan)
    del used
    assert not borrow_zeros(ODD, np.float32).any()


def test_no_more_is_kept_than_is_allowed(monkeypatch):
    monkeypatch.setattr(buffers, "MOST_KEPT", buffers._kept)
    size = int(np.prod(ODD)) * 16
    before = len(buffers._waiting[size])
    borrow(ODD, np.complex128)
    assert len(buffers._waiting[size]) <= before


def test_threads_never_share_an_array():
    wrong = []

    def work(own):
        for _ in range(300):
            array = borrow((997,), np.int64)
            array.fill(own)
            if (array != own).any():
                wrong.append(own)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("shape", [(), (0,), (1,)])
def test_any_shape(shape):
    assert borrow_zeros(shape, np.float32).shape == shape
