"""Specimens of the paper's kind as the truth that parts of the test bed are judged by."""

from __future__ import annotations

import math

import numpy as np

from nefty.core.grid import Grid
from nefty.synth.parts.recorded import TrueDefect, Truth
from nefty.synth.specimen import Specimen


def truth_of_specimen(specimen: Specimen, grid: Grid) -> Truth:
    """What is true of a specimen by its geometry, which lies on no cells; lengths and resistances have no units.

    Depths are those of the uppermost points. Every defect counts as visible: noise is low where specimens are judged,
    and in half of them there is none.

    Args:
        specimen: with its defects.
        grid: whose pixels the masks are on, by their centres.
    """
    _, y, x = grid.centres()
    labels, depth = np.zeros(grid.shape[1:], dtype=np.int32), np.full(grid.shape[1:], np.nan)
    for label, defect in sorted(
        enumerate(specimen.defects, 1), key=lambda one: -one[1].top
    ):  # the upper hides the lower
        own = defect.inside(np.asarray(defect.centre[0]), y, x)[0]
        labels[own], depth[own] = label, defect.top
    found = [
        TrueDefect(
            label=label,
            kind=defect.shape,
            depth=defect.top,
            width_over_depth=2 * min(defect.radii[1:]) / defect.top if defect.top > 0 else math.inf,
            visibility=math.inf,
            resistance=specimen.resistance(defect),
        )
        for label, defect in enumerate(specimen.defects, 1)
    ]
    return Truth(labels, depth, tuple(found))
