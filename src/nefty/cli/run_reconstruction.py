"""A reconstruction in a run folder, with its progress and its files; shared by ``reconstruct`` and ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nefty.cli.run_progress import STAGES, RunProgress
from nefty.core.interrupt import was_interrupted
from nefty.core.storage.run_folder import holds_work
from nefty.report.run_files import are_written, remove_files, write_files

if TYPE_CHECKING:
    import numpy as np

    from nefty.cli.output import Stages
    from nefty.core.cluster.place import Place
    from nefty.data.sequence import Sequence
    from nefty.result.close_up import CloseUp
    from nefty.result.reconstruction import Reconstruction

NOTHING_KEPT = "Ended before the first iteration: nothing was found or kept. The same command starts again."
MORE_STAGES = STAGES + 1  # of progress: those of the reconstruction, and the files
STAGES_OF_TILES = 6  # read, cut, overview, tiles, join, write


def run_reconstruction(
    sequence: Sequence,
    folder: Path,
    stages: Stages,
    *,
    recipe: str | None = None,
    overrides: dict[str, Any] | None = None,
    start: np.ndarray | None = None,
    overview: Reconstruction | None = None,
    close_up: CloseUp | None = None,
    place: Place | None = None,
    fresh: bool = False,
) -> Reconstruction:
    """Run, go on with, or load what is in ``folder``, and write its files if they are not there.

    Args:
        sequence: the recording.
        folder: of the run.
        stages: where progress is shown.
        recipe: a name or a .toml file; chosen by the recording if not given.
        overrides: dotted keys of the recipe and their values.
        start: diffusivity (z, y, x) to begin with.
        overview: of the whole part, where the recording shows a piece of it.
        close_up: which of its indications that is.
        place: solve it in tiles, there; in one piece if not given.
        fresh: start over.
    """
    from nefty.inversion.reconstruct import reconstruct
    from nefty.inversion.tiles.run import reconstruct_tiles

    started = (lambda: remove_files(folder)) if fresh else (lambda: None)
    progress = RunProgress(stages, started)
    try:
        with progress:
            watch = progress.watch()
            given: dict[str, Any] = {"overrides": overrides, "run": folder, "fresh": fresh, "watch": watch}
            if place is not None:
                found = reconstruct_tiles(sequence, recipe or "real", place=place, **given)
            else:
                found = reconstruct(sequence, recipe=recipe, start=start, overview=overview, close_up=close_up, **given)
    except BaseException as error:
        if was_interrupted(error) and not holds_work(folder):
            stages.say(NOTHING_KEPT)
        elif isinstance(error, KeyboardInterrupt) and error.args:
            stages.say(str(error))
        raise
    if progress.worked or not are_written(folder):
        with stages.stage("Write the report"):
            write_files(found, folder)
    else:
        stages.say(f"The run in {folder} is finished; this is its result (--fresh starts over).")
    return found
