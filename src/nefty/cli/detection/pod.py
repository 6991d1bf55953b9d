"""``nefty pod``: the probability of detection over a set of runs whose defects are known, or of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nefty.metrics.detection import Pod
    from nefty.metrics.detection_table import DetectionTable

PAGE, CURVE, TARGETS = "pod.html", "pod.csv", "targets.csv"


def run(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE",
            help="Tables .csv with size and detected or signal; runs; or folders of runs.",
            show_default=False,
        ),
    ],
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Known defects of the runs: x, y, size, and depth and run if wanted; else what the runs know.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Fit the strength of signals, found above this, instead of hits and misses.", show_default=False
        ),
    ] = None,
    low: Annotated[
        float | None, typer.Option(help="Signals at or below it are lost in noise.", show_default=False)
    ] = None,
    high: Annotated[
        float | None, typer.Option(help="Signals at or above it are saturated.", show_default=False)
    ] = None,
    link: Annotated[str, typer.Option(help="Of hits and misses: logit or probit.")] = "logit",
    scale: Annotated[str, typer.Option(help="The POD is a function of log or linear sizes.")] = "log",
    confidence: Annotated[float, typer.Option(help="One-sided, of the bounds.")] = 0.95,
    firth: Annotated[
        bool, typer.Option("--firth", help="Firth's penalty, for hits and misses that do not mix.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write the page and the tables there.", file_okay=False, show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a machine to read.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Tell from which size on defects are found: a90/95, by hits and misses or by signals."""
    from nefty.core.errors import InputError
    from nefty.metrics.detection import hit_miss, signal_response
    from nefty.metrics.detection_table import joined

    if show and out is None:
        raise InputError("--open shows the page that is written; give --out FOLDER too.")
    if threshold is None and (low is not None or high is not None):
        raise InputError("--low and --high censor signals; give --threshold too.")
    table = joined([_table(source, truth) for source in _found(sources)])
    if threshold is None:
        penalty = "firth" if firth else "none"
        pod = hit_miss(table.sizes, table.hits, link=link, transform=scale, confidence=confidence, penalty=penalty)
    else:
        pod = signal_response(
            table.sizes, table.signals, threshold, low=low, high=high, transform=scale, confidence=confidence
        )
    typer.echo(_as_json(pod, table) if as_json else _as_text(pod, table))
    if out is not None:
        for path in _written(out, pod, table, threshold, sources):
            typer.echo(f"written: {path}", err=as_json)
    if out is not None and show:
        from nefty.report.run_files import open_in_browser

        open_in_browser(out / PAGE)


def _written(
    out: Path, pod: Pod, table: DetectionTable, threshold: float | None, sources: list[Path]
) -> Iterator[Path]:
    """Write the page and the tables; each as soon as it is asked for."""
    from nefty.core.storage.files import write_atomic
    from nefty.metrics.detection_table import table_csv
    from nefty.report.pages.pod import curve_csv, pod_page

    page = pod_page(pod, table, threshold=threshold, source=", ".join(map(str, sources)))
    yield write_atomic(out / PAGE, page.render())
    yield write_atomic(out / CURVE, curve_csv(pod, table.unit))
    yield write_atomic(out / TARGETS, table_csv(table))


def _found(sources: list[Path]) -> list[Path]:
    """Tables and runs; a folder that is no run stands for the runs in it."""
    from nefty.core.errors import InputError
    from nefty.core.storage.run_folder import RESULT

    found: list[Path] = []
    for source in sources:
        if not source.is_dir() or (source / RESULT).exists():
            found.append(source)
            continue
        runs = sorted(path.parent for path in source.glob(f"*/{RESULT}"))
        if not runs:
            raise InputError(f"{source} is no run, and there is none in it; make some with nefty reconstruct.")
        found += runs
    return found


def _table(source: Path, truth: Path | None) -> DetectionTable:
    from nefty.metrics.detection_table import read_table, targets_of
    from nefty.metrics.known_defects import listed_defects
    from nefty.report.run_files import load_result

    if source.suffix.lower() == ".csv":
        return read_table(source)
    rec = load_result(source)
    name = source.name if source.is_dir() else source.parent.name
    return targets_of(rec, name, None if truth is None else listed_defects(truth, rec, name))


def _as_text(pod: Pod, table: DetectionTable) -> str:
    lines = [str(pod)]
    lines += [f"sizes in {table.unit}"] if table.unit else []
    lines += [] if table.false_calls is None else [f"false calls: {table.false_calls}"]
    return "\n".join(lines)


def _as_json(pod: Pod, table: DetectionTable) -> str:
    import json
    import math

    values = {**pod.as_dict(), "unit": table.unit, "false_calls": table.false_calls}
    finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
    return json.dumps(finite, indent=2)
