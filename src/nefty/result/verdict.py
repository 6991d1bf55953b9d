"""What can be said of a part on the strength of a reconstruction: first what forbids a judgement, then the fit.

A run that was cut short claims nothing; a recording in which even a plain defect would not show is too noisy to judge;
of what was not inspected nothing is said. Then comes a stated fact that looks wrong, and only then whether the volume
explains the recording.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from nefty.core.words import counted
from nefty.result.explanation import explanation
from nefty.result.frame_pixels import frame_pixels
from nefty.result.moved_facts import moved_facts
from nefty.result.reference_defect import VISIBLE, reference_visibility

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

#: The share of the thickness, and of the pixels, that must have been inspected for a verdict on the part.
MOST = 0.5
#: How far above the threshold, and above what defects show, a score of the wrong sign must be to be told.
COLD = 2.0
#: Change of the logarithm of a ratio of diffusivities that is told: how far users are off.
SPREADS = 0.2


class Level(str, Enum):
    """What kind of verdict it is; equal to its word."""

    EXPLAINED = "explained"
    PARTLY = "partly"
    UNEXPLAINED = "unexplained"
    OVERFITTED = "overfitted"
    UNKNOWN = "unknown"
    UNFINISHED = "unfinished"
    TOO_NOISY = "too noisy"
    NOT_INSPECTED = "not inspected"

    __str__ = str.__str__

    @property
    def judges(self) -> bool:
        """Whether anything can be said of what is in the part, or is not."""
        return self not in (Level.UNFINISHED, Level.TOO_NOISY, Level.NOT_INSPECTED)


@dataclass(frozen=True)
class Verdict:
    """Whether to believe a reconstruction.

    Args:
        level: ``EXPLAINED``, ``PARTLY`` (nearly, or not everywhere), ``UNEXPLAINED``, ``OVERFITTED``, or ``UNKNOWN``
            where there is no noise to compare with; ``UNFINISHED``, ``TOO_NOISY`` or ``NOT_INSPECTED`` where nothing
            may be concluded.
        text: what was found, and what to do.
    """

    level: Level
    text: str


def judge(rec: Reconstruction) -> Verdict:
    """What may be concluded, and why."""
    for refused in (_unfinished(rec), _too_noisy(rec), _not_inspected(rec)):
        if refused is not None:
            return refused
    word, text = explanation(rec)
    against = [*_suspected(rec), *_unresolved(rec), *_contradictions(rec)]
    level = Level.PARTLY if against and word == Level.EXPLAINED else Level(word)
    return Verdict(level, " ".join([*against, text, *_limits(rec), *_weighed(rec), *_moved(rec)]))


def _unfinished(rec: Reconstruction) -> Verdict | None:
    if not rec.stopped.cut_short:
        return None
    misfit = "" if rec.misfit is None else f" So far the misfit is {rec.misfit:.3g} times the noise floor."
    return Verdict(
        Level.UNFINISHED,
        f"The reconstruction is not finished: {rec.stopped.text}. Nothing is claimed yet, neither that something is in "
        f"the part nor that nothing is.{misfit} Run the same command again to resume.",
    )


def _too_noisy(rec: Reconstruction) -> Verdict | None:
    seen = reference_visibility(rec)
    if seen is None or seen >= VISIBLE:
        return None
    return Verdict(
        Level.TOO_NOISY,
        "The recording is too noisy to judge the part: an air gap at half the thickness, as wide as the part is thick, "
        f"would stand out by {seen:.2g} standard errors in its best frame, and {VISIBLE:g} are needed. Neither an "
        "indication nor its absence means anything here. Heat more, average more frames or pixels, or use a quieter "
        "camera.",
    )


def _not_inspected(rec: Reconstruction) -> Verdict | None:
    share = rec.inspected_share
    if share >= MOST:
        return None
    return Verdict(
        Level.NOT_INSPECTED,
        f"Only {100 * share:.0f} % of the part was inspected. {' '.join(_limits(rec))} No statement is made about the "
        "rest.",
    )


def _suspected(rec: Reconstruction) -> list[str]:
    """A stated fact that looks wrong, in words."""
    if not rec.suspects:
        return []
    ways = " or with ".join(fact.words(rec.facts.units) for fact in rec.suspects)
    return [
        f"What remains unexplained looks like a wrong fact: with {ways} the recording would be explained better. "
        "Check it; it may be the cause of indications."
    ]


def _unresolved(rec: Reconstruction) -> list[str]:
    """That something stands out which is no indication, in words: no all-clear follows."""
    shown = rec.frame_evidence
    place = None if shown is None else shown.unresolved
    if shown is None or place is None:
        return []
    (_, dy, dx), window = rec.grid.spacing, rec.facts.window
    pixel = frame_pixels(rec.grid, window).pixel((place[0] + 0.5) * dy, (place[1] + 0.5) * dx)
    return [
        f"Something stands out by {shown.score_map.max():.2g} standard deviations around pixel (y, x) = {pixel}, but "
        "it was not resolved into an indication: it may be too wide for this picture, or no defect. So the part is "
        "not shown to be clear. Record it with more sound material around that place, and look at the maps."
    ]


def _contradictions(rec: Reconstruction) -> list[str]:
    """Facts that the recording does not have as they were stated, in words."""
    facts = [fact for fact in moved_facts(rec.facts.calibration) if fact.contradicted]
    return [
        f"The recording contradicts what was stated or assumed: {fact.text}, {fact.widths:.2g} times as far as such a "
        "figure is usually off. Check it and the thickness before you rely on depths."
        for fact in facts
    ]


def _moved(rec: Reconstruction) -> list[str]:
    """Facts that were moved less than that."""
    facts = [fact.text for fact in moved_facts(rec.facts.calibration) if not fact.contradicted]
    return [f"The calibration moved: {'; '.join(facts)}."] if facts else []


def _weighed(rec: Reconstruction) -> list[str]:
    """How the threshold of the evidence was set, and what came near it or is of the wrong sign."""
    shown = rec.frame_evidence
    if shown is None:
        return []
    said = [
        f"What stands out by {shown.threshold:.2g} standard deviations or more is called an indication: a sound part "
        f"would show {shown.false_calls:g} such indications on average."
    ]
    if shown.limits is not None:
        said.append(shown.limits.sentence(rec.unit("length")))
    if max(abs(math.log(factor)) for factor in shown.spreads) > SPREADS:
        y, x = shown.spreads
        said.append(
            f"Judging by the edges of the indications, heat spreads {y:.2g} times as fast along y and {x:.2g} times "
            "along x as was stated or assumed; sizes and resistances were computed with these values."
        )
    if shown.just_missed:
        said.append(_just_missed(rec))
    if shown.coldest > COLD * max(shown.threshold, float(shown.score_map.max(initial=0.0))):
        said.append(
            f"In one place the part cools faster than sound material, by {shown.coldest:.2g} standard deviations, "
            "which no defect causes. It may be a thicker or better conducting place, an uneven coating, an edge, or a "
            "movement of the picture; look at the residual maps."
        )
    return said


def _just_missed(rec: Reconstruction) -> str:
    """Where the clearest region lies that is not called, and what it may be."""
    shown = rec.frame_evidence
    assert shown is not None  # the caller sees to it
    number, (_, dy, dx) = shown.just_missed[0], rec.grid.spacing
    rows, columns = shown.footprint(number).nonzero()
    pixel = frame_pixels(rec.grid, rec.facts.window).pixel((rows.mean() + 0.5) * dy, (columns.mean() + 0.5) * dx)
    deep, unit = shown.regions[number - 1].depth, rec.unit("length")
    depth = f", {deep:.3g}{' ' * bool(unit)}{unit} deep" if math.isfinite(deep) else ""
    return (
        f"{counted(len(shown.just_missed), 'region').capitalize()} just missed this threshold, the clearest around "
        f"pixel (y, x) = {pixel}{depth}, with {shown.regions[number - 1].score:.2g}: it may be a faint or small "
        "defect, or unevenness of part or heating. If that place matters, record again with more heat or more frames."
    )


def _limits(rec: Reconstruction) -> list[str]:
    """What was not inspected, in words."""
    said, unit = [], rec.unit("length")
    space = " " * bool(unit)
    if rec.reach is not None and rec.reach.shallowest > 0:
        said.append(f"Depths of less than {rec.reach.shallowest:.3g}{space}{unit} were not inspected.")
    if rec.reach is not None and rec.reach.deepest < rec.grid.size[0]:
        said.append(
            f"The recording ends before heat returns from below {rec.reach.deepest:.3g}{space}{unit}; what lies "
            "deeper was not inspected."
        )
    left_out = 1 - rec.inspected_pixels
    if left_out > 0:
        said.append(f"{100 * left_out:.2g} % of the pixels were not used.")
    return said
