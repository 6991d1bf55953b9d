"""A recording from its file and the options of the command line: read, prepared, and what of it is missing."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nefty.cli.recording_options import RecordingOptions, option_of

if TYPE_CHECKING:
    from nefty.data.preparation.steps import Prepared, Step
    from nefty.data.sequence import Sequence

STEPS = (
    *("flash_frame", "onset", "ambient", "roi", "bin", "frames", "start", "until", "gain"),
    *("corrupt", "dead", "saturation", "drift"),
)
OF_THE_PART = ("material", "alpha", "pulse", "no_losses")


@dataclass(frozen=True)
class Missing:
    """Something that a reconstruction needs, and nobody said.

    Args:
        what: in words.
        option: that gives it.
        example: of its value.
    """

    what: str
    option: str
    example: str

    def __str__(self) -> str:
        return f"{self.what} ({self.option} {self.example})"


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
    """

    file: Path
    loaded: Sequence
    sequence: Sequence
    prepared: Prepared | None
    steps: tuple[Step, ...]
    missing: tuple[Missing, ...]
    rate_known: bool

    @property
    def assumed(self) -> list[Step]:
        """Steps in which something was taken for granted."""
        return [step for step in self.steps if step.assumed]


def read_recording(
    file: Path, options: RecordingOptions, defaults: dict[str, Any] | None = None, *, only_cameras: bool = False
) -> Recording:
    """Read a recording and prepare it.

    A file that nefty simulated or prepared says everything: of it, only what the options ask for is changed.

    Args:
        file: the recording.
        options: of the command line.
        defaults: of the preparation, where another is wanted than its own; such as ``{"frames": "off"}``.
        only_cameras: leave all files that nefty wrote as they are, unless the options ask for a step.
    """
    from nefty.cli.recording_values import preparation_given
    from nefty.data.preparation.prepare import prepare

    loaded, rate_known = _load(file, options)
    loaded = _masked(loaded, options.mask)
    if is_complete(loaded) or (only_cameras and not is_foreign(loaded)):
        return _of_own_file(file, loaded, options, refused=() if only_cameras else (*OF_THE_PART, "thickness", "pixel"))
    steps: tuple[Step, ...] = ()
    described = loaded
    in_metres = (loaded.meta.get("units") or {}).get("length") == "m"
    if is_foreign(loaded) or in_metres or any(name in options.given() for name in OF_THE_PART):
        described, steps = _with_part(loaded, options)
    choice = preparation_given(options, described, defaults)
    prepared = prepare(described, choice)
    steps = (*steps, *prepared.steps)
    missing = _missing(described, prepared, rate_known=rate_known, unheated=loaded.excitation is None)
    return Recording(file, described, prepared.sequence, prepared, steps, missing, rate_known)


def refuse_missing(recording: Recording, only: tuple[str, ...] | None = None) -> None:
    """Stop with one error that names everything that is missing.

    Args:
        recording: the recording.
        only: options without which it cannot go on; all if not given.
    """
    from nefty.core.errors import InputError

    missing = [fact for fact in recording.missing if only is None or fact.option in only]
    if missing:
        raise InputError(
            f"{recording.file} does not say all that is needed. Missing: {'; '.join(map(str, missing))}. "
            f"Give it with these options; nefty inspect {recording.file} shows what the file does say."
        )


def is_complete(sequence: Sequence) -> bool:
    """Whether a recording says everything and was made without a camera, or prepared before."""
    made = "specimen" in sequence.meta or sequence.meta.get("source") == "simulated"
    return made or "preparation" in sequence.meta


def is_foreign(sequence: Sequence) -> bool:
    """Whether a recording comes from a file that nefty did not write."""
    return "flash_frame" in sequence.meta


def _load(file: Path, options: RecordingOptions) -> tuple[Sequence, bool]:
    """The recording, and whether its times are known; frame numbers stand in for them."""
    from nefty.cli.recording_values import facts_given
    from nefty.data.facts import MissingTimesError
    from nefty.data.load import load

    facts = facts_given(options)
    try:
        return load(file, **facts), True
    except MissingTimesError:
        sequence = load(file, **{**facts, "fps": 1.0})
    notes = [note for note in sequence.meta.get("notes", []) if not note.startswith("Times follow from fps=1")]
    return dataclasses.replace(sequence, meta={**sequence.meta, "notes": notes}), False


def _masked(sequence: Sequence, mask: Path | None) -> Sequence:
    """Where only the pixels of a mask count, besides its own."""
    if mask is None:
        return sequence
    from nefty.cli.run_files import load_array

    before, sequence = sequence.mask, sequence.with_mask(load_array(mask, "mask"))
    return sequence if before is None or sequence.mask is None else sequence.with_mask(before & sequence.mask)


def _of_own_file(file: Path, loaded: Sequence, options: RecordingOptions, refused: tuple[str, ...]) -> Recording:
    """A recording that says everything: what the options ask for, and nothing else."""
    from nefty.cli.recording_values import preparation_given, region
    from nefty.core.errors import InputError
    from nefty.data.preparation.choice import NOTHING
    from nefty.data.preparation.prepare import prepare

    for name in refused:
        if name in options.given():
            raise InputError(
                f"{option_of(name)} does not go with {file}, a recording that says everything itself; leave it out."
            )
    asked = [name for name in STEPS if name in options.given() and name != "roi"]
    if asked or options.roi == "auto":
        prepared = prepare(loaded, preparation_given(options, loaded, NOTHING))
        return Recording(file, loaded, prepared.sequence, prepared, prepared.steps, (), True)
    cut = loaded
    if options.roi not in (None, "off"):
        top, bottom, left, right = region(options.roi or "", "--roi")
        cut = loaded.region(slice(top, bottom), slice(left, right))
    return Recording(file, loaded, cut, None, (), (), True)


def _with_part(sequence: Sequence, options: RecordingOptions) -> tuple[Sequence, tuple[Step, ...]]:
    from nefty.cli.recording_values import length_of_time
    from nefty.core.units import quantity
    from nefty.data.preparation.part_facts import describe_part
    from nefty.physics.materials import material

    return describe_part(
        sequence,
        material=None if options.material is None else material(options.material),
        alpha=None if options.alpha is None else quantity(options.alpha, "diffusivity", "--alpha", above=0),
        pulse=None if options.pulse is None else length_of_time(options.pulse, "--pulse"),
        losses=not options.no_losses,
    )


def _missing(sequence: Sequence, prepared: Prepared, *, rate_known: bool, unheated: bool) -> tuple[Missing, ...]:
    """What a reconstruction needs and neither the file nor the user said.

    Args:
        sequence: before it was prepared.
        prepared: and after.
        rate_known: whether the times are.
        unheated: whether the file does not say how the part was heated.
    """
    found = []
    if not rate_known:
        found.append(Missing("the frame rate", "--fps", "50"))
    if sequence.size is None and "thickness" not in sequence.meta:
        found.append(Missing("the thickness of the part", "--thickness", '"1.3 mm"'))
    if sequence.size is None and "pixel" not in sequence.meta:
        found.append(Missing("the size of a pixel", "--pixel", '"0.2 mm"'))
    if "material" not in sequence.meta and (is_foreign(sequence) or unheated):
        found.append(Missing("the material", "--material", "cfrp"))
    if prepared.step("flash").assumed:
        found.append(Missing("the frame in which the flash falls", "--flash-frame", "11"))
    elif prepared.step("ambient").assumed:
        found.append(Missing("the value before the flash, 0 if values are rises", "--ambient", "295.2"))
    return tuple(found)
