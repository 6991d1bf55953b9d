"""Found against false: the share of defects found and the false calls that come with it, as the threshold moves."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nefty.core.errors import InputError
from nefty.metrics.detection.false_calls import FalseCalls
from nefty.metrics.detection.table import DetectionTable
from nefty.metrics.summary import wilson

SHARE = ("threshold", "found", "targets", "share", "share_low", "share_high")
RATE = ("rate", "rate_low", "rate_high")


@dataclass(frozen=True)
class TradePoint:
    """One threshold.

    Args:
        threshold: what scores at least this is called.
        found: targets that are.
        targets: how many there are.
        false_calls: that are made.
    """

    threshold: float
    found: int
    targets: int
    false_calls: FalseCalls

    @property
    def share(self) -> float:
        """Of the targets that are found."""
        return self.found / self.targets

    @property
    def interval(self) -> tuple[float, float]:
        """Of the share, 95 %, by Wilson."""
        return wilson(self.found, self.targets)


@dataclass(frozen=True)
class TradeOff:
    """The curve, from the highest threshold to the lowest.

    Below the threshold at which scores were recorded nothing is known: the curve ends there.

    Args:
        points: one for each threshold.
        name: what it is of, such as a method.
        quantity: what the threshold is of, ``"score"`` or ``"signal"``.
    """

    points: tuple[TradePoint, ...]
    name: str = ""
    quantity: str = "score"

    @property
    def per(self) -> str:
        """What false calls are counted over."""
        return self.points[0].false_calls.per

    def at(self, false_calls: float) -> TradePoint | None:
        """The point that finds most with no more than so many false calls per part; ``None`` if all have more."""
        kept = [point for point in self.points if point.false_calls.rate <= false_calls]
        return max(kept, key=lambda point: (point.found, point.threshold), default=None)

    @property
    def front(self) -> tuple[TradePoint, ...]:
        """Points that find more than all with fewer false calls, in the order of false calls."""
        points: list[TradePoint] = []
        for point in sorted(self.points, key=lambda p: (p.false_calls.count, -p.found, -p.threshold)):
            if not points or point.found > points[-1].found:
                points.append(point)
        return tuple(points)

    def chosen(self, most: int = 12) -> tuple[TradePoint, ...]:
        """Points for a table, at most so many: of the front, and the last."""
        points = [*self.front, *({self.points[-1]} - {*self.front})]
        kept = np.unique(np.linspace(0, len(points) - 1, min(most, len(points))).round().astype(int))
        return tuple(points[i] for i in kept)

    def csv(self) -> str:
        """All points as CSV."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow([*SHARE, "false_calls", f"{self.per}s".replace(" ", "_"), *RATE])
        for point in self.points:
            calls, share, rate = point.false_calls, point.interval, point.false_calls.interval()
            found = [f"{point.threshold:.9g}", point.found, point.targets, *_digits(point.share, *share)]
            rows.writerow([*found, calls.count, calls.of, *_digits(calls.rate, *rate)])
        return text.getvalue()


def trade_off(
    found: Iterable[float],
    false: Iterable[float],
    of: int,
    *,
    per: str = "part",
    name: str = "",
    quantity: str = "score",
) -> TradeOff:
    """The curve from scores: at each of them as threshold t, share of ``found`` >= t and number of ``false`` >= t.

    Args:
        found: score of each target; NaN for one that was called at no threshold.
        false: score of each false indication, or of each sound place.
        of: parts that were inspected, or sound places.
        per: ``"part"`` or ``"sound place"``.
        name: what it is of.
        quantity: what the scores are.
    """
    targets, others = (np.array([*values], dtype=np.float64) for values in (found, false))
    targets, others = (np.where(np.isnan(values), -math.inf, values) for values in (targets, others))
    if not targets.size:
        raise InputError("a trade-off needs targets; give the score of each known defect, NaN for those not found.")
    thresholds = np.unique(np.concatenate([targets, others]))[::-1]
    points = [
        TradePoint(float(t), int((targets >= t).sum()), len(targets), FalseCalls(int((others >= t).sum()), of, per))
        for t in thresholds[np.isfinite(thresholds)]
    ]
    if not points:
        raise InputError(f"none of {len(targets)} targets has a {quantity}; a trade-off needs those of what was found.")
    return TradeOff(tuple(points), name, quantity)


def trade_off_of(table: DetectionTable, name: str = "") -> TradeOff | None:
    """The curve of a table: of its scores, else of its signals; ``None`` if sound places have neither."""
    for quantity in ("score", "signal"):
        found = [getattr(target, quantity) for target in table.targets]
        false = [
            getattr(place, quantity) for place in table.sound if place.detected is not False or quantity == "signal"
        ]
        known = np.isfinite(false).all() if quantity == "signal" else np.isfinite([*false, *found]).any()
        whole = quantity == "score" or np.isfinite(found).all()
        if not table.sound or not known or not whole or not np.isfinite(found).any():
            continue
        of, per = (table.parts, "part") if table.parts else (len(table.sound), "sound place")
        return trade_off(found, false, of, per=per, name=name, quantity=quantity)
    return None


def _digits(*values: float) -> list[str]:
    return [f"{value:.6g}" for value in values]
