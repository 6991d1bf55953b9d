"""``nefty limits``: what would have been seen in a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nefty.cli.recording_options import RecordingOptions, takes_recording_options
from nefty.core.terminal_text import filled

if TYPE_CHECKING:
    from nefty.result.limits import Limits


@takes_recording_options
def run(
    recording: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The recording, or the folder of a run.", show_default=False),
    ],
    *,
    options: RecordingOptions,
) -> None:
    """Show which defects this recording would reveal: the smallest diameter at each depth, with 90 % probability.

    Defects are inserted into the recording and searched for as usual. The report of a run shows the same, with maps.
    """
    found = _of_run(recording) if recording.is_dir() else _of_recording(recording, options)
    typer.echo(_table(found))
    typer.echo(filled(found.sentence("mm")))


def _of_run(folder: Path) -> Limits:
    from nefty.core.errors import InputError
    from nefty.result.display_units import MILLI
    from nefty.result.reconstruction import Reconstruction

    rec = Reconstruction.load(folder)
    if rec.frame_evidence is None or rec.frame_evidence.limits is None:
        raise InputError(f"{folder}: this run did not compute what would have been seen; run the recipe real again.")
    return rec.frame_evidence.limits.scaled(MILLI if rec.facts.units.in_metres else 1.0)


def _of_recording(file: Path, options: RecordingOptions) -> Limits:
    from nefty.cli.output import Patience
    from nefty.core.progress import watched
    from nefty.data.intake.intake import take_in
    from nefty.inversion.seen import limits
    from nefty.result.display_units import MILLI

    with Patience() as progress, watched(progress):
        taken = take_in(file, options.known())
        for text in taken.said:
            typer.echo(filled(text), err=True)
        return limits(taken.complete()).scaled(MILLI)


def _table(found: Limits) -> str:
    """Depths and diameters in columns."""
    import math

    heads = ["depth (mm)", *(f"{name} (mm)" for name in found.names)]
    rows = [
        [f"{depth:.3g}", *("none" if math.isnan(d) else f"{d:.2g}" for d in own)]
        for depth, own in zip(found.depths, found.diameters.T, strict=True)
    ]
    lines = ["  ".join(f"{cell:>{len(head)}}" for cell, head in zip(row, heads, strict=True)) for row in [heads, *rows]]
    return "\n".join(lines)
