"""Python processes that the app starts in its root, which may hold anybody's files.

Python would look for modules in the present folder first: a file ``numpy.py`` beside the recordings would be run. So a
process begins elsewhere, takes that off its path, and only then goes to the root.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from nefty.core.errors import NeftyError

BEGIN = (
    "import sys; sys.path[:] = [p for p in sys.path if p]; import importlib, os; os.chdir(sys.argv[1]); "
    "module, name = sys.argv[2].split(':'); del sys.argv[1:3]; "
    "sys.exit(getattr(importlib.import_module(module), name)())"
)


def python_command(root: Path, function: str, *arguments: str) -> list[str]:
    """The command that calls ``"module:function"`` in the root with arguments in ``sys.argv``."""
    return [sys.executable, "-c", BEGIN, str(root), function, *arguments]


async def call_nefty(root: Path, *words: str) -> None:
    """Run a command of nefty in the root to its end.

    Args:
        root: the folder.
        words: of the command, without ``nefty``.

    Raises:
        NeftyError: what the command said.
    """
    process = await asyncio.create_subprocess_exec(
        *python_command(root, "nefty.cli.main:main", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode != 0:
        last = said.decode(errors="replace").strip()[-400:].removeprefix("nefty: ")
        raise NeftyError(last or f"nefty {words[0]} ended with code {process.returncode}.")
