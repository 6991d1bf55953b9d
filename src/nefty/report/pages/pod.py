"""The page of a probability of detection."""

from __future__ import annotations

import csv
import io
import math

import numpy as np

from nefty.core.provenance import provenance
from nefty.core.words import counted, quantity
from nefty.metrics.detection import Pod
from nefty.metrics.detection.false_calls import told
from nefty.metrics.detection.table import DetectionTable
from nefty.metrics.detection.trade_off import trade_off_of
from nefty.report.figures.pod import pod_curve, signal_plot
from nefty.report.pages.page import Fact, Notice, Page, Section, Table
from nefty.report.pages.trade_off_section import trade_off_section

#: Rows of the table of targets; the file has them all.
MOST_ROWS = 200


def pod_page(pod: Pod, table: DetectionTable, *, threshold: float | None = None, source: str = "") -> Page:
    """Build the page.

    Args:
        pod: the fit.
        table: the targets.
        threshold: of the signals, where they were fitted.
        source: where the targets come from.
    """
    hits = table.hits if threshold is None else table.signals > threshold
    bound, name = pod.a90_bound, f"a90/{100 * pod.confidence:.3g}"
    title = f"{name} = {quantity(bound, table.unit)}" if math.isfinite(bound) else f"{name}: the data set no bound"
    if not pod.reaches(0.9):
        title = f"no a90, large defects are found in {100 * pod.ceiling:.0f} % of cases"
    sections = [_curve(pod, table, hits)]
    if threshold is not None and pod.kind == "signal response":
        sections.append(_signals(pod, table, threshold))
    if (curve := trade_off_of(table)) is not None:
        sections.append(trade_off_section([curve]))
    sections.append(_targets(table))
    return Page(
        title=f"Probability of detection: {title}; {_calls(pod)}",
        lead=_lead(pod, table, hits, source),
        notice=_notice(pod),
        facts=_facts(pod, table, name),
        sections=sections,
        provenance=provenance(),
        details={"The fit": str(pod)},
    )


