"""Seeds of specimens and numbers of recordings, as text."""

from __future__ import annotations

from nefty.core.errors import InputError


def parse_seeds(text: str) -> list[int]:
    """``"0:8"`` or ``"1,5,7"``."""
    try:
        if ":" in text:
            first, last = (int(end) for end in text.split(":"))
            found = list(range(first, last))
        else:
            found = [int(word) for word in text.split(",") if word.strip()]
    except ValueError:
        found = []
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise InputError(f"seeds {text!r} must be a range such as 0:8, or different numbers separated by commas.")
    return found
