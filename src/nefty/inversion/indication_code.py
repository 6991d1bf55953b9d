"""Which code finds indications: what was measured of them holds for it alone."""

from __future__ import annotations

from nefty.core.code_version import meaning_of

#: Packages that decide what is found, how deep, how large and how resistive.
PACKAGES = ("nefty.inversion.evidence", "nefty.inversion.calibration", "nefty.physics")


def code_of_indications() -> str:
    """Its hash; libraries, comments, docstrings and layout do not count."""
    return meaning_of(*PACKAGES)
