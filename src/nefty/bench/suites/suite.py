"""Suites: what is measured, as configuration that refuses what it does not know; see ``load`` for the files."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field

from nefty.bench.parts.selection import Parts
from nefty.bench.plates.selection import Plates
from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.methods import method
from nefty.bench.tasks.simulated import Simulated
from nefty.bench.tasks.task import Entry, Task
from nefty.core.configuration import Part
from nefty.core.seeds import parse_seeds

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
    "trials",
    "trade-off",
    "coverage",
]
FigureName = Literal[
    "slices", "spectra", "convergence", "training", "surface-errors", "seconds", "depth-maps", "trade-off"
]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class Data(Part):
    """Simulated recordings of one sort; see ``nefty.bench.tasks.simulated.Simulated``.

    title: for tables. kinds: of specimens. seeds: a range such as "0:16", or numbers separated by commas. turn: (i, n)
    takes of these only each n-th, from the i-th on, so that data with one range of seeds have no specimen in common.
    """

    title: str = "no noise"
    kinds: tuple[str, ...] = Field(default=("homogeneous", "layered"), min_length=1)
    seeds: str = "0:16"
    turn: tuple[Annotated[int, Field(ge=0)], Count] = (0, 1)
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
        first, step = self.turn
        return [(kind, seed) for kind in self.kinds for seed in parse_seeds(seeds or self.seeds)[first::step]]

    def recording(self, kind: str, seed: int) -> Simulated:
        """What of it decides the data."""
        return Simulated(**self.model_dump(exclude={"title", "kinds", "seeds", "turn"}))


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
    folder; trial_parts: or on parts of the test bed. tables, figures: how the outcomes are shown.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    lead: str = ""
    extends: str | None = None
    paper: str | None = None
    includes: tuple[str, ...] = ()
    data: dict[str, Data] = Field(default_factory=dict)
    plates: dict[str, Plates] = Field(default_factory=dict)
    trial_parts: dict[str, Parts] = Field(default_factory=dict)
    methods: tuple[Row, ...] = ()
    budget: Limits = Limits()
    experiments: tuple[Trial, ...] = ()
    tables: tuple[TableName, ...] = ("quality",)
    figures: tuple[FigureName, ...] = ()

    @property
    def sources(self) -> dict[str, Data | Plates | Parts]:
        """All recordings, simulated or in files, by name."""
        return {**self.data, **self.plates, **self.trial_parts}

    def kept_in(self, folder: str) -> Suite:
        """The same with parts simulated in a folder, where none was said."""
        parts = {n: p if p.root else p.model_copy(update={"root": folder}) for n, p in self.trial_parts.items()}
        return self.model_copy(update={"trial_parts": parts})

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
                    task = Task(recording, kind, seed, row.method, settings, limits, threads)
                    found.append(Entry(task, row.name, name))
        return sorted(found, key=lambda entry: (entry.task.seed, entry.task.kind))
