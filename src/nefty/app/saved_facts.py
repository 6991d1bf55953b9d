"""Facts that are kept for the next time: a file beside the recording, as ``nefty inspect --write`` makes it."""

from __future__ import annotations

from pathlib import PurePosixPath

from nefty.app.draft import Draft
from nefty.app.processes import call_nefty
from nefty.app.root import Root

PAGE = ".inspect.html"  # in the folder of looks: the command writes a page, too, which nobody reads here


def save_words(root: Root, draft: Draft) -> list[str]:
    """The command."""
    page = root.relative(root.looks / PAGE)
    return ["nefty", "inspect", draft.as_file, "--write", "--out", page, *draft.options()]


async def save_facts(root: Root, draft: Draft) -> str:
    """Write what was said into a file beside the recording; returns its name.

    Raises:
        NeftyError: what the command said, such as that there is one already.
    """
    root.inside(draft.file)
    try:
        await call_nefty(root.path, *save_words(root, draft)[1:])
    finally:
        (root.looks / PAGE).unlink(missing_ok=True)
    return PurePosixPath(draft.file).with_suffix(".toml").name
