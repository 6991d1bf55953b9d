"""``nefty bench``: compare methods and solvers on this machine or a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nefty.bench.suites.run import Shown
    from nefty.bench.tables.results import Results

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure speed, memory and accuracy on this machine, next to other solvers in the same run.",
)

LOG_WIDTH = 160  # columns of a table that goes to a file
FOLDER = Path("bench-results")

SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="A name (see --list) or a .toml file.")]
Seeds = Annotated[str, typer.Option("--seeds", help="Seeds to use instead of the suite's: 0:8, or 1,5,7.")]
Data = Annotated[str, typer.Option("--data", help="Only these recordings of the suite, separated by commas.")]
Kinds = Annotated[str, typer.Option("--kinds", help="Only these kinds: homogeneous, layered, rectangular or round.")]
Methods = Annotated[str, typer.Option("--methods", help="Only these methods of the suite, separated by commas.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="For an experiment: frames=50, solvers=all, ...; repeatable."),
]
Quick = Annotated[bool, typer.Option("--quick", help="For experiments: small grids and few runs, as a quick check.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Repeat experiments that were done before.")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Worker processes; by default as many as there are cores.")
]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Threads of each task.")]
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, tcp://host:8786.")
]
Slurm = Annotated[bool, typer.Option("--slurm", help="Start the workers as Slurm jobs.")]
Job = Annotated[list[str] | None, typer.Option("--job", help="key=value for dask-jobqueue; repeatable.")]
Retries = Annotated[int, typer.Option("--retries", min=0, help="Number of further attempts after an error.")]
Root = Annotated[
    Path | None, typer.Option("--root", metavar="FOLDER", help="Folder of the recordings, for pvc.", show_default=False)
]
PlateSettings = Annotated[
    list[str] | None,
    typer.Option("--plates", metavar="KEY=VALUE", help="For pvc: split=test, most=6, bin=4, ...; repeatable."),
]
Generate = Annotated[
    int | None, typer.Option("--generate", min=1, metavar="N", help="First write N simulated plates into --root.")
]
GenerateSize = Annotated[
    str, typer.Option("--generate-size", help="Size of these: rows x columns x frames; default as published.")
]
Write = Annotated[
    bool,
    typer.Option(
        "--write", help="For trials, coverage, coverage-specimens: nefty's intervals have its factors from now on."
    ),
]
List = Annotated[bool, typer.Option("--list", help="List the suites and exit.")]
Out = Annotated[Path, typer.Option("--out", help="Folder for the JSON, Markdown, CSV, LaTeX and HTML files.")]


@app.callback()
def bench() -> None:
    """Measure speed, memory and accuracy on this machine, beside peers in the same run."""


@app.command()
def run(
    suite: SuiteName = "",
    seeds: Seeds = "",
    data: Data = "",
    kinds: Kinds = "",
    methods: Methods = "",
    options: Options = None,
    quick: Quick = False,
    fresh: Fresh = False,
    workers: Workers = None,
    threads: Threads = 1,
    scheduler: Scheduler = None,
    slurm: Slurm = False,
    job: Job = None,
    retries: Retries = 1,
    root: Root = None,
    plates: PlateSettings = None,
    generate: Generate = None,
    size: GenerateSize = "256x320x1810",
    write: Write = False,
    names: List = False,
    out: Out = FOLDER,
) -> None:
    """Run a suite of the benchmark or an experiment; the same command resumes where it was stopped."""
    from nefty.bench.suites.load import load_suites
    from nefty.bench.suites.run import run_suites
    from nefty.cli.suite_progress import SuiteProgress
    from nefty.core.cluster.place import Place

    if names:
        _list_suites()
        return
    _refuse_nothing(suite)
    part: dict[str, Any] = {
        "seeds": seeds or None,
        "only": {"data": _words(data), "kinds": _words(kinds), "methods": _words(methods)},
        "options": _assignments(options),
        "quick": quick,
    }
    changes = _assignments(plates)
    if generate is not None:
        load_suites(suite, plates={**changes, "root": ""}, **part)  # refuses what is wrong first
        _generate(root, generate, size)
    changes |= {} if root is None else {"root": str(root.absolute())}
    chosen = load_suites(suite, plates=changes, **part)
    place = Place(scheduler, slurm, workers, threads, _assignments(job))
    with SuiteProgress() as progress:
        shown = run_suites(chosen, out, place, retries=retries, fresh=fresh, watch=progress.step, tell=progress.tell)
    if write:
        _install(shown)
    _report(shown)


def _install(shown: Sequence[Shown]) -> None:
    """Put the factors of a whole run where nefty reads them, beside those of other recipes."""
    from nefty.bench.suites.run import FACTORS
    from nefty.core.errors import InputError
    from nefty.core.storage.files import write_atomic
    from nefty.result.indications import intervals

    files = [file for one in shown if not one.interrupted for file in one.files if file.name == FACTORS]
    if not files:
        raise InputError(
            "--write needs a whole run that measures intervals: nefty bench run trials --write, coverage or "
            "coverage-specimens."
        )
    measured = intervals.factors_from_json(files[-1].read_text(encoding="utf-8"))
    text = intervals.factors_to_json({**intervals.stored_factors(), **measured})
    target = write_atomic(Path(intervals.__file__).with_name(intervals.FILE), text)
    typer.echo(f"The intervals of {' and '.join(measured)} now have these factors: {target}")


def _report(shown: Sequence[Shown]) -> None:
    """Say what became of each suite, and exit with 1 if something failed."""
    from nefty.bench.tasks.methods import method
    from nefty.core.interrupt import STOPPED

    for one in shown:
        for row in one.suite.absent() if one.tasks is not None else []:
            typer.echo(f"{one.suite.name}: {row.name} is left out: {method(row.method).remedy}.", err=True)
        if one.tasks is not None:
            done, computed, failed = (one.tasks[name] for name in ("done", "computed", "failed"))
            typer.echo(f"{one.suite.name}: {done} results, {computed} of them computed now, {failed} failed.")
        if one.results is not None:
            _print(one.results)
        for path in one.files:
            typer.echo(f"{'written' if one.results is not None else 'kept (--fresh does it again)'}: {path}")
    if any(one.interrupted for one in shown):
        typer.echo("Stopped. Run the same command again to resume.", err=True)
        raise typer.Exit(STOPPED)
    if any(one.tasks and one.tasks["failed"] for one in shown):
        raise typer.Exit(1)


def _list_suites() -> None:
    from nefty.bench.suites.load import load_suite, suite_names

    for name in suite_names():
        typer.echo(f"{name:16} {load_suite(name).title}")


def _refuse_nothing(suite: str) -> None:
    from nefty.bench.suites.load import suite_names
    from nefty.core.errors import InputError

    if not suite:
        raise InputError(f"name a suite: {', '.join(suite_names())}, or a .toml file.")


def _generate(root: Path | None, plates: int, size: str) -> None:
    """Write simulated plates in the published layout."""
    from nefty.cli.suite_progress import SuiteProgress
    from nefty.core.errors import InputError
    from nefty.synth.pvc_files import PvcSize, write_pvc

    if root is None:
        raise InputError("--generate needs --root FOLDER, a new folder for the recordings.")
    try:
        rows, columns, frames = (int(word) for word in size.lower().split("x"))
    except ValueError:
        raise InputError(f"--generate-size {size} must be rows x columns x frames, such as 256x320x1810.") from None
    with SuiteProgress() as progress:
        names = write_pvc(
            root,
            plates,
            PvcSize((rows, columns), frames),
            progress=lambda name, done, total: progress.tell(f"Simulate {name}", f"{done + 1} of {total}"),
        )
    typer.echo(f"{len(names)} recordings written to {root}, {plates - len(names)} were there.")


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


def _assignments(texts: Sequence[str] | None) -> dict[str, Any]:
    """``key=value`` options by key."""
    from nefty.core.configuration import parse_assignment

    return dict(parse_assignment(text) for text in texts or [])


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


#: Verbs that these commands once had, and the suites that took their place.
OLDER = {
    "solver": "solver",
    "growth": "growth",
    "memory": "memory",
    "contrast": "solver-contrast",
    "validate": "validation",
    "profile": "profile",
}


def _add_older(name: str, suite: str) -> None:
    """A hidden command that only says what to type instead."""

    @app.command(name, hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
    def older() -> None:
        from nefty.core.errors import InputError

        raise InputError(
            f"`nefty bench {name}` is now `nefty bench run {suite}`; its options are given as --set KEY=VALUE, such as "
            "--set frames=50, and --methods as --set solvers=NAMES."
        )


for _name, _suite in OLDER.items():
    _add_older(_name, _suite)
