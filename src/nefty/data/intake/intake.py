"""A recording from its file and what the user knows: read, described, prepared, and what of it is missing."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.errors import InputError
from nefty.core.terminal_text import option_of
from nefty.data.facts import Note, NoteKind, Source, Step
from nefty.data.given import MissingTimesError
from nefty.data.intake.known import Known
from nefty.data.intake.part_file import with_files
from nefty.data.intake.values import (
    diffusivity_of,
    facts_given,
    heating_given,
    length_of_time,
    mask_given,
    preparation_given,
    region,
)
from nefty.data.preparation.choice import NOTHING
from nefty.data.preparation.part_facts import describe_part
from nefty.data.preparation.pixel_choice import WHOLE_STAYS, heats_a_spot
from nefty.data.preparation.prepare import prepare
from nefty.data.preparation.prepared import Prepared
from nefty.data.read import read
from nefty.data.record.record_file import find_record
from nefty.data.sequence import Sequence, bounds
from nefty.physics.materials import material

STEPS = (
    *("flash_frame", "onset", "ambient", "roi", "polygon", "leave_out", "bin", "frames", "start", "until", "gain"),
    *("corrupt", "dead", "saturation", "drift"),
)
OF_THE_PART = ("material", "alpha", "pulse", "heating", "no_losses")
OF_ITS_SIZE = ("thickness", "pixel")


@dataclass(frozen=True)
class Missing:
    """Something that a reconstruction needs, and nobody said.

    Args:
        what: in words.
        name: of the fact that gives it.
        example: of its value.
        typed: whether the user is at the command line.
    """

    what: str
    name: str
    example: str
    typed: bool = False

    @property
    def option(self) -> str:
        """Of the command line, that gives it."""
        return option_of(self.name)

    def __str__(self) -> str:
        how = f"{self.option} {self.example}" if self.typed else f"{self.name}={self.example}"
        return f"{self.what} ({how})"


@dataclass(frozen=True, eq=False)
class Recording:
    """A recording and what is known of it.

    Args:
        file: where it comes from.
        loaded: as it was read, with the facts given.
        sequence: prepared.
        prepared: what the preparation did; None if there was nothing to do.
        steps: all that was done, in order.
        missing: what a reconstruction would ask for.
        rate_known: whether the times are seconds; else they are numbers of frames.
        typed: whether the user is at the command line.
        known: what was said, files of facts included.
        said: in words, what was taken from which file of facts or record.
        says_everything: whether the file itself holds all facts, so that those of the part are refused.
    """

    file: Path
    loaded: Sequence
    sequence: Sequence
    prepared: Prepared | None
    steps: tuple[Step, ...]
    missing: tuple[Missing, ...]
    rate_known: bool
    typed: bool = False
    known: Known = field(default_factory=Known)
    said: tuple[str, ...] = ()
    says_everything: bool = False

    @property
    def assumed(self) -> list[Step]:
        """Steps in which something was taken for granted."""
        return [step for step in self.steps if step.assumed]

    def complete(self, only: tuple[str, ...] | None = None) -> Sequence:
        """The prepared recording, or one error that names everything that is missing.

        Args:
            only: facts without which it cannot go on; all if not given.
        """
        missing = [fact for fact in self.missing if only is None or fact.name in only]
        if missing:
            how = "with these options" if self.typed else "to nefty.load (nefty.read reads the frames alone)"
            raise InputError(
                f"{self.file} does not say all that is needed. Missing: {'; '.join(map(str, missing))}. Give it {how}; "
                f"nefty inspect {self.file} shows what the file does say."
            )
        return self.sequence


def take_in(
    file: Path, known: Known, defaults: dict[str, Any] | None = None, *, only_cameras: bool = False
) -> Recording:
    """Read a recording and prepare it.

    A file that nefty simulated or prepared says everything: of it, only what the user asks for is changed.

    Args:
        file: the recording.
        known: what the user said.
        defaults: of the preparation, where another is wanted than its own; such as ``{"frames": "off"}``.
        only_cameras: leave all files that nefty wrote as they are, unless a step was asked for.
    """
    known, said = with_files(file, known)
    loaded, rate_known = _read(file, known)
    loaded = _masked(loaded, known)
    loaded = loaded.with_facts(loaded.facts.noted(*(Note(NoteKind.FACTS, text) for text in said)))
    record, found = find_record(file, known.record)
    if record is not None:
        loaded = loaded.with_facts(loaded.facts.replaced(record=record))
    taken = _joined(file, loaded, rate_known, known, defaults, only_cameras=only_cameras)
    return dataclasses.replace(taken, known=known, said=(*said, *found))


def _joined(
    file: Path, loaded: Sequence, rate_known: bool, known: Known, defaults: dict[str, Any] | None, *, only_cameras: bool
) -> Recording:
    """See ``take_in``; the file is read, and what is known is complete."""
    if is_complete(loaded) or (only_cameras and not is_foreign(loaded)):
        return _of_own_file(file, loaded, known, refused=() if only_cameras else (*OF_THE_PART, *OF_ITS_SIZE))
    steps: tuple[Step, ...] = ()
    described, said = loaded, known.given()
    if is_foreign(loaded) or loaded.facts.units.in_metres or any(name in said for name in OF_THE_PART):
        described, steps = _with_part(loaded, known)
    prepared = prepare(described, preparation_given(known, described, defaults))
    steps = (*steps, *prepared.steps)
    missing = _missing(described, prepared, known, rate_known=rate_known, unheated=loaded.excitation is None)
    return Recording(file, described, prepared.sequence, prepared, steps, missing, rate_known, known.typed)


def is_complete(sequence: Sequence) -> bool:
    """Whether a recording says everything and was made without a camera, or prepared before."""
    return sequence.facts.simulated or sequence.facts.prepared


def is_foreign(sequence: Sequence) -> bool:
    """Whether a recording comes from a file that nefty did not write."""
    return sequence.facts.origin.source is Source.FILE


def _read(file: Path, known: Known) -> tuple[Sequence, bool]:
    """The recording, and whether its times are known; frame numbers stand in for them."""
    facts = facts_given(known)
    try:
        return read(file, **facts), True
    except MissingTimesError:
        sequence = read(file, **{**facts, "fps": 1.0})
    return sequence.with_facts(sequence.facts.without_notes((NoteKind.TIMES,))), False


def _masked(sequence: Sequence, known: Known) -> Sequence:
    """Where only the pixels of a mask count, besides its own."""
    mask = mask_given(known)
    if mask is None:
        return sequence
    before, sequence = sequence.mask, sequence.with_mask(mask)
    return sequence if before is None or sequence.mask is None else sequence.with_mask(before & sequence.mask)


def _of_own_file(file: Path, loaded: Sequence, known: Known, refused: tuple[str, ...]) -> Recording:
    """A recording that says everything: what was asked for, and nothing else."""
    said = known.given()
    for name in refused:
        if name in said:
            raise InputError(
                f"{known.named(name)} does not go with {file}, a recording that says everything itself; leave it out."
            )
    asked = [name for name in STEPS if name in said and name != "roi"]
    if asked or known.roi == "auto":
        prepared = prepare(loaded, preparation_given(known, loaded, NOTHING))
        return Recording(
            file,
            loaded,
            prepared.sequence,
            prepared,
            prepared.steps,
            (),
            True,
            known.typed,
            known=known,
            says_everything=bool(refused),
        )
    cut = loaded
    if known.roi is not None and known.roi != "off":
        top, bottom, left, right = region(known.roi, known.named("roi"))
        rows, columns = slice(top, bottom), slice(left, right)
        cut = _counting(loaded, rows, columns) if heats_a_spot(loaded) else loaded.region(rows, columns)
    return Recording(file, loaded, cut, None, (), (), True, known.typed, known=known, says_everything=bool(refused))


def _counting(sequence: Sequence, rows: slice, columns: slice) -> Sequence:
    """The whole part, of which these rows and columns count alone."""
    _, ny, nx = sequence.shape
    (top, bottom), (left, right) = bounds("rows", rows, ny), bounds("columns", columns, nx)
    if (top, bottom, left, right) == (0, ny, 0, nx):
        return sequence
    inside = np.zeros((ny, nx), bool)
    inside[top:bottom, left:right] = True
    text = f"only rows {top} to {bottom} of {ny} and columns {left} to {right} of {nx} count; {WHOLE_STAYS}"
    counts = inside if sequence.mask is None else inside & sequence.mask
    return sequence.with_mask(counts).with_facts(sequence.facts.noted(Note(NoteKind.OTHER, text)))


def _with_part(sequence: Sequence, known: Known) -> tuple[Sequence, tuple[Step, ...]]:
    return describe_part(
        sequence,
        material=None if known.material is None else material(known.material),
        alpha=None if known.alpha is None else diffusivity_of(known.alpha, known.named("alpha")),
        pulse=None if known.pulse is None else length_of_time(known.pulse, known.named("pulse")),
        heating=heating_given(known),
        losses=not known.no_losses,
    )


def _missing(
    sequence: Sequence, prepared: Prepared, known: Known, *, rate_known: bool, unheated: bool
) -> tuple[Missing, ...]:
    """What a reconstruction needs and neither the file nor the user said.

    Args:
        sequence: before it was prepared.
        prepared: and after.
        known: what the user said.
        rate_known: whether the times are.
        unheated: whether the file does not say how the part was heated.
    """
    facts, found = sequence.facts, []
    if not rate_known:
        found.append(("the frame rate", "fps", "50"))
    if sequence.size is None and facts.thickness is None:
        found.append(("the thickness of the part", "thickness", '"1.3 mm"'))
    if sequence.size is None and facts.pixel is None:
        found.append(("the size of a pixel", "pixel", '"0.2 mm"'))
    if facts.material is None and (is_foreign(sequence) or unheated):
        found.append(("the material", "material", "cfrp" if known.typed else '"cfrp"'))
    if prepared.step("flash").assumed:
        found.append(("the frame in which the flash falls", "flash_frame", "11"))
    elif prepared.step("ambient").assumed:
        found.append(("the value before the flash, 0 if values are rises", "ambient", "295.2"))
    return tuple(Missing(what, name, example, known.typed) for what, name, example in found)
