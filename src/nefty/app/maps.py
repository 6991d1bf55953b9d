"""Maps of classical methods: the command ``nefty classical`` in a process of its own, and what it wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nefty.app.draft import Draft
from nefty.app.jobs import Run
from nefty.app.processes import call_nefty
from nefty.app.root import Root

MAPS = "maps.npz"  # that the command writes
METHODS = {
    "tsr": "TSR: depth from the bend of each pixel's decay",
    "ppt": "PPT: depth from the phase of each pixel",
    "pct": "PCT: what varies most, no depth",
    "dtt": "DTT: hottest contrast and its time, no depth",
}


def classical_words(draft: Draft, method: str, out: str, alpha: float | None) -> list[str]:
    """The command.

    Args:
        draft: of the run beside which the map is shown.
        method: its name.
        out: folder to write to, relative to the root.
        alpha: diffusivity in the recording's own units, where neither file nor user names a material.
    """
    given = [] if alpha is None or draft.known.alpha is not None else ["--alpha", repr(alpha)]
    return ["nefty", "classical", method, draft.file, "--out", out, *given, *draft.options()]


async def classical_maps(root: Root, run: Run, method: str, alpha: float | None) -> dict[str, np.ndarray]:
    """Maps (y, x) by name; made if they are not there.

    Raises:
        NeftyError: what the command said.
    """
    folder = run.folder / f"classical-{method}"
    if not (folder / MAPS).exists():
        words = classical_words(run.draft, method, root.relative(folder), alpha)
        await call_nefty(root.path, *words[1:])
    return _read(folder / MAPS)


def _read(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as content:
        return {name: content[name] for name in content.files if content[name].ndim == 2}
