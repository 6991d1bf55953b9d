"""``nefty bench``: measure speed, memory and accuracy on this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nefty.bench.solver.measure import Tell
    from nefty.bench.tables.results import Results

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure speed, memory and accuracy on this machine, beside peers in the same run.",
)

Out = Annotated[Path, typer.Option("--out", help="Folder for the JSON, Markdown, CSV, LaTeX and HTML files.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="Timed runs of each method.")]
Frames = Annotated[int, typer.Option("--frames", min=1, help="Number of frames.")]
Shape = Annotated[str, typer.Option("--shape", help="Cells along z, y, x, such as 16x64x64.")]
Methods = Annotated[str, typer.Option("--methods", help='Names separated by commas, or "all".')]
Patience = Annotated[
    float, typer.Option("--patience", min=0, help="Seconds per method to wait while other programs are busy.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A small grid and few runs: to see that it works, not to quote.")]

LOG_WIDTH = 160  # columns of a table that goes to a file
FOLDER = Path("bench-results")
QUICK_SHAPE, QUICK_FRAMES = (8, 32, 32), 20


@app.command()
def solver(
    frames: Frames = 100,
    repeats: Repeats = 5,
    methods: Methods = "",
    shape: Shape = "16x64x64",
    patience: Patience = 60.0,
    quick: Quick = False,
    out: Out = FOLDER,
) -> None:
    """The paper's efficiency table: forward, backward, memory and error of every solver installed."""
    from nefty.bench.solver import efficiency as solver
    from nefty.bench.solver.case import Case
    from nefty.bench.solver.solvers import EFFICIENCY_TABLE

    case = Case(shape=_shape(shape), frames=frames)
    if quick:
        case, repeats = Case(shape=QUICK_SHAPE, frames=min(frames, QUICK_FRAMES)), 2
    names = _names(methods, EFFICIENCY_TABLE)
    with _telling() as tell:
        results = solver.run(case, methods=names, repeats=repeats, patience=patience, tell=tell)
    _finish(results, out)


@app.command()
def run(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A name (see --list) or a .toml file.")] = "",
    seeds: Annotated[str, typer.Option("--seeds", help="In place of the suite's: 0:8, or 1,5,7.")] = "",
    data: Annotated[str, typer.Option("--data", help="Only these recordings of it, separated by commas.")] = "",
    kinds: Annotated[str, typer.Option("--kinds", help="Only homogeneous, layered, rectangular or round.")] = "",
    methods: Annotated[str, typer.Option("--methods", help="Only these methods of it.")] = "",
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; as many as cores allow.")] = None,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of each task.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, tcp://host:8786.")
    ] = None,
    slurm: Annotated[bool, typer.Option("--slurm", help="Start the workers as Slurm jobs.")] = False,
    job: Annotated[list[str] | None, typer.Option("--job", help="key=value for dask-jobqueue; repeatable.")] = None,
    retries: Annotated[int, typer.Option("--retries", min=0, help="Further attempts after an error.")] = 1,
    root: Annotated[
        Path | None, typer.Option("--root", metavar="FOLDER", help="Of the recordings, for pvc.", show_default=False)
    ] = None,
    plates: Annotated[
        list[str] | None,
        typer.Option("--plates", metavar="KEY=VALUE", help="For pvc: split=test, most=6, bin=4, ...; repeatable."),
    ] = None,
    generate: Annotated[
        int | None,
        typer.Option("--generate", min=1, metavar="N", help="First write N simulated plates into --root."),
    ] = None,
    size: Annotated[
        str, typer.Option("--generate-size", help="Of these: rows x columns x frames; as published.")
    ] = "256x320x1810",
    names: Annotated[bool, typer.Option("--list", help="List the suites and end.")] = False,
    out: Out = FOLDER,
) -> None:
    """Run a suite of the benchmark; the same command goes on where it was stopped."""
    from nefty.bench.suites.run import run_suites
    from nefty.bench.suites.suite import load_suite, load_suites, suite_names
    from nefty.bench.tasks.cluster import Place
    from nefty.bench.tasks.methods import method
    from nefty.cli.suite_progress import SuiteProgress
    from nefty.core.configuration import parse_assignment
    from nefty.core.errors import InputError
    from nefty.core.interrupt import STOPPED

    if names:
        for name in suite_names():
            typer.echo(f"{name:14} {load_suite(name).title}")
        return
    if not suite:
        raise InputError(f"name a suite: {', '.join(suite_names())}, or a .toml file.")
    only = {"data": _words(data), "kinds": _words(kinds), "methods": _words(methods)}
    changes = dict(parse_assignment(text) for text in plates or [])
    if generate is not None:
        load_suites(
            suite, seeds=seeds or None, only=only, plates={**changes, "root": ""}
        )  # refuses what is wrong first
        _generate(root, generate, size)
    changes |= {} if root is None else {"root": str(root.absolute())}
    chosen = load_suites(suite, seeds=seeds or None, only=only, plates=changes)
    place = Place(scheduler, slurm, workers, threads, dict(parse_assignment(text) for text in job or []))
    with SuiteProgress() as progress:
        shown = run_suites(chosen, out, place, retries=retries, watch=progress.step, tell=progress.tell)
    for one in shown:
        for row in one.suite.absent() if one.tasks is not None else []:
            typer.echo(f"{one.suite.name}: {row.name} is left out: {method(row.method).remedy}.", err=True)
        if one.tasks is not None:
            done, computed, failed = (one.tasks[name] for name in ("done", "computed", "failed"))
            typer.echo(f"{one.suite.name}: {done} results, {computed} of them computed now, {failed} failed.")
        if one.results is not None:
            _print(one.results)
        for path in one.files:
            typer.echo(f"{'written' if one.results is not None else 'kept'}: {path}")
    if any(one.interrupted for one in shown):
        typer.echo("Stopped. The same command goes on from here.", err=True)
        raise typer.Exit(STOPPED)
    if any(one.tasks and one.tasks["failed"] for one in shown):
        raise typer.Exit(1)


