import pytest

from nefty.core.errors import InputError
from nefty.core.seeds import parse_seeds


@pytest.mark.parametrize(("text", "seeds"), [("0:3", [0, 1, 2]), ("4,2", [4, 2]), ("7", [7])])
def test_seeds(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "3:3", "1,1", "-1", "1:2:3", "1.5"])
def test_seeds_that_make_no_sense(text):
    with pytest.raises(InputError, match="must be a range such as 0:8"):
        parse_seeds(text)
