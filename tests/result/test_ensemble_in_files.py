"""What an ensemble says: of an indication, in a file, in other units, for other programs."""

import dataclasses

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.result.display_units import in_display_units
from nefty.result.exports.export import volumes
from nefty.result.reconstruction import Reconstruction
from support.parts import planted
from support.weighed_parts import refits, weighed


@pytest.fixture(scope="module")
def rec():
    return weighed(ensemble=refits(asked=6, failed=1))


def test_the_spread_of_an_indication():
    told = refits().of(1)
    assert told.depth == pytest.approx(np.std([0.59e-3, 0.60e-3, 0.62e-3, 0.63e-3], ddof=1))
    assert told.diameter == pytest.approx(3 * told.depth)
    assert told.resistance == pytest.approx(0.082, abs=0.001)
    assert told.present == 1


def test_what_only_some_members_have():
    ensemble = refits()
    depth = ensemble.depth.copy()
    depth[1:] = np.nan
    told = dataclasses.replace(ensemble, depth=depth).of(1)
    assert np.isnan(told.depth)
    assert told.present == 0.25


def test_it_is_whole_if_what_failed_is_not_missing():
    assert refits().whole
    assert not refits(asked=6, failed=1).whole
    assert refits(asked=5, failed=1).whole


def test_a_file_keeps_it(rec, tmp_path):
    rec.save(tmp_path)
    found = Reconstruction.load(tmp_path)
    assert found.ensemble is not None
    for name, value in vars(rec.ensemble).items():
        assert np.array_equal(getattr(found.ensemble, name), value), name
    planted().save(tmp_path / "without.h5")
    assert Reconstruction.load(tmp_path / "without.h5").ensemble is None


def test_lengths_in_millimetres(rec):
    shown = in_display_units(rec).ensemble
    assert shown is not None
    assert shown.of(1).depth == pytest.approx(1e3 * rec.ensemble.of(1).depth)
    assert shown.of(1).resistance == pytest.approx(rec.ensemble.of(1).resistance)
    assert np.allclose(shown.volume, 1.0)


def test_other_programs_get_both_volumes(rec):
    found = volumes(rec)
    assert np.array_equal(found["probability"], rec.probability)
    assert np.array_equal(found["log_alpha_spread"], rec.spread)
    assert "probability" not in volumes(planted())


def test_what_cannot_be_is_refused():
    ensemble = refits()
    with pytest.raises(InputError, match="between 0 and 1"):
        dataclasses.replace(ensemble, probability=ensemble.probability + 1)
    with pytest.raises(InputError, match="differ in shape"):
        dataclasses.replace(ensemble, spread=ensemble.spread[1:])
    with pytest.raises(InputError, match="probability has shape"):
        planted(ensemble=dataclasses.replace(ensemble, probability=np.zeros((2, 3, 4)), spread=np.zeros((2, 3, 4))))
