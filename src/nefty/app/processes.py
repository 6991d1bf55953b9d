"""Python processes that the app starts in its root, which may hold anybody's files.

Python would look for modules in the present folder first: a file ``numpy.py`` beside the recordings would be run. So a
process begins elsewhere, takes that off its path, and only then goes to the root.
"""

from __future__ import annotations

import sys
from pathlib import Path

BEGIN = (
    "import sys; sys.path[:] = [p for p in sys.path if p]; import importlib, os; os.chdir(sys.argv[1]); "
    "module, name = sys.argv[2].split(':'); del sys.argv[1:3]; "
    "sys.exit(getattr(importlib.import_module(module), name)())"
)


def python_command(root: Path, function: str, *arguments: str) -> list[str]:
    """The command that calls ``"module:function"`` in the root with arguments in ``sys.argv``."""
    return [sys.executable, "-c", BEGIN, str(root), function, *arguments]
