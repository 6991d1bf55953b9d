"""Suites by name or from a .toml file, whole or in part, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nefty.bench.parts.selection import Parts
from nefty.bench.plates.selection import Plates
from nefty.bench.suites.check import check_suite
from nefty.bench.suites.experiments import EXPERIMENTS
from nefty.bench.suites.suite import Data, Row, Suite, Trial
from nefty.core.checks import one_of
from nefty.core.configuration import Shelf, explain
from nefty.core.errors import InputError
from nefty.core.seeds import parse_seeds

SUITES = Shelf("suite", "nefty.bench", "suites")
QUICK_PARTS = {"seeds": "0:4", "pixels": 32}  # of the test bed: to see that it works


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
    options: Mapping[str, Any] | None = None,
    quick: bool = False,
) -> list[Suite]:
    """A suite and all that it includes, each once, in order, it last.

    Args:
        suite: a name, a .toml file, or a mapping.
        seeds: as in ``load_suite``.
        only: as there; of suites that are included it takes what there is, and what none of them has is refused.
        plates: as there.
        options: of its one experiment, in place of the suite's.
        quick: with the experiments' quick options: to see that they work, not to quote.
    """
    chosen = {part: [*names] for part, names in (only or {}).items()}
    whole = load_suite(suite, plates=plates)
    if not whole.includes:
        return _with_options([load_suite(suite, seeds=seeds, only=chosen, plates=plates)], options or {}, quick)
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
    wanted = {name: one for name, one in found.items() if not empty[name]}
    parts = [_chosen(one, seeds if one.sources else None, there[name]) for name, one in wanted.items()]
    return _with_options(parts, options or {}, quick)


def _extended(values: dict[str, Any]) -> dict[str, Any]:
    """With what the suite takes over from another one."""
    other = values.get("extends")
    if other is None:
        return values
    base = _extended(SUITES.values(one_of("suite to extend", other, SUITES.names())))
    taken = {key: base[key] for key in ("data", "plates", "trial_parts", "budget") if key in base}
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
    parts = {name: source for name, source in sources.items() if isinstance(source, Parts)}
    return suite.model_copy(update={"data": data, "plates": plates, "trial_parts": parts, "methods": methods})


def _with_seeds(row: Row, wanted: list[int]) -> Row:
    """A row that is too slow for all seeds takes as many of the wanted ones as it had."""
    if row.seeds is None:
        return row
    few = wanted[: len(parse_seeds(row.seeds))]
    return row.model_copy(update={"seeds": ",".join(map(str, few))})


def _with_options(suites: list[Suite], options: Mapping[str, Any], quick: bool) -> list[Suite]:
    """With other options of the experiments; refuses them where they would mean nothing, or several things."""
    if not options and not quick:
        return suites
    if suites[-1].trial_parts:
        return [_with_parts(one, {**(QUICK_PARTS if quick else {}), **options}) for one in suites]
    name, trials = suites[-1].name, [trial for one in suites for trial in one.experiments]
    if not trials:
        raise InputError(f"suite {name!r} has no experiment to set options of; change its rows in a .toml file.")
    if options and len(trials) > 1:
        raise InputError(f"suite {name!r} has {len(trials)} experiments; set the options of one, run by its own name.")
    if quick and any(one.methods for one in suites):
        raise InputError(f"--quick is for experiments, and suite {name!r} has methods; give it fewer --seeds.")

    def changed(trial: Trial) -> Trial:
        experiment = EXPERIMENTS[trial.name]
        values = {**trial.options, **(experiment.quick if quick else {}), **options}
        experiment.options(values)
        return trial.model_copy(update={"options": values})

    return [one.model_copy(update={"experiments": tuple(map(changed, one.experiments))}) for one in suites]


def _with_parts(suite: Suite, changes: Mapping[str, Any]) -> Suite:
    """With other settings of all parts of the test bed."""
    try:
        changed = {
            name: Parts.model_validate({**parts.model_dump(), **changes}) for name, parts in suite.trial_parts.items()
        }
    except ValidationError as error:
        raise InputError(f"suite {suite.name!r}: {explain(error, Parts)}") from None
    return suite.model_copy(update={"trial_parts": changed})
