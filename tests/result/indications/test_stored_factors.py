"""The factors that come with nefty belong to its code: whoever changes what finds indications measures them again."""

import math

import pytest

from nefty.inversion.indication_code import code_of_indications
from nefty.inversion.recipe import load_recipe
from nefty.result.indications.intervals import factors_for, stored_factors

#: Recipes, and the suite that measures their factors.
SUITES = {"real": "trials", "fast": "coverage-specimens"}


def test_every_recipe_that_has_a_suite_has_factors():
    assert stored_factors().keys() == SUITES.keys()
    assert [one.recipe for one in stored_factors().values()] == list(stored_factors())


@pytest.mark.parametrize("recipe", SUITES)
def test_factors_come_with_the_package_and_hold_for_its_code(recipe):
    """If this fails: nefty bench run SUITE --seeds <fresh> --write, with the suite of the recipe."""
    known, code = stored_factors()[recipe], code_of_indications(load_recipe(recipe))
    assert known.code == code
    assert SUITES[recipe] in known.made
    found, why = factors_for({"recipe": recipe, "code of indications": code}, unitless=known.unitless)
    assert found is known
    assert str(known.parts) in why


@pytest.mark.parametrize("recipe", SUITES)
def test_they_are_ranges_around_what_was_found(recipe):
    known = stored_factors()[recipe]
    assert known.parts >= 30
    assert known.unitless == (recipe == "fast")
    assert math.isinf(known.groups[-1].up_to)
    for group in known.groups:
        assert group.defects >= 19  # below that a range of 90 % has no two ends
        assert 0 < group.depth[0] <= 1 <= group.depth[1] < 1.6
        assert 0 < group.diameter[0] <= 1 <= group.diameter[1]
        assert 0 < group.offset < 0.5
