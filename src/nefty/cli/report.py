"""``nefty report``: the report of a run again, and its volume for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NAMES = {".csv": "defects.csv"}  # of an export that is given by its suffix alone


def run(
    result: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or its result.h5.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The page to write; report.html in the run's folder if not given."),
    ] = None,
    exports: Annotated[
        list[str] | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="Also write .npz, .vti, .csv, .json, .h5 or .dcm: a file name, or the suffix alone; repeatable.",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
) -> None:
    """Write the report of a run again; export its volume."""
    from nefty.cli.findings_text import describe
    from nefty.report.run_files import REPORT, load_result, open_in_browser

    rec = load_result(result)
    folder = result if result.is_dir() else result.parent
    page = out or folder / REPORT
    written = [rec.report(page)]
    written += [rec.export(_place(text, page.parent)) for text in exports or ()]
    typer.echo(describe(rec) + "\n")
    for path in written:
        typer.echo(f"written: {path}")
    if show:
        open_in_browser(page)


def _place(text: str, folder: Path) -> Path:
    """A file name as it is; a suffix alone as a file beside the report."""
    if text.startswith(".") and "/" not in text and text.count(".") == 1:
        return folder / NAMES.get(text, f"volume{text}")
    return Path(text)
