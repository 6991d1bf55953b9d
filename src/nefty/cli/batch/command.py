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
        typer.Option(help="Folder of runs and summary; default: beside the recordings' folder, its name with -batch."),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(help="As for nefty reconstruct; by default chosen for each recording.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change a value of the recipe, such as model.layers=24; repeatable."
        ),
    ] = None,
    false_calls: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Accepted number of false indications in a sound part, on average.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="Stop each recording after this many seconds; the same command resumes it.", show_default=False
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything again.")] = False,
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
    be read never stops the others. A .toml with the name of a recording holds facts that differ for it.
    The same command resumes after Ctrl-C, and computes only what is new or has changed.
    The exit code is 1 if a recording has no result.
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
        typer.echo("Stopped. Run the same command again to resume.", err=True)
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
        f"indications; {done.computed} were computed in this run."
    ]
    if done.listed.passed_over:
        names = [path.name for path in done.listed.passed_over]
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        parts.append(f"Skipped, because their suffix belongs to no known format: {shown}.")
    lines = [filled(part) for part in parts]
    lines += [filled(f"No result: {one.name}: {one.reason}", rest="  ") for one in done.without_result]
    return "\n".join([*lines, "", listed({str(done.folder / name): words for name, words in FILES.items()})])
