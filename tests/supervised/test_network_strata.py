"""The path of the middle decay past the normalisations of a network."""

import pytest
import torch

from nefty.supervised.strata import FINEST, Strata, middle_pixel
from nefty.supervised.training import train
from nefty.synth.data_set import DataPlan
from nefty.synth.data_writer import write_data_set
from support.small_specimens import SMALL


@pytest.fixture
def given():
    """Two channels of six recordings: contrasts around zero, and a decay that differs by some percent."""
    torch.manual_seed(0)
    contrast = torch.randn(6, 1, 8, 5, 5)
    contrast = contrast - contrast.flatten(3).median(dim=3).values[..., None, None]
    decay = -torch.linspace(0, 1, 8)[:, None] * (1 + 0.03 * torch.randn(6, 1, 1))
    return torch.cat([contrast, decay[:, None, :, :, None].expand(6, 1, 8, 5, 5)], dim=1)


def test_it_changes_nothing_at_first(given):
    strata = Strata(2, 8, 4)
    strata.measure(middle_pixel(given))
    assert torch.equal(strata(given), torch.zeros(6, 1, 4, 1, 1))


def test_it_counts_in_spreads_of_the_recordings_measured(given):
    strata = Strata(2, 8, 4)
    strata.measure(middle_pixel(given))
    seen = (middle_pixel(given) - strata.middle) / strata.spread
    assert torch.allclose(seen[:, 10:].mean(dim=0), torch.zeros(6), atol=1e-5)
    assert torch.allclose(seen[:, 10:].std(dim=0), torch.ones(6), atol=1e-4)
    assert torch.equal(seen[:, :9], torch.zeros(6, 9))  # here contrasts have middle 0, and decays begin with 0
    assert strata.spread.min() == pytest.approx(FINEST)


def test_it_sees_the_middle_pixel_alone_and_trusts_nothing_far_away(given):
    strata = Strata(2, 8, 4)
    strata.measure(middle_pixel(given))
    torch.nn.init.normal_(strata.outer.weight)
    with torch.no_grad():
        found = strata(given)
        assert found.std() > 0
        defect = given.clone()
        defect[:, 0, 3:, 1:3, 1:3] += 4.0
        defect[:, 0] -= defect[:, 0].flatten(2).median(dim=2).values[..., None, None]
        assert torch.equal(strata(defect), found)
        assert torch.equal(strata(given + 100), strata(given + 200))  # in spreads, both are beyond FARTHEST
        with torch.autocast("cpu", torch.bfloat16):
            assert torch.equal(strata(given), found)


def test_a_network_learns_the_bulk_of_sound_parts_through_it(quick, tmp_path):
    write_data_set(tmp_path / "sound", range(12), DataPlan("sound", setup=SMALL), processes=1)
    found = {}
    for strata in (True, False):
        settings = quick(strata=strata, epochs=8, rate=5e-3)
        found[strata] = train([tmp_path / "sound"], settings, tmp_path / str(strata)).history["validation"].min()
    assert found[True] < 0.2 * found[False]
