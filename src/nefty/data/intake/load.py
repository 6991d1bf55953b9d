"""``nefty.load``: a recording that can be reconstructed, from its file and what the user knows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from nefty.data.intake.intake import take_in
from nefty.data.intake.known import Known
from nefty.data.sequence import Sequence


def load(path: str | os.PathLike[str], **known: Any) -> Sequence:
    """Read a recording, join it with what is known of it, and prepare it: what ``nefty reconstruct FILE`` begins with.

        seq = nefty.load("plate.tif", fps=50, material="cfrp", thickness="1.3 mm", pixel="0.2 mm")
        rec = nefty.reconstruct(seq)

    A file that nefty simulated or prepared says everything and comes back as it is. ``nefty.read`` reads a file without
    preparing anything.

    Args:
        path: a file, or a folder of TIFF, PNG or CSV frames.
        **known: what the file does not say, by the names of the command line's options (``flash_frame`` for
            ``--flash-frame``): see ``nefty.data.intake.known.Known``. Quantities are text with a unit, ``"1.3 mm"``, or
            numbers in SI units. ``facts="part.toml"`` names a file of them; what is said here wins over it. A
            ``.toml`` of the recording's name, and ``part.toml`` in its folder, are read unasked, and the
            notes of the result say so.

    Raises:
        InputError: the file is damaged, a value does not fit, or facts are missing: all of them are named at once.
        MissingExtraError: an optional library is needed for this format.
    """
    return take_in(Path(path), Known.of(known)).complete()
