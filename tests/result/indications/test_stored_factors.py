"""The factors that come with nefty belong to its code: whoever changes what finds indications measures them again."""

import math

from nefty.inversion.indication_code import code_of_indications
from nefty.result.indications.intervals import factors_for, stored_factors


def test_factors_come_with_the_package_and_hold_for_its_code():
    """If this fails: nefty bench run coverage --seeds <fresh> --write."""
    known = stored_factors()
    assert known is not None
    assert known.code == code_of_indications()
    found, why = factors_for({"recipe": "real", "code of indications": code_of_indications()})
    assert found is known
    assert str(known.parts) in why


def test_they_are_ranges_around_what_was_found():
    known = stored_factors()
    assert known is not None
    assert known.parts >= 40
    assert math.isinf(known.groups[-1].up_to)
    for group in known.groups:
        assert group.defects >= 40
        assert 0 < group.depth[0] < 1 < group.depth[1] < 1.5
        assert 0 < group.diameter[0] < 1 < group.diameter[1]
        assert 0 < group.offset < 0.5
