"""``nefty bench run``: the tasks and experiments of a suite, and the files that show them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nefty.bench.suites.experiments import EXPERIMENTS
from nefty.bench.suites.presentation.coverage_tables import factors_of
from nefty.bench.suites.presentation.present import present
from nefty.bench.suites.suite import Suite, Trial
from nefty.bench.tables.results import Column, Results, Table
from nefty.bench.tasks.runner import Finished, Step, run_tasks
from nefty.core.cluster.place import Place
from nefty.core.code_version import code_version, code_version_of
from nefty.core.provenance import processor
from nefty.core.storage.files import write_atomic
from nefty.core.storage.hdf5 import digest
from nefty.core.tell import Tell, say_nothing
from nefty.result.indications.intervals import factors_to_json

FACTORS = "factors.json"  # of intervals, as measured in a run
PARTS = "parts"  # folder beside the results, in which parts are simulated once


@dataclass(frozen=True, eq=False)
class Shown:
    """What became of a suite or of one of its experiments.

    Args:
        suite: that was run.
        results: to print; ``None`` for an experiment that was done before.
        files: that show them.
        tasks: numbers of tasks ``done``, ``computed`` now and ``failed``; ``None`` for an experiment.
        interrupted: whether Ctrl-C has ended it.
    """

    suite: Suite
    results: Results | None
    files: list[Path]
    tasks: dict[str, int] | None = None
    interrupted: bool = False


def run_suites(
    suites: Sequence[Suite],
    folder: str | Path,
    place: Place | None = None,
    *,
    retries: int = 1,
    fresh: bool = False,
    watch: Callable[[Step], object] = lambda step: None,
    tell: Tell = say_nothing,
) -> list[Shown]:
    """Run suites; what was done before with the same code is not done again.

    Args:
        suites: what to run, as ``load_suites`` gives them; one that includes others lists them.
        folder: for the files.
        place: where tasks run; experiments run here, one after the other.
        retries: further attempts after an error.
        fresh: do experiments again that were done before.
        watch: told after each task.
        tell: told what happens.
    """
    place, folder = place or Place(), Path(folder)
    shown: list[Shown] = []
    for suite in (one.kept_in(str(folder.absolute() / PARTS)) for one in suites):
        if suite.methods:
            tell(suite.title, "starting the workers")
            finished = run_tasks(suite.entries(place.threads), folder, place, retries=retries, watch=watch)
            tell(suite.title, "tables and figures")
            shown.append(_presented(suite, finished, folder))
            if finished.interrupted:
                return shown
        for number, trial in enumerate(suite.experiments):
            alone = not suite.methods and len(suite.experiments) == 1
            again = sum(other.name == trial.name for other in suite.experiments[:number])
            name = suite.name if alone else f"{suite.name}-{trial.name}{f'-{again + 1}' if again else ''}"
            shown.append(_experiment(suite, trial, name, folder, fresh, tell))
        if suite.includes:
            shown.append(_contents(suite, shown, folder))
    return shown


def _presented(suite: Suite, finished: Finished, folder: Path) -> Shown:
    results = present(suite, finished.done, finished.failed)
    tasks = {"done": len(finished.done), "computed": finished.computed, "failed": len(finished.failed)}
    files = results.save(folder)
    if "coverage" in suite.tables and (factors := factors_of(suite, finished.done)) is not None:
        files.append(write_atomic(folder / FACTORS, factors_to_json({factors.recipe: factors})))
    return Shown(suite, results, files, tasks, finished.interrupted)


def _experiment(suite: Suite, trial: Trial, name: str, folder: Path, fresh: bool, tell: Tell) -> Shown:
    """Do an experiment, unless its file says that it was done with the same code and options on such a machine."""
    options = EXPERIMENTS[trial.name].options(trial.options).model_dump(mode="json")
    key = digest(code_version(), code_version_of("nefty.bench"), processor(), trial.name, options)[:24]
    files = [folder / f"{name}.{ending}" for ending in ("json", "md", "tex", "html")]
    if not fresh and all(file.exists() for file in files) and _key_of(files[0]) == key:
        return Shown(suite, None, files)
    results = EXPERIMENTS[trial.name].run(trial.options, tell)
    results = dataclasses.replace(results, name=name, settings={**results.settings, "key": key})
    return Shown(suite, results, results.save(folder))


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
            **(one.tasks or {}),
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
    return Shown(suite, results, results.save(folder))
