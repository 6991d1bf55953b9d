"""Suites: what is measured, as configuration files that refuse what they do not know before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from nefty.bench.experiments import EXPERIMENTS
from nefty.bench.paper_numbers import paper_table
from nefty.bench.reconstructors import Budget, method
from nefty.bench.task import Recording, Task
from nefty.core.checks import one_of
from nefty.core.configuration import Part, Shelf, explain
from nefty.core.errors import InputError
from nefty.metrics.volume import WINDOW
from nefty.synth.engines import ENGINES
from nefty.synth.specimen import KINDS, Ranges

SUITES = Shelf("suite", "nefty.bench", "suites")
TableName = Literal["quality", "robustness", "surface", "ablation", "efficiency", "conditions", "projection"]
FigureName = Literal["slices", "spectra", "convergence", "surface-errors", "seconds"]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class Data(Part):
    """Recordings of one sort; see ``nefty.bench.task.Recording``.

    title: for tables. kinds: of specimens. seeds: a range such as "0:16", or numbers separated by commas.
    """

    title: str = "no noise"
    kinds: tuple[str, ...] = Field(default=("homogeneous", "layered"), min_length=1)
    seeds: str = "0:16"
    engine: str = "explicit"
    noise: float = Field(default=0.0, ge=0, lt=1)
    gain: float = Field(default=0.0, ge=0, lt=1)
    safety: float | None = Field(default=None, ge=1)
    shape: tuple[Count, Count, Count] = (16, 64, 64)
    frames: Count = 100
    defects: int | None = Field(default=None, ge=0)
    ranges: dict[str, Any] = Field(default_factory=dict)

    def recording(self) -> Recording:
        """What of it decides the data."""
        return Recording(**self.model_dump(exclude={"title", "kinds", "seeds"}))


class Row(Part):
    """A method as one row of a table.

    method: name. title: in place of the method's. paper: row of the paper's table that it is compared with, in place
    of the method's. recipe: in place of the method's. set: dotted keys and values that change the settings. seconds,
    iterations: in place of the suite's budget. seeds: only these, where the method is too slow for all. note: what a
    reader of the table has to know, after what is said of the method.
    """

    method: str
    title: str = ""
    paper: str | None = None
    recipe: str | None = None
    set: dict[str, Any] = Field(default_factory=dict)
    seconds: Positive | None = None
    iterations: Count | None = None
    seeds: str | None = None
    note: str = ""

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.title or method(self.method).title


class Trial(Part):
    """An experiment that is not made of specimens and methods; see ``nefty.bench.experiments``."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)


class Limits(Part):
    """Budget of every reconstruction, unless its row has one."""

    seconds: Positive | None = None
    iterations: Count | None = None


