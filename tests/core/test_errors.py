"""Errors carry the value, the choices and the nearest name."""

import pytest

from nefty.core.errors import ConvergenceError, InputError, MissingExtraError, NeftyError, unknown_name


def test_unknown_name_offers_the_nearest_and_lists_all():
    error = unknown_name("face_mean", "harmonik", ("min", "harmonic", "arithmetic"))
    assert isinstance(error, InputError)
    assert "face_mean='harmonik'" in str(error)
    assert "'arithmetic', 'harmonic', 'min'" in str(error)
    assert "Did you mean 'harmonic'?" in str(error)


def test_unknown_name_stays_silent_when_nothing_is_near():
    assert "Did you mean" not in str(unknown_name("lateral", "zzz", ("periodic", "adiabatic")))


@pytest.mark.parametrize(
    ("error", "builtin"),
    [(InputError, ValueError), (ConvergenceError, RuntimeError), (MissingExtraError, ImportError)],
)
def test_each_error_is_caught_as_nefty_error_and_as_the_builtin(error, builtin):
    assert issubclass(error, NeftyError)
    assert issubclass(error, builtin)
