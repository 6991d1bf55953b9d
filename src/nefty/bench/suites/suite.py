"""Suites: what is measured, as configuration files that refuse what they do not know before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from nefty.bench.plates.selection import Plates
from nefty.bench.suites.check import check_suite
from nefty.bench.suites.seeds import parse_seeds
from nefty.bench.tasks.methods import Budget, method
from nefty.bench.tasks.simulated import Simulated
from nefty.bench.tasks.task import Task
from nefty.core.checks import one_of
from nefty.core.configuration import Part, Shelf, explain
from nefty.core.errors import InputError

SUITES = Shelf("suite", "nefty.bench", "suites")
TableName = Literal[
    "quality",
    "robustness",
    "surface",
    "ablation",
    "efficiency",
    "conditions",
    "projection",
    "savings",
    "plates",
    "holes",
]
FigureName = Literal["slices", "spectra", "convergence", "training", "surface-errors", "seconds", "depth-maps"]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class Data(Part):
    """Simulated recordings of one sort; see ``nefty.bench.tasks.simulated.Simulated``.

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

    def specimens(self, seeds: str | None = None) -> list[tuple[str, int]]:
        """Kind and seed of every one, of other seeds where they are given."""
        return [(kind, seed) for kind in self.kinds for seed in parse_seeds(seeds or self.seeds)]

    def recording(self, kind: str, seed: int) -> Simulated:
        """What of it decides the data."""
        return Simulated(**self.model_dump(exclude={"title", "kinds", "seeds"}))


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
    """An experiment that is not made of specimens and methods; see ``nefty.bench.suites.experiments``."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)


class Limits(Part):
    """Budget of every reconstruction, unless its row has one."""

    seconds: Positive | None = None
    iterations: Count | None = None


class Suite(Part):
    """A complete description of a benchmark.

    name: stem of the files. extends: a suite whose data, budget and methods it takes over; its own methods come after
    them. title, lead: of the page. paper: key of the paper's table (``bench.tables.paper_numbers``). includes: other
    suites that are run with it. data, methods: every method on every simulated recording; plates: or on those of a
    folder. tables, figures: how the outcomes are shown.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    lead: str = ""
    extends: str | None = None
    paper: str | None = None
    includes: tuple[str, ...] = ()
    data: dict[str, Data] = Field(default_factory=dict)
    plates: dict[str, Plates] = Field(default_factory=dict)
    methods: tuple[Row, ...] = ()
    budget: Limits = Limits()
    experiments: tuple[Trial, ...] = ()
    tables: tuple[TableName, ...] = ("quality",)
    figures: tuple[FigureName, ...] = ()

    @property
    def sources(self) -> dict[str, Data | Plates]:
        """All recordings, simulated or in files, by name."""
        return {**self.data, **self.plates}

    def parts(self) -> dict[str, set[str]]:
        """Names by which parts of it can be chosen."""
        return {
            "data": set(self.sources),
            "kinds": {kind for source in self.sources.values() for kind in source.kinds},
            "methods": {name for row in self.methods for name in (row.method, row.name)},
        }

    def absent(self) -> list[Row]:
        """Rows whose library is not installed here; they have no tasks."""
        return [row for row in self.methods if not method(row.method).installed]

    def entries(self, threads: int = 1) -> list[Entry]:
        """Every task with the row and the data it belongs to, seed after seed."""

        @cache
        def recordings(name: str, kind: str, seed: int) -> Any:
            return self.sources[name].recording(kind, seed)

        found = []
        for row in self.methods:
            if not method(row.method).installed:
                continue
            limits = Budget(
                row.seconds if row.seconds is not None else self.budget.seconds,
                row.iterations if row.iterations is not None else self.budget.iterations,
            )
            settings = method(row.method).settings(row.set, limits, row.recipe)
            for name, source in self.sources.items():
                for kind, seed in source.specimens(row.seeds):
                    recording = recordings(name, kind, seed)
                    found.append(Entry(Task(recording, kind, seed, row.method, settings, limits, threads), row, name))
        return sorted(found, key=lambda entry: (entry.task.seed, entry.task.kind))


@dataclass(frozen=True)
class Entry:
    """A task in a suite: ``data`` is the key of its recordings in ``Suite.sources``."""

    task: Task
    row: Row
    data: str


def suite_names() -> list[str]:
    """The suites that come with nefty."""
    return SUITES.names()