@app.command()
def growth(
    frames: Frames = 200,
    repeats: Repeats = 3,
    methods: Methods = "chebyshev,sdirk2",
    shapes: Annotated[
        str, typer.Option("--shapes", help="Grids (z, y, x) separated by commas, such as 8x32x32,16x64x64.")
    ] = "",
    box: Annotated[
        str, typer.Option("--box", help='"fixed": one slab resolved ever finer; "grows": ever more equal cells.')
    ] = "fixed",
    patience: Patience = 60.0,
    quick: Quick = False,
    out: Out = FOLDER,
) -> None:
    """Seconds, nanoseconds per cell and step, and memory from 32 x 32 x 8 cells to 256 x 256 x 64."""
    from nefty.bench.solver import growth

    chosen = tuple(_shape(s) for s in shapes.split(",")) if shapes else growth.SHAPES
    if quick:
        chosen, frames, repeats = growth.SHAPES[:2], min(frames, QUICK_FRAMES), 1
    names = _names(methods, ("chebyshev", "sdirk2"))
    with _telling() as tell:
        results = growth.run(
            chosen, methods=names, frames=frames, repeats=repeats, box=box, patience=patience, tell=tell
        )
    _finish(results, out)


@app.command()
def memory(
    steps: Annotated[int, typer.Option("--steps", min=1, help="Time steps of autograd against adjoint.")] = 50,
    frames: Frames = 400,
    repeats: Repeats = 3,
    shape: Shape = "16x64x64",
    patience: Patience = 60.0,
    quick: Quick = False,
    out: Out = FOLDER,
) -> None:
    """Peak memory: autograd against adjoint; states stored, recomputed or reversed."""
    from nefty.bench.solver import memory

    cells = _shape(shape)
    if quick:
        cells, steps, frames, repeats = QUICK_SHAPE, 10, 40, 1
    with _telling() as tell:
        results = memory.run(cells, steps=steps, frames=frames, repeats=repeats, patience=patience, tell=tell)
    _finish(results, out)


@app.command()
def contrast(
    frames: Frames = 100,
    methods: Methods = "chebyshev,sdirk2,am",
    repeats: Repeats = 1,
    shape: Shape = "16x64x64",
    patience: Patience = 60.0,
    quick: Quick = False,
    out: Out = FOLDER,
) -> None:
    """Iterations, residuals and errors while the defects insulate ever better, 1 : 20 to 1 : 1,000,000."""
    from nefty.bench.solver import contrast

    cells = _shape(shape)
    if quick:
        cells, frames = QUICK_SHAPE, min(frames, QUICK_FRAMES)
    names = _names(methods, ("chebyshev", "sdirk2", "am"))
    with _telling() as tell:
        results = contrast.run(shape=cells, frames=frames, methods=names, repeats=repeats, patience=patience, tell=tell)
    _finish(results, out)


