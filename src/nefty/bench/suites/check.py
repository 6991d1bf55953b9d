"""What a suite must be, beyond the types of its values, before anything of it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nefty.bench.suites.experiments import EXPERIMENTS
from nefty.bench.tables.paper_numbers import paper_table
from nefty.bench.tasks.methods import method
from nefty.core.checks import one_of
from nefty.core.errors import InputError
from nefty.core.seeds import parse_seeds
from nefty.metrics.volume import WINDOW
from nefty.synth.engines import ENGINES
from nefty.synth.specimen import KINDS, Ranges

if TYPE_CHECKING:
    from nefty.bench.suites.suite import Data, Suite

#: Tables and figures that plates have; simulated specimens have all others.
OF_PLATES = ("plates", "holes", "depth-maps")
#: Those that parts of the test bed have.
OF_PARTS = ("trade-off",)
#: Those that all but plates have.
OF_BOTH = ("trials", "coverage")
#: Sorts of recordings; a suite has one.
SORTS = ("simulated data", "plates", "parts")


def check_suite(suite: Suite, names: Sequence[str]) -> None:
    """Refuse names and values that only the other modules know.

    Args:
        suite: the suite.
        names: of the suites that it may include.
    """
    for name in suite.includes:
        one_of("suite", name, names)
    if suite.paper is not None:
        paper_table(suite.paper)
    for trial in suite.experiments:
        one_of("experiment", trial.name, EXPERIMENTS)
        EXPERIMENTS[trial.name].options(trial.options)
    for data in suite.data.values():
        _check_data(data)
    for plates in suite.plates.values():
        plates.check()
    for parts in suite.trial_parts.values():
        parse_seeds(parts.seeds)
    sorts = [words for words, there in zip(SORTS, (suite.data, suite.plates, suite.trial_parts), strict=True) if there]
    if len(sorts) > 1:
        raise InputError(f"it has {' and '.join(sorts)}, which no table can compare; make two suites of it.")
    for name in (*suite.tables, *suite.figures) if suite.methods and sorts else ():
        of = "plates" if name in OF_PLATES else "parts" if name in OF_PARTS else "simulated data"
        if name in OF_BOTH and sorts[0] != "plates":
            continue
        if of != sorts[0] and name not in ("efficiency", "convergence", "seconds"):
            raise InputError(f"{name!r} is not for {sorts[0]}; leave it out.")
    if suite.methods and not suite.sources:
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
    located = {name: plates for name, plates in suite.plates.items() if plates.root}
    suite.model_copy(update={"plates": located}).entries()


def _check_data(data: Data) -> None:
    """Refuse simulated recordings that cannot be drawn or judged."""
    parse_seeds(data.seeds)
    one_of("engine", data.engine, ENGINES)
    for kind in data.kinds:
        one_of("kind", kind, KINDS)
    for key in data.ranges:
        one_of("range", key, Ranges.__dataclass_fields__)
    if len(set(data.kinds)) < len(data.kinds):
        raise InputError(f"kinds {list(data.kinds)} repeat; each specimen counts once.")
    if min(data.shape[1:]) < WINDOW:
        raise InputError(f"shape {list(data.shape)} has fewer than the {WINDOW} pixels along y and x that SSIM needs.")
    ENGINES[data.engine].refuse_missing()
    try:
        for kind in data.kinds:
            for seed in parse_seeds(data.seeds):
                data.recording(kind, seed).specimen(kind, seed)
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, InputError) else InputError(f"ranges {data.ranges}: {error}") from None
