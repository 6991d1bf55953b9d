"""``nefty pod``: the probability of detection over a set of runs whose defects are known, or of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nefty.metrics.detection import Pod
    from nefty.metrics.detection.table import DetectionTable

PAGE, CURVE, TARGETS, TRADE_OFF = "pod.html", "pod.csv", "targets.csv", "trade-off.csv"
MOST_POINTS = 6  # of a trade-off that are printed


def run(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE",
            help="Tables (.csv) with size and detected or signal (no size: sound place), runs, or folders of runs.",
            show_default=False,
        ),
    ],
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Known defects of the runs: x, y, size, optionally depth and run. Default: those stored in the runs.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Fit signal strengths instead of hits and misses; a signal above this value is found.",
            show_default=False,
        ),
    ] = None,
    low: Annotated[
        float | None, typer.Option(help="Signals at or below this value are lost in noise.", show_default=False)
    ] = None,
    high: Annotated[
        float | None, typer.Option(help="Signals at or above this value are saturated.", show_default=False)
    ] = None,
    link: Annotated[str, typer.Option(help="Link function for hits and misses: logit or probit.")] = "logit",
    scale: Annotated[str, typer.Option(help="Size axis of the POD: log or linear.")] = "log",
    confidence: Annotated[float, typer.Option(help="One-sided confidence of the bounds.")] = 0.95,
    firth: Annotated[
        bool, typer.Option("--firth", help="Firth's penalty, for hits and misses that do not overlap.")
    ] = False,
    asymptote: Annotated[
        str,
        typer.Option(help="POD of large defects: test (1 unless p < 0.05), one (always found) or free (fitted)."),
    ] = "test",
    false_calls: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="False calls in all --parts, if the sources do not contain them.",
            min=0,
            show_default=False,
        ),
    ] = None,
    parts: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Number of parts inspected; false calls are given per part.", min=1, show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the page and the tables.", file_okay=False, show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a machine to read.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Find the size from which defects are found (a90/95), from hits and misses or signals, with the false calls."""
    from dataclasses import replace

    from nefty.core.errors import InputError
    from nefty.metrics.detection import FalseCalls, hit_miss, signal_response
    from nefty.metrics.detection.table import joined

    if show and out is None:
        raise InputError("--open shows the page that is written; give --out FOLDER too.")
    if threshold is None and (low is not None or high is not None):
        raise InputError("--low and --high censor signals; give --threshold too.")
    if false_calls is not None and parts is None:
        raise InputError(f"--false-calls {false_calls} are of a number of parts; give --parts too.")
    table = joined([_table(source, truth) for source in _found(sources)])
    table = table if parts is None else replace(table, parts=parts)
    calls = table.false_calls(threshold) if false_calls is None else FalseCalls(false_calls, parts or 1)
    if threshold is None:
        penalty = "firth" if firth else "none"
        pod = hit_miss(
            *(table.sizes, table.hits), link=link, transform=scale, confidence=confidence, penalty=penalty,
            asymptote=asymptote, false_calls=calls,
        )  # fmt: skip
    else:
        pod = signal_response(
            *(table.sizes, table.signals, threshold), low=low, high=high, transform=scale, confidence=confidence,
            false_calls=calls,
        )  # fmt: skip
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
    from nefty.metrics.detection.table import table_csv
    from nefty.metrics.detection.trade_off import trade_off_of
    from nefty.report.pages.pod import curve_csv, pod_page

    page = pod_page(pod, table, threshold=threshold, source=", ".join(map(str, sources)))
    yield write_atomic(out / PAGE, page.render())
    yield write_atomic(out / CURVE, curve_csv(pod, table.unit))
    yield write_atomic(out / TARGETS, table_csv(table))
    if (curve := trade_off_of(table)) is not None:
        yield write_atomic(out / TRADE_OFF, curve.csv())


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
    from nefty.metrics.detection.table import read_table, targets_of
    from nefty.metrics.known_defects import listed_defects
    from nefty.report.run_files import load_result

    if source.suffix.lower() == ".csv":
        return read_table(source)
    rec = load_result(source)
    name = source.name if source.is_dir() else source.parent.name
    return targets_of(rec, name, None if truth is None else listed_defects(truth, rec, name))


def _as_text(pod: Pod, table: DetectionTable) -> str:
    from nefty.metrics.detection.trade_off import trade_off_of

    lines = [str(pod)]
    lines += [f"sizes in {table.unit}"] if table.unit else []
    if (curve := trade_off_of(table)) is not None:
        lines.append(f"found against false, as the threshold of the {curve.quantity} moves:")
        lines += [
            f"  {point.threshold:>8.4g}  {point.found} of {point.targets} found, {point.false_calls.short}"
            for point in curve.chosen(MOST_POINTS)
        ]
    return "\n".join(lines)


def _as_json(pod: Pod, table: DetectionTable) -> str:
    import json
    import math

    from nefty.metrics.detection.trade_off import trade_off_of

    curve, calls = trade_off_of(table), pod.false_calls
    points = None if curve is None else [
        {"threshold": p.threshold, "found": p.found, "targets": p.targets, "false_calls": p.false_calls.as_dict()}
        for p in curve.points
    ]  # fmt: skip
    values = {**pod.as_dict(), "unit": table.unit, "false_calls": None if calls is None else calls.count}
    finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
    return json.dumps({**finite, "trade_off": points}, indent=2)
