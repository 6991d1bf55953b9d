"""An ensemble in a run folder: members that are there are taken, the others are made, and all are joined."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nefty.core.code_version import RECONSTRUCTION, code_version_of
from nefty.core.errors import NeftyError
from nefty.core.interrupt import Interrupt
from nefty.core.provenance import usable_cores
from nefty.core.storage.hdf5 import digest
from nefty.data.facts import Note, NoteKind
from nefty.data.sequence import Sequence
from nefty.inversion.ensemble.join import joined
from nefty.inversion.ensemble.member import Member
from nefty.inversion.ensemble.pool import First, members, one_thread
from nefty.inversion.ensemble.sheet_members import FirstSheets
from nefty.inversion.ensemble.volume_members import FirstVolume
from nefty.inversion.recipe import Recipe
from nefty.result.reconstruction import Reconstruction

if TYPE_CHECKING:
    from nefty.inversion.reconstruct import Given, Watch

ENSEMBLE = "ensemble"
FEWEST = 2  # members that tell a spread
STAGE = "Refit to say how sure"
WORTH = 20.0  # seconds of work, from which on processes are worth their start; the first fit takes about as a member


def with_ensemble(
    found: Reconstruction,
    sequence: Sequence,
    recipe: Recipe,
    given: Given,
    watch: Watch,
    *,
    folder: Path | None = None,
    workers: int | None = None,
) -> Reconstruction:
    """The result with what its ensemble says; after Ctrl-C by the members that are done, without any if too few are.

    Args:
        found: the finished result.
        sequence: the recording that it is of.
        recipe: that it was made with.
        given: what it was given besides.
        watch: told about each member.
        folder: of the run, where members are kept; in memory only if not given.
        workers: processes; one for each core if not given.
    """
    watch.stage(STAGE)
    asked, sequence = recipe.ensemble.members, sequence.after_flash()
    of, kept = _fingerprint(found, sequence, recipe), None if folder is None else folder / ENSEMBLE
    done: dict[int, Member] = {}
    if kept is not None:
        kept.mkdir(exist_ok=True)
        done = {i: one for i in range(asked) if (one := Member.load(_file(kept, i), of)) is not None}
    left, failed = [i for i in range(asked) if i not in done], []
    with Interrupt() as interrupt, contextlib.suppress(KeyboardInterrupt):
        for one in _made(found, sequence, recipe, given, left, workers, interrupt):
            if isinstance(one, NeftyError):
                failed.append(str(one))
                continue
            done[one.number] = one
            if kept is not None:
                one.save(_file(kept, one.number), of)
            watch.progress("members", len(done) + len(failed), asked, one.misfit)
    if failed and len(failed) > asked // 2:
        raise NeftyError(f"{len(failed)} of {asked} refits failed, such as {failed[0]} Use --sure off.")
    if len(done) < FEWEST:
        return found
    ensemble = joined(found, [done[i] for i in sorted(done)], asked, len(failed))
    facts = found.facts
    if failed:
        text = f"{len(failed)} of {asked} refits failed and do not count, such as {failed[0]}"
        facts = facts.noted(Note(NoteKind.LEFT_OUT, text))
    return dataclasses.replace(found, ensemble=ensemble, facts=facts, recipe=recipe.model_dump(mode="json"))


def _made(
    found: Reconstruction,
    sequence: Sequence,
    recipe: Recipe,
    given: Given,
    left: list[int],
    workers: int | None,
    interrupt: Interrupt,
) -> Iterator[Member | NeftyError]:
    """The members of those numbers, as they are done; the arguments are those of ``with_ensemble`` and ``members``."""
    if not left:
        return
    began = time.perf_counter()
    with one_thread():
        first = _first(found, sequence, recipe, given)
    alone = given.model is not None or (time.perf_counter() - began) * len(left) < WORTH
    yield from members(first, left, workers or (1 if alone else usable_cores()), interrupt)


def _first(found: Reconstruction, sequence: Sequence, recipe: Recipe, given: Given) -> First:
    shown = found.frame_evidence
    if shown is not None and shown.of_sheets and given.model is None:
        return FirstSheets.of(found, sequence, recipe, given.whole)
    return FirstVolume.of(found, sequence, recipe, given.model, given.whole)


def _fingerprint(found: Reconstruction, sequence: Sequence, recipe: Recipe) -> str:
    """Of all that decides a member but its number."""
    values = recipe.model_dump(mode="json", exclude={"summary": True, "stop": True, "ensemble": {"members"}})
    return digest(code_version_of(*RECONSTRUCTION), sequence.digest(), values, found.alpha)


def _file(folder: Path, number: int) -> Path:
    return folder / f"member-{number:04d}.h5"
