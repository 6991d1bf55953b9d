"""Which regions the frames need: each is judged by what it adds to the others, and false ones do not count for long."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nefty.inversion.evidence.weighing import Judge, Weighing
from nefty.result.frame_evidence import CLEAR

ROUNDS = 3  # of leaving out what the frames do not need

Explain = Callable[[Sequence[int]], np.ndarray]


def judged(weighing: Weighing, masks: Sequence[np.ndarray], explain: Explain) -> tuple[list[float], Judge]:
    """The score of each region, and what judges when all of them are explained.

    First all regions are explained. One without which less stays unexplained is not needed: it is left out, since it
    spoils the scale of the others, and those are judged again. A region that is not beyond doubt is judged once more
    with only those explained that are: an error of the model that was fitted as several weak regions stays an error in
    the scale.

    Args:
        weighing: of the recording.
        masks: of the regions, (y, x).
        explain: ln(T/T_sound), (t, y, x), of the regions with those numbers only.
    """
    scores = np.zeros(len(masks))
    kept = list(range(len(masks)))
    everything = judge = weighing.after(explain(kept))
    for _ in range(ROUNDS):
        needed = []
        for i in kept:
            scores[i], is_needed = judge(masks[i], explain(_without(kept, i)))
            needed += [i] if is_needed else []
        if len(needed) == len(kept):
            break
        kept = needed
        judge = weighing.after(explain(kept))
    called = [i for i in kept if scores[i] >= weighing.threshold]
    clear = [i for i in called if scores[i] >= CLEAR * weighing.threshold]
    for i in called:
        if i not in clear and len(called) > len(clear) + 1:
            judge = weighing.after(explain(sorted([*clear, i])))
            scores[i] = min(scores[i], judge(masks[i], explain(_without(kept, i)))[0])
    return scores.tolist(), everything


def _without(kept: Sequence[int], which: int) -> list[int]:
    return [i for i in kept if i != which]
