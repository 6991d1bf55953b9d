"""On a worker: one piece of a large part, in its own run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nefty.core.cluster.worker import once, reason_of, refuse_unfit
from nefty.core.code_version import RECONSTRUCTION, code_version_of
from nefty.core.errors import NeftyError
from nefty.core.storage.run_folder import is_finished
from nefty.data.sequence import Sequence
from nefty.inversion.reconstruct import reconstruct
from nefty.result.reconstruction import Reconstruction

OVERVIEW, TILES, RECORDING = "overview", "tiles", "recording.h5"


def work_on(root: str, name: str, recipe: dict[str, Any], marker: str, code: str) -> str | None:
    """Solve a piece that is not solved yet. Returns why that did not work, or ``None``.

    Args:
        root: folder of the whole run.
        name: of the piece's folder in it; its recording is there.
        recipe: as plain values.
        marker: by which the folder is known to be the same.
        code: version of nefty that it needs.
    """
    folder = Path(root) / name

    def work() -> None:
        whole = None if name == OVERVIEW else Reconstruction.load(Path(root) / OVERVIEW)
        reconstruct(Sequence.load(folder / RECORDING), recipe=recipe, overview=whole, run=folder)
        (folder / RECORDING).unlink(missing_ok=True)

    try:
        refuse_unfit(Path(root), marker)
        if code_version_of(*RECONSTRUCTION) != code:
            raise NeftyError("this worker has another version of nefty or its libraries; install the same everywhere.")
        once(folder / "working", lambda: is_finished(folder), work)
    except NeftyError as error:
        return str(error)
    except Exception as error:
        return reason_of(error)
    return None