@app.command()
def validate(quick: Quick = False, out: Out = FOLDER) -> None:
    """The Gaussian diffusion-rate experiment and the figures of the paper's appendix I."""
    from nefty.bench.solver import validate

    experiment = validate.Experiment()
    if quick:
        experiment = validate.Experiment(shape=(8, 64, 64), frames=40, dt=0.1)
    with _telling() as tell:
        results = validate.run(experiment, tell=tell)
    _finish(results, out)


@app.command()
def profile(
    frames: Frames = 100,
    shape: Shape = "16x64x64",
    quick: Quick = False,
    out: Out = FOLDER,
) -> None:
    """Where the time of one forward run and one gradient goes, and what bounds it."""
    from nefty.bench.solver import profile
    from nefty.bench.solver.case import Case

    case = Case(shape=_shape(shape), frames=frames)
    if quick:
        case = Case(shape=QUICK_SHAPE, frames=min(frames, QUICK_FRAMES))
    with _telling() as tell:
        results = profile.run(case, repeats=5 if quick else 30, tell=tell)
    _finish(results, out)


def _generate(root: Path | None, plates: int, size: str) -> None:
    """Write simulated plates in the published layout."""
    from nefty.core.errors import InputError
    from nefty.synth.pvc_files import PvcSize, write_pvc

    if root is None:
        raise InputError("--generate needs --root FOLDER, a new folder for the recordings.")
    try:
        rows, columns, frames = (int(word) for word in size.lower().split("x"))
    except ValueError:
        raise InputError(f"--generate-size {size} must be rows x columns x frames, such as 256x320x1810.") from None
    with _telling() as tell:
        names = write_pvc(
            root,
            plates,
            PvcSize((rows, columns), frames),
            progress=lambda name, done, total: tell(f"Simulate {name}", f"{done + 1} of {total}"),
        )
    typer.echo(f"{len(names)} recordings written to {root}, {plates - len(names)} were there.")


def _shape(text: str) -> tuple[int, int, int]:
    """``"16x64x64"`` as (z, y, x)."""
    from nefty.core.errors import InputError

    parts = text.lower().split("x")
    if len(parts) != 3 or not all(part.strip().isdigit() for part in parts):
        raise InputError(f"shape {text!r} must be three whole numbers along z, y, x, such as 16x64x64.")
    z, y, x = (int(part) for part in parts)
    return z, y, x


def _names(text: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """Method names out of an option; the default if it is empty."""
    from nefty.bench.solver.solvers import METHODS, method

    if text == "all":
        return tuple(METHODS)
    names = tuple(name.strip() for name in text.split(",") if name.strip()) or default
    for name in names:
        method(name)
    return names


@contextmanager
def _telling() -> Iterator[Tell]:
    """Stages on stderr: one changing line on a terminal, one line per task in a log."""
    if not sys.stderr.isatty():
        last = []

        def line(task: str, detail: str = "") -> None:
            if last != [task]:
                last[:] = [task]
                print(f"{task} ...", file=sys.stderr, flush=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        shown = progress.add_task("starting", total=None)

        def update(task: str, detail: str = "") -> None:
            progress.update(shown, description=f"{task}: {detail}" if detail else task)

        yield update


def _finish(results: Results, out: Path) -> None:
    """Print the tables and notes, write the files, say where they are."""
    _print(results)
    for path in results.save(out):
        typer.echo(f"written: {path}")


def _print(results: Results) -> None:
    """The tables and notes on the terminal."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=LOG_WIDTH)
    for table in results.tables:
        shown = Table(title=table.title, title_justify="left", title_style="bold")
        for i, heading in enumerate(table.headings()):
            shown.add_column(heading, justify="left" if i == 0 else "right", overflow="fold")
        for row in table.cells():
            shown.add_row(*row)
        console.print(shown)
    for note in results.notes:
        console.print(f"- {note}", markup=False, highlight=False)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
