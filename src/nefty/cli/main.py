"""The command ``nefty``. Nothing heavy is imported here: ``nefty --help`` answers at once."""

from __future__ import annotations

import importlib
import io
import sys
from typing import Annotated, NoReturn

import typer

from nefty import __version__
from nefty.cli import (
    bench,
    classical,
    demo,
    doctor,
    evaluate,
    inspect,
    reconstruct,
    report,
    simulate,
    train,
)
from nefty.cli.batch import command as batch
from nefty.cli.detection import limits, pod
from nefty.core.errors import NeftyError
from nefty.core.interrupt import STOPPED, was_interrupted

app = typer.Typer(
    name="nefty",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("demo")(demo.run)
app.command("simulate")(simulate.run)
app.command("inspect")(inspect.run)
app.command("reconstruct")(reconstruct.run)
app.command("batch")(batch.run)
app.command("limits")(limits.run)
app.command("classical")(classical.run)
app.command("evaluate")(evaluate.run)
app.command("report")(report.run)
app.command("pod")(pod.run)
app.command("train")(train.run)
# The app stands beside the command line, and neither imports the other: found by name.
app.command("app")(importlib.import_module("nefty.app.command").run)
app.command("doctor")(doctor.run)
app.add_typer(bench.app, name="bench", short_help="Measure speed, memory and accuracy, next to other solvers.")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nefty {__version__}")
        raise typer.Exit


@app.callback()
def nefty(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Thermal tomography: what is inside a part, from how its surface cools after a flash.

    Start with "nefty demo", continue with "nefty reconstruct FILE". If something looks wrong, run "nefty doctor".
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    An error that nefty foresaw is one paragraph on stderr and exit code 2; ``--debug``, at any place, shows
    its traceback. Ctrl-C exits with 130.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):  # names of files that are no UTF-8 come out as they are
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape")
    debug = "--debug" in arguments
    try:
        app([word for word in arguments if word != "--debug"], prog_name="nefty")
    except NeftyError as error:
        if debug:
            raise
        print(f"nefty: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        _stopped()
    except SystemExit as end:
        if end.code == STOPPED:
            _stopped()
        raise
    except Exception as error:
        if not debug and was_interrupted(error):
            _stopped()
        raise


def _stopped() -> NoReturn:
    print("\nStopped.", file=sys.stderr)
    sys.exit(STOPPED)
