"""``nefty bench run``: the tasks and experiments of a suite, and the files that show them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nefty.bench.cluster import Place
from nefty.bench.code_version import code_version
from nefty.bench.experiments import EXPERIMENTS
from nefty.bench.measure import Tell, say_nothing
from nefty.bench.presentation import present
from nefty.bench.results import Column, Results, Table
from nefty.bench.runner import Finished, Step, run_tasks
from nefty.bench.suite import Suite, Trial, with_included
from nefty.core.hdf5 import digest


@dataclass(frozen=True, eq=False)
class Shown:
    """What became of a suite: the results, the files that show them, and how its tasks went."""

    suite: Suite
    results: Results | None
    files: list[Path]
    finished: Finished | None


def run_suite(
    suite: Suite,
    folder: str | Path,
    place: Place | None = None,
    *,
    retries: int = 1,
    watch: Callable[[Step], object] = lambda step: None,
    tell: Tell = say_nothing,
) -> list[Shown]:
    """Run a suite and those that it includes; what was done before with the same code is not done again.

    Args:
        suite: what to run.
        folder: for the files.
        place: where tasks run; experiments run here, one after the other.
        retries: further attempts after an error.
        watch: told after each task.
        tell: told what happens.
    """
    place, folder = place or Place(), Path(folder)
    shown: list[Shown] = []
    for one in with_included(suite):
        if one.methods:
            tell(one.title, "starting the workers")
            finished = run_tasks(one.entries(place.threads), folder, place, retries=retries, watch=watch)
            results = present(one, finished.done, finished.failed)
            shown.append(Shown(one, results, results.save(folder), finished))
            if finished.interrupted:
                return shown
        for trial in one.experiments:
            shown.append(_experiment(one, trial, folder, tell))
    if suite.includes:
        shown.append(_contents(suite, shown, folder))
    return shown


def _experiment(suite: Suite, trial: Trial, folder: Path, tell: Tell) -> Shown:
    """Do an experiment, unless its file says that it was done with the same code and options."""
    name = suite.name if not suite.methods else f"{suite.name}-{trial.name}"
    options = EXPERIMENTS[trial.name].options(trial.options).model_dump(mode="json")
    key = digest(code_version(), trial.name, options)[:24]
    files = [folder / f"{name}.{ending}" for ending in ("json", "md", "html")]
    if all(file.exists() for file in files) and _key_of(files[0]) == key:
        return Shown(suite, None, files, None)
    results = EXPERIMENTS[trial.name].run(trial.options, tell)
    results = dataclasses.replace(results, name=name, settings={**results.settings, "key": key})
    return Shown(suite, results, results.save(folder), None)


def _key_of(file: Path) -> str | None:
    try:
        found: Any = json.loads(file.read_text(encoding="utf-8"))
        return found["settings"]["key"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _contents(suite: Suite, shown: list[Shown], folder: Path) -> Shown:
    """A page that says what there is."""
    rows = [
        {
            "suite": one.suite.name,
            "title": one.suite.title,
            "page": next(file.name for file in one.files if file.suffix == ".html"),
            "done": len(one.finished.done) if one.finished else None,
            "failed": len(one.finished.failed) if one.finished else None,
        }
        for one in shown
    ]
    columns = (
        Column("suite", "suite"),
        Column("title", "what it shows"),
        Column("page", "page, in this folder"),
        Column("done", "reconstructions"),
        Column("failed", "failed"),
    )
    lead = suite.lead or "Every suite has its own page, and the same tables as Markdown, CSV and LaTeX."
    results = Results(suite.name, suite.title, lead, [Table("Contents", columns, rows)])
    return Shown(suite, results, results.save(folder), None)
