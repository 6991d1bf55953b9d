"""The summary of a batch as one offline page, in the style of the reports that it leads to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from nefty.batches.outcome import Found, Outcome
from nefty.core.provenance import provenance
from nefty.core.words import counted, duration, quantity, span
from nefty.report.figures.style import RULE, VERMILION, axis_title, dress
from nefty.report.pages.page import Fact, Notice, Page, Section, Table
from nefty.result.verdict import Level

NOTHING = "–"
MOST_NAMES = 40  # recordings on an axis that have room for their names


def batch_page(outcomes: Sequence[Outcome], waiting: Sequence[str], reports: Mapping[str, str]) -> Page:
    """The page.

    Args:
        outcomes: of the recordings that are settled.
        waiting: names of those that are not.
        reports: paths of the reports from the page's folder, by recording; empty where there is none.
    """
    done = [one for one in outcomes if not one.reason]
    without = [one for one in outcomes if one.reason]
    showing = [one for one in done if one.indications and judges(one)]
    found = [*([_depths(showing)] if showing else []), _recordings(done, reports)]
    found += [_indications(showing, reports)] if showing else []
    found += [_seen(done, reports)] if any(one.seen for one in done) else []
    found += [_without(without)] if without else []
    found += [_waiting(waiting)] if waiting else []
    return Page(
        title=_title(done, showing),
        lead=f"{counted(len(outcomes) + len(waiting), 'recording').capitalize()} of one batch, each reconstructed "
        "separately; a name in blue links to its report. Nothing here assesses a part: an indication is what the "
        "frames show, and what it means is for the inspector to say.",
        notice=_notice(without, waiting),
        facts=_facts(outcomes, done, showing),
        sections=found,
        provenance={name: str(value) for name, value in provenance().items()},
    )


def judges(outcome: Outcome) -> bool:
    """Whether anything may be concluded from a result."""
    return bool(outcome.level) and Level(outcome.level).judges


def _title(done: Sequence[Outcome], showing: Sequence[Outcome]) -> str:
    if not done:
        return "No recording was reconstructed"
    judged = sum(judges(one) for one in done)
    if not judged:
        return f"Nothing can be said of {counted(len(done), 'recording')} yet"
    noun = "recording" if judged == 1 else "recordings"
    return f"Indications in {len(showing) or 'none'} of {judged} {noun}"


def _notice(without: Sequence[Outcome], waiting: Sequence[str]) -> Notice | None:
    if not without and not waiting:
        return None
    parts = []
    if without:
        verb = "has" if len(without) == 1 else "have"
        parts.append(f"{counted(len(without), 'recording').capitalize()} {verb} no result; each has its reason below.")
    if waiting:
        parts.append(f"{len(waiting)} are still waiting; run the same command again to resume.")
    return Notice("Not everything was inspected", " ".join(parts), "caution")


def _facts(outcomes: Sequence[Outcome], done: Sequence[Outcome], showing: Sequence[Outcome]) -> list[Fact]:
    claims = sum(judges(one) for one in done)
    spent = sum(one.seconds for one in outcomes)
    number = sum(len(one.indications) for one in showing)
    return [
        Fact("Reconstructed", str(len(done)), f"of {len(outcomes)} that were tried"),
        Fact("With indications", str(len(showing)), f"{number} indications in all"),
        Fact("Without any", str(claims - len(showing)), "nothing stands out in the frames"),
        Fact("Nothing claimed", str(len(done) - claims), "unfinished, too noisy or not inspected"),
        Fact("Work", duration(spent), f"{duration(spent / len(outcomes))} each" if outcomes else ""),
    ]


def _recordings(done: Sequence[Outcome], reports: Mapping[str, str]) -> Section:
    named = any(one.part or one.serial for one in done)
    heads = ("recording", *(("part", "serial") if named else ()), "fit", "indications", "depths", "within")
    heads += ("evidence (σ)", "plain defect (σ)", "misfit", "time")
    rows = [_recording(one, named) for one in done]
    return Section(
        title="Recordings",
        shows="Every recording that has a result, with what its frames explain and what stands out in them.",
        table=Table(heads, rows, links={(i, 0): reports[one.name] for i, one in enumerate(done)}),
        good="“explained” everywhere, and plain defects that would stand out clearly.",
        bad="“unexplained”, “too noisy” or “unfinished”: of these parts nothing can be said yet. A misfit or a plain "
        "defect unlike that of the neighbours: something was different in this recording.",
        do="Open the report of each that differs; correct its facts in a .toml file with its name, and run the same "
        "command again.",
        terms="Fit: the verdict of the report in a word. Depths: to the tops of the indications. Within: the range of "
        "the intervals of these depths. Evidence: by how many standard deviations the clearest one stands out. Plain "
        "defect: by how many standard errors an air gap at half the thickness, as wide as the part is thick, would "
        "stand out. Misfit: mean squared residual over noise².",
    )


def _recording(one: Outcome, named: bool) -> tuple[str, ...]:
    depths = [found.depth for found in one.indications]
    shown = judges(one)
    count = str(len(depths)) if depths else "none"
    return (
        one.name,
        *((one.part or NOTHING, one.serial or NOTHING) if named else ()),
        one.level,
        count if shown else NOTHING,
        span(min(depths), max(depths), one.unit) if depths and shown else NOTHING,
        _within(one) if shown else NOTHING,
        _number(max((found.evidence for found in one.indications), default=math.nan)) if shown else NOTHING,
        _number(one.visible),
        _number(one.misfit),
        duration(one.seconds),
    )


def _within(one: Outcome) -> str:
    """Between which depths the tops of all indications lie, by the interval of each."""
    lows = [found.depth_low for found in one.indications if math.isfinite(found.depth_low)]
    highs = [found.depth_high for found in one.indications if math.isfinite(found.depth_high)]
    return span(min(lows), max(highs), one.unit) if lows and highs else NOTHING


def _ends(low: float, high: float, unit: str) -> str:
    """An interval; a dash where the result has none."""
    return span(low, high, unit) if math.isfinite(low) and math.isfinite(high) else NOTHING


def seen_words(one: Outcome) -> str:
    """The smallest defect of the first kind that would have been found at each depth; empty if not worked out."""
    own = [seen for seen in one.seen if seen.what == one.seen[0].what]
    if not own:
        return ""
    found = [
        f"{quantity(seen.diameter, one.unit, digits=2)} at {quantity(seen.depth, one.unit, digits=2)}"
        for seen in own
        if math.isfinite(seen.diameter)
    ]
    blind = [quantity(seen.depth, one.unit, digits=2) for seen in own if not math.isfinite(seen.diameter)]
    words = [f"from {', '.join(found)}"] if found else []
    words += [f"none at {', '.join(blind)}"] if blind else []
    return f"{own[0].what}: {'; '.join(words)}"


def _seen(done: Sequence[Outcome], reports: Mapping[str, str]) -> Section:
    return Section(
        title="What would have been seen",
        shows="The smallest round defect at each depth that each recording shows with 90 % probability, at a typical "
        "place of its frame. “None” means: none up to the largest size that was tested.",
        table=Table(
            ("recording", "diameter, at depth"),
            [(one.name, seen_words(one) or "not worked out") for one in done],
            links={(i, 0): reports[one.name] for i, one in enumerate(done)},
        ),
        good="The same in all recordings, and smaller than the smallest defect that matters.",
        bad="A recording that shows less than its neighbours: less heat, more noise, or another distance.",
        do="State these limits together with the result; repeat recordings that show too little.",
    )


def _indications(showing: Sequence[Outcome], reports: Mapping[str, str]) -> Section:
    pairs = [(one, found) for one in showing for found in one.indications]
    rows = [
        (
            one.name,
            str(found.label),
            quantity(found.depth, one.unit),
            _ends(found.depth_low, found.depth_high, one.unit),
            f"{found.x:.3g}, {quantity(found.y, one.unit)}",
            f"{found.row}, {found.column}",
            quantity(found.diameter, one.unit),
            _ends(found.diameter_low, found.diameter_high, one.unit),
            quantity(found.area, f"{one.unit}²" if one.unit else ""),
            _number(found.evidence),
        )
        for one, found in pairs
    ]
    heads = ("recording", "no.", "depth to top", "within", "x, y", "row, column", "diameter", "within", "area")
    return Section(
        title="Indications",
        shows="Every indication of every recording, the clearest of each first. Within: the interval that holds the "
        "truth in 90 of 100 cases, where it was measured for such parts; else the band of the depth, which has no "
        "stated probability, and none of the diameter. The report of each says which.",
        table=Table(
            (*heads, "evidence (σ)"), rows, links={(i, 0): reports[one.name] for i, (one, _) in enumerate(pairs)}
        ),
    )


def _without(without: Sequence[Outcome]) -> Section:
    return Section(
        title="Recordings without a result",
        shows="These were not reconstructed, for the reasons given. The others are not affected.",
        table=Table(("recording", "why"), [(one.name, one.reason) for one in without]),
        do="Correct the file or its facts and run the same command again: only these are computed.",
    )


def _waiting(waiting: Sequence[str]) -> Section:
    return Section(
        title="Recordings that are still waiting",
        shows="The batch was stopped, or is still running. Run the same command again to resume it.",
        table=Table(("", ""), [(str(i), name) for i, name in enumerate(waiting, 1)]),
    )


def _depths(showing: Sequence[Outcome]) -> Section:
    pairs = [(one, found) for one in showing for found in one.indications]
    places = {one.name: i for i, one in enumerate(showing)}
    figure = go.Figure(
        go.Scatter(
            x=[places[one.name] for one, _ in pairs],
            y=[found.depth for _, found in pairs],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [_gap(found.depth_high - found.depth) for _, found in pairs],
                "arrayminus": [_gap(found.depth - found.depth_low) for _, found in pairs],
                "thickness": 1,
            },
            mode="markers",
            marker={"color": VERMILION, "size": _sizes([found for _, found in pairs])},
            text=[f"{_short(one.name)}, indication {found.label}" for one, found in pairs],
            hovertemplate="%{text}<br>depth %{y:.3g}<extra></extra>",
        )
    )
    dress(figure, height=320, below=110)
    figure.update_yaxes(
        autorange="reversed", title_text=axis_title("depth to the top", showing[0].unit), gridcolor=RULE
    )
    figure.update_xaxes(
        tickvals=list(places.values()),
        ticktext=[_short(name) for name in places],
        tickangle=-40,
        range=[-0.6, len(places) - 0.4],
        showticklabels=len(showing) <= MOST_NAMES,
    )
    return Section(
        title="Depths of all indications",
        shows="Each dot is an indication, larger for a larger area, with the interval or band of its depth.",
        figure=figure,
        good="Few dots, at depths where the design has interfaces or known features.",
        bad="The same depth in every recording: a feature of the design, or a wrong thickness in the facts.",
        do="Compare with a sound part of the same kind before following up single dots.",
    )


def _sizes(found: Sequence[Found]) -> list[float]:
    """Of the dots, in pixels: 7 to 20, by diameter."""
    largest = max((one.diameter for one in found if math.isfinite(one.diameter)), default=1.0) or 1.0
    return [7 + 13 * (one.diameter / largest if math.isfinite(one.diameter) else 0) for one in found]


def _gap(length: float) -> float:
    return max(length, 0.0) if math.isfinite(length) else 0.0


def _short(name: str) -> str:
    """A name that fits an axis, without what Plotly would take for markup."""
    name = "".join(letter for letter in name if letter not in "<>&{}%")
    return name if len(name) <= 28 else f"…{name[-27:]}"


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else NOTHING
