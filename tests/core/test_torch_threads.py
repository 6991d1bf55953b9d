import pytest
import torch

from nefty.core.torch_threads import LARGE, torch_threads_for


@pytest.mark.parametrize(("numbers", "within"), [(LARGE - 1, 1), (LARGE, 3)])
def test_small_arrays_have_one_thread_and_the_number_comes_back(numbers, within):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        with torch_threads_for(numbers):
            assert torch.get_num_threads() == within
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_the_number_comes_back_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError), torch_threads_for(1):
        raise ZeroDivisionError
    assert torch.get_num_threads() == before
