"""``nefty reconstruct``: from a recording to a volume, its defects and a report, in a folder that can be resumed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nefty.data.sequence import Sequence


def run(
    file: Annotated[
        Path | None, typer.Argument(help="The recording, .h5 or .npz; see nefty.load.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run; the file's name with -run if not given.", file_okay=False),
    ] = None,
    recipe: Annotated[str, typer.Option(help="fast, neural, paper, or a .toml file.")] = "fast",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the recipe, such as model.layers=24; repeatable."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over, whatever the folder holds.")] = False,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after so many seconds, with the best so far.", show_default=False)
    ] = None,
    roi: Annotated[
        str, typer.Option(metavar="Y0:Y1,X0:X1", help="Only this rectangle of pixels; negative ones from the end.")
    ] = "",
    mask: Annotated[
        Path | None, typer.Option(metavar="FILE.npy", help="Pixels (y, x) that count, true or false.")
    ] = None,
    show_recipe: Annotated[
        bool, typer.Option("--show-recipe", help="Print the recipe with all its values as TOML, and exit.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
) -> None:
    """Reconstruct the inside of a part from a recording.

    The same command goes on with a run that was interrupted, and shows one that is finished.
    """
    from nefty.cli.output import Stages
    from nefty.cli.recipe_text import recipe_text
    from nefty.core.configuration import parse_assignment
    from nefty.core.interrupt import STOPPED
    from nefty.inversion.recipe import load_recipe

    overrides = dict(parse_assignment(text) for text in settings or ())
    if seconds is not None:
        overrides["stop.seconds"] = seconds
    resolved = load_recipe(recipe, overrides)
    if show_recipe:
        typer.echo(recipe_text(resolved))
        return
    if file is None:
        raise typer.BadParameter("give the recording to reconstruct, such as plate.h5.", param_hint="FILE")
    folder = out or Path(f"{file.stem}-run")

    from nefty.cli.findings_text import describe
    from nefty.cli.run_files import REPORT, listed, open_in_browser
    from nefty.cli.run_reconstruction import MORE_STAGES, ran_out_of_time, run_reconstruction, was_interrupted

    stages = Stages(total=1 + MORE_STAGES)
    with stages.stage("Read the recording", hint="and load the libraries"):
        sequence = _recording(file, mask, roi)
    rec = run_reconstruction(sequence, folder, stages, recipe=recipe, overrides=overrides, fresh=fresh)
    stopped, late = was_interrupted(rec), ran_out_of_time(rec)
    typer.echo(f"{describe(rec)}\n\n{listed(folder)}")
    if stopped or late:
        words = ["nefty", "reconstruct", str(file), "--out", str(folder), "--recipe", recipe]
        words += [word for text in settings or () for word in ("--set", text)]
        words += ["--seconds", f"{seconds:g}"] if seconds is not None and not late else []
        words += ["--roi", roi] if roi else []
        words += ["--mask", str(mask)] if mask is not None else []
        typer.echo(f"\nThis is the best so far: {rec.stopped.partition(';')[0]}. To go on:\n{shlex.join(words)}")
    if show:
        open_in_browser(folder / REPORT)
    if stopped:
        raise typer.Exit(STOPPED)


def _recording(file: Path, mask: Path | None, roi: str) -> Sequence:
    """The recording with what was left out by mask and region."""
    from nefty.cli.run_files import load_array
    from nefty.data.load import load

    sequence = load(file)
    if mask is not None:
        before, sequence = sequence.mask, sequence.with_mask(load_array(mask, "mask"))
        if before is not None and sequence.mask is not None:
            sequence = sequence.with_mask(before & sequence.mask)
    return sequence.region(*_region(roi)) if roi else sequence


def _region(text: str) -> tuple[slice, slice]:
    """``"10:50,-20:"`` as rows and columns."""
    from nefty.core.errors import InputError

    try:
        rows, columns = (
            slice(*(int(end) if end.strip() else None for end in part.split(":", 1))) for part in text.split(",")
        )
    except ValueError:
        rows = columns = None
    if rows is None or columns is None or text.count(":") != 2:
        raise InputError(f"--roi {text!r} must be rows and columns, first and one past the last: y0:y1,x0:x1.")
    return rows, columns
