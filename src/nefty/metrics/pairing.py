"""Which of the defects that were found is which of those that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment

if TYPE_CHECKING:
    from nefty.result.indications.indication import Indication
    from nefty.result.reconstruction import Reconstruction


class Placed(Protocol):
    """Something with a place (z, y, x) and a lateral size."""

    @property
    def centre(self) -> tuple[float, float, float]:
        """(z, y, x)."""
        ...

    @property
    def diameter(self) -> float:
        """Of the disc with the same area."""
        ...


Found = TypeVar("Found", bound=Placed)
Known = TypeVar("Known", bound=Placed)


def paired(found: Sequence[Found], known: Sequence[Known]) -> list[tuple[Found | None, Known | None]]:
    """Match defects by the lateral distance of their centres; centres further apart than their sizes do not match.

    Returns:
        first all that were found, in their order, then those known that were missed; ``None`` stands for no partner.
    """
    cost = np.array([[_distance(a, b) for b in known] for a in found]).reshape(len(found), len(known))
    reach = np.array([[(a.diameter + b.diameter) / 2 for b in known] for a in found]).reshape(cost.shape)
    far = 1e6 * reach.max(initial=0.0)
    matched = zip(*linear_sum_assignment(np.where(cost <= reach, cost, far)), strict=True)
    partner = {int(i): int(j) for i, j in matched if cost[i, j] <= reach[i, j]}
    pairs: list[tuple[Found | None, Known | None]] = [
        (defect, known[partner[i]] if i in partner else None) for i, defect in enumerate(found)
    ]
    return pairs + [(None, defect) for j, defect in enumerate(known) if j not in partner.values()]


def true_part(rec: Reconstruction) -> Reconstruction | None:
    """The true volume in place of the recovered one, so that the same rules find its defects.

    ``None`` if it is not known on this grid.
    """
    if rec.truth is None or rec.truth.shape != rec.grid.shape:
        return None
    true = np.asarray(rec.truth, dtype=np.float64)
    background = np.percentile(true, 90, axis=(1, 2))
    return replace(rec, alpha=true, background=background, truth=None, frame_evidence=None)


def paired_with_truth(rec: Reconstruction) -> list[tuple[Indication | None, Indication | None]]:
    """Indications and true defects that belong together, as ``paired`` matches them; none is true if none is known."""
    true = true_part(rec)
    return paired(rec.defects(), [] if true is None else true.defects())


def _distance(a: Placed, b: Placed) -> float:
    return float(np.hypot(a.centre[1] - b.centre[1], a.centre[2] - b.centre[2]))