class Suite(Part):
    """A complete description of a benchmark.

    name: stem of the files. extends: a suite whose data, budget and methods it takes over; its own methods come after
    them. title, lead: of the page. paper: key of the paper's table (``nefty.bench.paper_numbers``). includes: other
    suites that are run with it. data, methods: every method on every recording. tables, figures: how the outcomes are
    shown.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    lead: str = ""
    extends: str | None = None
    paper: str | None = None
    includes: tuple[str, ...] = ()
    data: dict[str, Data] = Field(default_factory=dict)
    methods: tuple[Row, ...] = ()
    budget: Limits = Limits()
    experiments: tuple[Trial, ...] = ()
    tables: tuple[TableName, ...] = ("quality",)
    figures: tuple[FigureName, ...] = ()

    def parts(self) -> dict[str, set[str]]:
        """Names by which parts of it can be chosen."""
        return {
            "data": set(self.data),
            "kinds": {kind for data in self.data.values() for kind in data.kinds},
            "methods": {name for row in self.methods for name in (row.method, row.name)},
        }

    def absent(self) -> list[Row]:
        """Rows whose library is not installed here; they have no tasks."""
        return [row for row in self.methods if not method(row.method).installed]

    def entries(self, threads: int = 1) -> list[Entry]:
        """Every task with the row and the data it belongs to, seed after seed."""
        found = []
        for row in self.methods:
            if not method(row.method).installed:
                continue
            limits = Budget(
                row.seconds if row.seconds is not None else self.budget.seconds,
                row.iterations if row.iterations is not None else self.budget.iterations,
            )
            settings = method(row.method).settings(row.set, limits, row.recipe)
            for name, data in self.data.items():
                found += [
                    Entry(Task(data.recording(), kind, seed, row.method, settings, limits, threads), row, name)
                    for kind in data.kinds
                    for seed in parse_seeds(row.seeds or data.seeds)
                ]
        return sorted(found, key=lambda entry: entry.task.seed)


@dataclass(frozen=True)
class Entry:
    """A task in a suite: ``data`` is the key of its recordings in ``Suite.data``."""

    task: Task
    row: Row
    data: str


def suite_names() -> list[str]:
    """The suites that come with nefty."""
    return SUITES.names()


def load_suite(
    suite: str | Path | Mapping[str, Any], *, seeds: str | None = None, only: Mapping[str, Iterable[str]] | None = None
) -> Suite:
    """Return a checked suite.

    Args:
        suite: a name, a .toml file, or a mapping.
        seeds: in place of those of all data.
        only: which ``"data"``, ``"kinds"`` and ``"methods"`` of it to take.
    """
    values = _extended(SUITES.values(suite))
    try:
        found = Suite.model_validate(values)
    except ValidationError as error:
        raise InputError(f"suite {values.get('name', '')!r}: {explain(error, Suite)}") from None
    try:
        _check(found)
        return _chosen(found, seeds, {k: list(v) for k, v in (only or {}).items()})
    except InputError as error:
        raise InputError(f"suite {found.name!r}: {error}") from None


def load_suites(
    suite: str | Path | Mapping[str, Any], *, seeds: str | None = None, only: Mapping[str, Iterable[str]] | None = None
) -> list[Suite]:
    """A suite and all that it includes, each once, in order, it last; see ``load_suite``. Of those that are included,
    ``only`` takes what there is; what none of them has is refused.
    """
    chosen = {part: [*names] for part, names in (only or {}).items()}
    whole = load_suite(suite)
    if not whole.includes:
        return [load_suite(suite, seeds=seeds, only=chosen)]
    found: dict[str, Suite] = {}

    def visit(one: Suite) -> None:
        for name in one.includes:
            if name not in found and name != whole.name:
                visit(load_suite(name))
        found.setdefault(one.name, one)

    visit(whole)
    for part, names in chosen.items():
        known = {name for one in found.values() for name in one.parts()[part]}
        for name in names:
            one_of(part, name, known)
    there = {
        name: {part: [n for n in names if n in one.parts()[part]] for part, names in chosen.items()}
        for name, one in found.items()
    }
    empty = {
        name: any(names and not there[name][part] for part, names in chosen.items() if one.methods)
        for name, one in found.items()
    }
    return [_chosen(one, seeds if one.data else None, there[name]) for name, one in found.items() if not empty[name]]


def parse_seeds(text: str) -> list[int]:
    """``"0:8"`` or ``"1,5,7"``."""
    try:
        if ":" in text:
            first, last = (int(end) for end in text.split(":"))
            found = list(range(first, last))
        else:
            found = [int(word) for word in text.split(",") if word.strip()]
    except ValueError:
        found = []
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise InputError(f"seeds {text!r} must be a range such as 0:8, or different numbers separated by commas.")
    return found


def _extended(values: dict[str, Any]) -> dict[str, Any]:
    """With what the suite takes over from another one."""
    other = values.get("extends")
    if other is None:
        return values
    base = _extended(SUITES.values(one_of("suite to extend", other, SUITES.names())))
    taken = {key: base[key] for key in ("data", "budget") if key in base}
    return {**taken, **values, "methods": [*base.get("methods", []), *values.get("methods", [])]}


def _check(suite: Suite) -> None:
    """Refuse names and values that only the other modules know."""
    for name in suite.includes:
        one_of("suite", name, suite_names())
    if suite.paper is not None:
        paper_table(suite.paper)
    for trial in suite.experiments:
        one_of("experiment", trial.name, EXPERIMENTS)
        EXPERIMENTS[trial.name].options(trial.options)
    for data in suite.data.values():
        parse_seeds(data.seeds)
        one_of("engine", data.engine, ENGINES)
        for kind in data.kinds:
            one_of("kind", kind, KINDS)
        for key in data.ranges:
            one_of("range", key, Ranges.__dataclass_fields__)
        if len(set(data.kinds)) < len(data.kinds):
            raise InputError(f"kinds {list(data.kinds)} repeat; each specimen counts once.")
        if min(data.shape[1:]) < WINDOW:
            raise InputError(
                f"shape {list(data.shape)} has fewer than the {WINDOW} pixels along y and x that SSIM needs."
            )
        ENGINES[data.engine].refuse_missing()
        try:
            for kind in data.kinds:
                for seed in parse_seeds(data.seeds):
                    data.recording().specimen(kind, seed)
        except (TypeError, ValueError) as error:
            raise error if isinstance(error, InputError) else InputError(f"ranges {data.ranges}: {error}") from None
    if suite.methods and not suite.data:
        raise InputError("it has methods but no data; add a section [data.NAME].")
    for row in suite.methods:
        method(row.method)
        if row.paper is not None and suite.paper is not None:
            one_of("row of the paper", row.paper, paper_table(suite.paper).rows())
        if row.seeds is not None:
            parse_seeds(row.seeds)
    names = [row.name for row in suite.methods]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two rows are called {name!r}; give one of them a title.")
    suite.entries()


def _chosen(suite: Suite, seeds: str | None, only: Mapping[str, list[str]]) -> Suite:
    """A part of a suite."""
    for part, names in only.items():
        for name in names:
            one_of(part, name, suite.parts()[part])
    data, methods = suite.data, suite.methods
    if only.get("data"):
        data = {name: d for name, d in data.items() if name in only["data"]}
    if only.get("kinds"):
        data = {
            n: d.model_copy(update={"kinds": kept})
            for n, d in data.items()
            if (kept := tuple(k for k in d.kinds if k in only["kinds"]))
        }
    if only.get("methods"):
        methods = tuple(row for row in methods if {row.method, row.name} & set(only["methods"]))
    if seeds is not None:
        wanted = parse_seeds(seeds)
        data = {n: d.model_copy(update={"seeds": seeds}) for n, d in data.items()}
        methods = tuple(_with_seeds(row, wanted) for row in methods)
    return suite.model_copy(update={"data": data, "methods": methods})


def _with_seeds(row: Row, wanted: list[int]) -> Row:
    """A row that is too slow for all seeds takes as many of the wanted ones as it had."""
    if row.seeds is None:
        return row
    few = wanted[: len(parse_seeds(row.seeds))]
    return row.model_copy(update={"seeds": ",".join(map(str, few))})
