"""Libraries that some methods need beyond nefty's own."""

from __future__ import annotations

import importlib.util


def is_installed(package: str | None) -> bool:
    """Whether a library, by the name one imports, is there (it is not imported); ``None`` needs none."""
    return package is None or importlib.util.find_spec(package) is not None


def remedy(extra: str | None) -> str:
    """What to do where it is not; ``extra`` is nefty's that installs it."""
    return f"not installed: pip install nefty[{extra}]"
