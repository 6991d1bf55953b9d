"""The choice of steps is checked."""

import pytest

from nefty.core.errors import InputError
from nefty.data.preparation.choice import NOTHING, Preparation, preparation


def test_everything_can_be_set():
    chosen = preparation(
        flash=12,
        onset="frame",
        ambient=295.0,
        corrupt=[3, 4],
        dead="off",
        saturation=310.0,
        drift=(0, 5, None, None),
        roi=(1, 2, 3, 4),
        bin=2,
        pixel=None,
        start=0.1,
        until=10.0,
        frames=40,
        noise=0.02,
        gain="early",
        early=0.3,
    )
    assert chosen.corrupt == (3, 4)
    assert chosen.roi == (1, 2, 3, 4)
    assert Preparation.model_validate(chosen.model_dump()) == chosen
    assert preparation(**NOTHING).frames == "off"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bins": 2}, "Did you mean 'bin'?"),
        ({"bin": 0}, "bin"),
        ({"flash": -1}, "flash"),
        ({"gain": "late"}, "gain"),
        ({"roi": (1, 2)}, "roi"),
        ({"until": 0}, "until"),
        ({"start": -1.0}, "start"),
        ({"frames": 0}, "frames"),
        ({"ambient": "often"}, "ambient"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given, said):
    with pytest.raises(InputError, match=said):
        preparation(**given)