def load_suite(
    suite: str | Path | Mapping[str, Any],
    *,
    seeds: str | None = None,
    only: Mapping[str, Iterable[str]] | None = None,
    plates: Mapping[str, Any] | None = None,
) -> Suite:
    """Return a checked suite.

    Args:
        suite: a name, a .toml file, or a mapping.
        seeds: in place of those of all data; of plates, the numbers of their files.
        only: which ``"data"``, ``"kinds"`` and ``"methods"`` of it to take.
        plates: dotted keys of ``plates.selection.Plates`` and values, such as ``{"root": "pvc"}``, for all of them.
    """
    values = _with_plates(_extended(SUITES.values(suite)), plates or {})
    try:
        found = Suite.model_validate(values)
    except ValidationError as error:
        raise InputError(f"suite {values.get('name', '')!r}: {explain(error, Suite)}") from None
    try:
        chosen = _chosen(found, seeds, {k: list(v) for k, v in (only or {}).items()})
        check_suite(chosen, suite_names())  # a network that cannot be read is no matter where its row is not wanted
        return chosen
    except InputError as error:
        raise InputError(f"suite {found.name!r}: {error}") from None


def load_suites(
    suite: str | Path | Mapping[str, Any],
    *,
    seeds: str | None = None,
    only: Mapping[str, Iterable[str]] | None = None,
    plates: Mapping[str, Any] | None = None,
) -> list[Suite]:
    """A suite and all that it includes, each once, in order, it last; see ``load_suite``. Of those that are included,
    ``only`` takes what there is; what none of them has is refused.
    """
    chosen = {part: [*names] for part, names in (only or {}).items()}
    whole = load_suite(suite, plates=plates)
    if not whole.includes:
        return [load_suite(suite, seeds=seeds, only=chosen, plates=plates)]
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
    return [_chosen(one, seeds if one.sources else None, there[name]) for name, one in found.items() if not empty[name]]


def _extended(values: dict[str, Any]) -> dict[str, Any]:
    """With what the suite takes over from another one."""
    other = values.get("extends")
    if other is None:
        return values
    base = _extended(SUITES.values(one_of("suite to extend", other, SUITES.names())))
    taken = {key: base[key] for key in ("data", "plates", "budget") if key in base}
    return {**taken, **values, "methods": [*base.get("methods", []), *values.get("methods", [])]}


def _with_plates(values: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """With other settings of all plates; refuses them where there are none."""
    if not changes:
        return values
    if not values.get("plates"):
        raise InputError(
            f"suite {values.get('name', '')!r} has no plates, so that {', '.join(changes)} has no effect; "
            "leave it out, or run pvc."
        )
    for section in values["plates"].values():
        for key, value in changes.items():
            *path, last = key.split(".")
            inside = section
            for part in path:
                inside = inside.setdefault(part, {})
            inside[last] = value
    return values


def _chosen(suite: Suite, seeds: str | None, only: Mapping[str, list[str]]) -> Suite:
    """A part of a suite."""
    for part, names in only.items():
        for name in names:
            one_of(part, name, suite.parts()[part])
    sources, methods = suite.sources, suite.methods
    if only.get("data"):
        sources = {name: d for name, d in sources.items() if name in only["data"]}
    if only.get("kinds"):
        sources = {
            n: d.model_copy(update={"kinds": kept})
            for n, d in sources.items()
            if (kept := tuple(k for k in d.kinds if k in only["kinds"]))
        }
    if only.get("methods"):
        methods = tuple(row for row in methods if {row.method, row.name} & set(only["methods"]))
    if seeds is not None:
        wanted = parse_seeds(seeds)
        sources = {
            n: d.model_copy(update={"numbers" if isinstance(d, Plates) else "seeds": seeds}) for n, d in sources.items()
        }
        methods = tuple(_with_seeds(row, wanted) for row in methods)
    data = {name: source for name, source in sources.items() if isinstance(source, Data)}
    plates = {name: source for name, source in sources.items() if isinstance(source, Plates)}
    return suite.model_copy(update={"data": data, "plates": plates, "methods": methods})


def _with_seeds(row: Row, wanted: list[int]) -> Row:
    """A row that is too slow for all seeds takes as many of the wanted ones as it had."""
    if row.seeds is None:
        return row
    few = wanted[: len(parse_seeds(row.seeds))]
    return row.model_copy(update={"seeds": ",".join(map(str, few))})
