"""How many threads torch may use: a few passes over small arrays are quicker with one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

LARGE = 2**19  # numbers of an array, from which on more threads are worth their meetings


@contextlib.contextmanager
def torch_threads_for(numbers: int) -> Iterator[None]:
    """One thread of torch's while arrays of so many ``numbers`` are worked on; as many as before if they are large.

    The solver's own threads keep the cores meanwhile (``kernels.thread_team``). Torch's would wait for each other after
    each operation of 30 microseconds, and spin on the cores that the solver's need next.
    """
    import torch

    before = torch.get_num_threads()
    if numbers < LARGE:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
