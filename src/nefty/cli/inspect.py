"""``nefty inspect``: what a recording holds, what is missing for a reconstruction, and what would be assumed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nefty.cli.recording_options import RecordingOptions, takes_recording_options
from nefty.core.terminal_text import filled, paired

if TYPE_CHECKING:
    from nefty.data.intake.intake import Recording


@takes_recording_options
def run(
    file: Annotated[Path, typer.Argument(help="The recording; docs/formats.md lists the formats.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="The page; default: the file's name with -inspect.html.", dir_okay=False)
    ] = None,
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Write a facts file beside FILE (.toml) with what is known; fill in what is marked as missing.",
        ),
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead of the page: the temperature of every pixel in every frame, as .npz, .tif (a page per frame) "
            "or .csv (a folder with a file per frame). May be larger than the memory.",
        ),
    ] = None,
    export_prepared: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The same for the frames as a reconstruction would use them.")
    ] = None,
    *,
    options: RecordingOptions,
) -> None:
    """Show what a recording contains, what is missing for a reconstruction, and what would be assumed.

    Takes the same options as "nefty reconstruct" and changes nothing; --write writes a facts file.
    """
    if export is not None or export_prepared is not None:
        _export(file, options, export, export_prepared)
        return
    from nefty.cli.output import Patience
    from nefty.core.progress import watched
    from nefty.core.storage.files import write_atomic
    from nefty.data.intake.intake import take_in
    from nefty.data.intake.part_file import own_file
    from nefty.data.intake.part_template import part_template
    from nefty.data.intake.summary import front_of, shown_preparation, summary, time_unit
    from nefty.report.figures.style import AxisUnits
    from nefty.report.pages.inspection import Inspection, inspection_page
    from nefty.report.run_files import open_in_browser

    if write:
        _refuse_to_overwrite(file)
    with Patience() as progress, watched(progress):
        recording = take_in(file, options.known())
        prepared = shown_preparation(recording)
    lines = summary(recording, prepared)
    width = 2 + max(len(name) for name, _ in lines)
    typer.echo("\n".join(paired(name, value, width) for name, value in lines))
    typer.echo(f"\n{_verdict(recording, options)}")
    page = inspection_page(
        Inspection(
            file=file.name,
            recording=front_of(recording.loaded if recording.prepared is not None else recording.sequence),
            prepared=prepared,
            steps=recording.steps or prepared.steps,
            missing=[str(fact) for fact in recording.missing],
            summary=lines,
            units=AxisUnits("", time_unit(recording), recording.sequence.facts.units.temperature),
        )
    )
    path = write_atomic(out or Path(f"{file.stem}-inspect.html"), page.render())
    typer.echo(f"\n{path}  open it in a browser")
    if write:
        facts = write_atomic(own_file(file), part_template(recording))
        typer.echo(f"{facts}  fill in what is missing; nefty finds it beside the recording")
    if show:
        open_in_browser(path)


def _export(file: Path, options: RecordingOptions, raw: Path | None, prepared: Path | None) -> None:
    """Write the frames, and say what was written."""
    from nefty.cli.output import Patience
    from nefty.core.progress import watched
    from nefty.data.intake.export import export_frames

    with Patience() as progress, watched(progress):
        for target, ready in ((raw, False), (prepared, True)):
            if target is not None:
                written = export_frames(file, options.known(), target, prepared=ready)
                typer.echo(f"{written.path}  {written.words}")


def _refuse_to_overwrite(file: Path) -> None:
    from nefty.core.errors import InputError
    from nefty.data.intake.part_file import own_file

    if own_file(file).exists():
        raise InputError(f"{own_file(file)} is there already; edit it, or move it away and ask again.")


def _verdict(recording: Recording, options: RecordingOptions) -> str:
    """What is missing, and the command that reconstructs."""
    words = ["nefty", "reconstruct", str(recording.file), *options.words()]
    command = shlex.join(words) + "".join(f" {fact.option} {fact.example}" for fact in recording.missing)
    if not recording.missing:
        return f"Nothing is missing. To reconstruct:\n{command}"
    lines = [paired(f"  {fact.option}", fact.what, 17) for fact in recording.missing]
    told = filled("Missing; nefty reconstruct would ask for it by name:")
    return "\n".join([told, *lines, filled("To reconstruct, with your values in place of these:"), command])
