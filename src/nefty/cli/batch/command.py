"""``nefty batch``: many recordings with one set of facts, and one summary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nefty.cli.bench import Job, Retries, Scheduler, Slurm, Threads, Workers
from nefty.cli.recording_options import RecordingOptions, takes_recording_options
from nefty.core.terminal_text import filled, listed

if TYPE_CHECKING:
    from nefty.batches.run import Batch


@takes_recording_options
def run(
    recordings: Annotated[
        list[str],
        typer.Argument(
            help='A folder of recordings, files, or a pattern in quotes: "scans/**/*.tif"; "scans/*/" for folders of '
            "frames.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of runs and summary; beside the recordings' folder, its name with -batch, if not given."
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(help="As for nefty reconstruct; chosen by each recording if not given.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the recipe, such as model.layers=24; repeatable."),
    ] = None,
    false_calls: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="False indications that you accept in a sound part, on average.", show_default=False
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Stop each recording after so many; the same command goes on.", show_default=False),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do everything again.")] = False,
    workers: Workers = None,
    threads: Threads = 1,
    scheduler: Scheduler = None,
    slurm: Slurm = False,
    job: Job = None,
    retries: Retries = 1,
    show: Annotated[bool, typer.Option("--open", help="Open the summary in the browser.")] = False,
    *,
    options: RecordingOptions,
) -> None:
    """Reconstruct a folder of recordings with one set of facts, and write a summary.

    "nefty batch scans --facts part.toml": one report for each recording, summary.html for all. A recording that cannot
    be read never stops the others. A .toml of a recording's own name says what is different with it.
    The same command goes on after Ctrl-C, and computes only what is new or has changed.
    Ends with 1 if a recording has no result.
    """
    from nefty.batches.run import batch
    from nefty.cli.batch.progress import BatchProgress
    from nefty.cli.reconstruct import checked_false_calls
    from nefty.core.cluster.place import Place
    from nefty.core.configuration import parse_assignment
    from nefty.core.interrupt import STOPPED
    from nefty.report.run_files import open_in_browser

    overrides = dict(parse_assignment(text) for text in settings or ())
    if seconds is not None:
        overrides["stop.seconds"] = seconds
    if false_calls is not None:
        overrides["evidence.false_calls"] = checked_false_calls(false_calls)
    place = Place(scheduler, slurm, workers, threads, dict(parse_assignment(text) for text in job or ()))
    with BatchProgress() as progress:
        done = batch(
            recordings,
            options.known(),
            out=out,
            recipe=recipe,
            overrides=overrides,
            place=place,
            retries=retries,
            fresh=fresh,
            watch=progress.step,
        )
    typer.echo(_told(done))
    if show:
        open_in_browser(done.folder / "summary.html")
    if done.interrupted:
        typer.echo("Stopped. The same command goes on from here.", err=True)
        raise typer.Exit(STOPPED)
    if done.without_result:
        raise typer.Exit(1)


def _told(done: Batch) -> str:
    """What came out, and where it is."""
    from nefty.batches.page import judges
    from nefty.batches.summary import FILES

    results = [one for one in done.outcomes if not one.reason]
    showing = sum(bool(one.indications) and judges(one) for one in results)
    parts = [
        f"{len(results)} of {len(done.listed.recordings)} recordings have a result, {showing} of them with "
        f"indications; {done.computed} were worked on now."
    ]
    if done.listed.passed_over:
        names = [path.name for path in done.listed.passed_over]
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        parts.append(f"Passed over, for their suffix is that of no format: {shown}.")
    lines = [filled(part) for part in parts]
    lines += [filled(f"No result: {one.name}: {one.reason}", rest="  ") for one in done.without_result]
    return "\n".join([*lines, "", listed({str(done.folder / name): words for name, words in FILES.items()})])