def curve_csv(pod: Pod, unit: str = "") -> str:
    """The curve as CSV: for each probability the size, and its upper bounds by both methods."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    word = f" ({unit})" if unit else ""
    rows.writerow(["pod", f"size{word}", f"bound_wald{word}", f"bound_likelihood{word}"])
    for p in (*np.round(np.arange(0.05, 0.96, 0.05), 2), 0.98, 0.99):
        if not pod.reaches(float(p)):
            break
        sizes = (pod.size(float(p)), pod.size_bound(float(p), "wald"), pod.size_bound(float(p), "likelihood"))
        rows.writerow([f"{p:g}", *(f"{s:.6g}" for s in sizes)])
    return text.getvalue()


def _lead(pod: Pod, table: DetectionTable, hits: np.ndarray, source: str) -> str:
    how = "hits and misses" if pod.kind == "hit/miss" else "the strength of their signals"
    low, high = pod.sizes
    origin = f", from {source}" if source else ""
    false = f" {told(pod.false_calls).capitalize()}."
    return (
        f"{int(hits.sum())} of {counted(pod.targets, 'known defect')} found, {low:.3g} to "
        f"{quantity(high, table.unit)} in size{origin}; fitted by {how}.{false} A probability of detection is that of "
        "this method, set-up and kind of defect. Which size matters is decided by those who assess the part."
    )


def _notice(pod: Pod) -> Notice | None:
    if not pod.notes:
        return None
    text = ". ".join(note[0].upper() + note[1:] for note in pod.notes)
    return Notice("Before the numbers are used", f"{text}.", "caution")


def _facts(pod: Pod, table: DetectionTable, name: str) -> list[Fact]:
    with_calls = f"with {_calls(pod)}"
    likely = Fact(
        f"{name}, likelihood ratio", _bound(pod.a90_likelihood, table.unit), f"upper bound of a90; {with_calls}"
    )
    wald = Fact(f"{name}, Wald", _bound(pod.a90_wald, table.unit), "upper bound of a90; quote the larger of the two")
    facts = [
        Fact("a50", _size(pod, 0.5, table.unit), "found in half of the cases"),
        Fact("a90", _size(pod, 0.9, table.unit), f"found in 90 % of the cases, best estimate; {with_calls}"),
        likely,
        *([wald] if pod.limited is None else []),
        *_asymptote(pod),
        Fact("Targets", str(pod.targets), f"{pod.kind}, {pod.link}"),
    ]
    calls = pod.false_calls
    if calls is None:
        return [*facts, Fact("False calls", "not measured", "give sound places or parts")]
    low, high = calls.interval()
    note = f"per {calls.per}: {calls.count} in {calls.of}, 95 % interval {low:.2g} to {high:.2g}"
    return [*facts, Fact("False calls", f"{calls.rate:.2g}", note)]


def _asymptote(pod: Pod) -> list[Fact]:
    known = pod.asymptote
    if known is None:
        return []
    note = f"{known.within} by the data alone; P = 1 has p = {known.p_value:.2g}"
    return [Fact("POD of large defects", f"{known.value:.3g}", note)]


def _calls(pod: Pod) -> str:
    """False calls in a few words."""
    calls = pod.false_calls
    return "false calls not measured" if calls is None else f"{calls.rate:.2g} false calls per {calls.per}"


def _size(pod: Pod, of: float, unit: str) -> str:
    return quantity(pod.size(of), unit) if pod.reaches(of) else "none"


def _bound(size: float, unit: str) -> str:
    return quantity(size, unit) if math.isfinite(size) else "none"


def _curve(pod: Pod, table: DetectionTable, hits: np.ndarray) -> Section:
    return Section(
        title="The curve",
        shows="Probability of detection against size. Ticks on top are defects that were found, ticks at the bottom "
        "those that were missed. "
        + (
            "The broken lines are lower confidence curves by two methods; the number to quote is where the lower of "
            "them crosses 0.9."
            if pod.limited is None
            else "The curve ends at its asymptote. The number to quote is where the broken line, the lower confidence "
            "curve, crosses 0.9; if it does not, there is none."
        ),
        figure=pod_curve(pod, table.sizes, hits, table.unit),
        good="Sizes spread evenly over the rise of the curve, hits and misses that overlap there.",
        bad="Large defects that are missed (the curve may end at an asymptote below 1, without an a90), a rise "
        "without targets on it, or a90 beyond the largest target: the curve is a guess there.",
        do="Add targets around the sizes where the curve goes from 0.1 to 0.9; give the number of targets and the "
        "method with the result.",
    )


def _signals(pod: Pod, table: DetectionTable, threshold: float) -> Section:
    return Section(
        title="Signals against sizes",
        shows="The strength of each target's signal, the fitted line, and the band that holds 90 % of the signals. "
        "What lies above the threshold is found.",
        figure=signal_plot(pod, table.sizes, table.signals, threshold, table.unit),
        good="Dots around a straight line, with the same scatter for small and large sizes.",
        bad="A bend, or a scatter that grows: the model does not apply, and neither do its bounds.",
        do="Try the other transform of the sizes, censor what is saturated or lost in noise, or use hits and misses.",
    )


def _targets(table: DetectionTable) -> Section:
    unit = f" ({table.unit})" if table.unit else ""
    columns = ("", f"size{unit}", "found", "signal", f"depth{unit}", f"depth found{unit}", "run")
    rows = [
        (
            str(i),
            f"{t.size:.3g}",
            {None: "–", True: "yes", False: "no"}[t.detected],
            _known(t.signal),
            _known(t.depth),
            _known(t.found_depth),
            t.run or "–",
        )
        for i, t in enumerate(table.targets[:MOST_ROWS], 1)
    ]
    told = [i for i in range(len(columns)) if i < 2 or any(row[i] != "–" for row in rows)]  # columns that say something
    columns, rows = [columns[i] for i in told], [[row[i] for i in told] for row in rows]
    some = f" The first {MOST_ROWS} of {len(table.targets)}." if len(table.targets) > MOST_ROWS else ""
    return Section(
        title="The targets",
        shows=f"Every known defect, and whether it was found.{some}",
        table=Table(columns, rows, one_line=True),
        terms="Size: diameter of the disc with the same area. Found: an indication whose centre is no further away "
        "than half the sum of both diameters. Signal, where it comes from runs: CNR = |mean_d − mean_s| / σ_s over "
        "the known pixels of the defect, in the measured frame in which it is highest.",
        good="Each defect is a target of its own.",
        bad="The same defect several times: that is not more targets.",
        do="Leave repetitions out, or use them to judge how well a measurement repeats.",
    )


def _known(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}"
