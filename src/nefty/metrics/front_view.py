"""What a method shows from the front: its own mask and depth map where it has one, else the volume's projection."""

from __future__ import annotations

import numpy as np

from nefty.core.checks import one_of
from nefty.metrics.projection import Projection, project
from nefty.result.frame_evidence import FrameEvidence
from nefty.result.reconstruction import Reconstruction

#: ``"nefty"``: mask and depth to the top as the reconstruction itself shows them; ``"paper"``: its appendix H.3.
PROJECTIONS = ("nefty", "paper")


def front_view(found: Reconstruction, projection: str = "nefty", *, finer: int = 1) -> Projection:
    """Pixels with a defect, and its depth in the length unit of the grid.

    Args:
        found: by any method.
        projection: a name of ``PROJECTIONS``; a method's own map needs none.
        finer: pixels along each side that one of the grid becomes, where the frames were fitted by sheets, whose edges
            lie within pixels.
    """
    own = found.own_view
    if own is not None:
        return Projection(own.mask, own.depth)
    if one_of("projection", projection, PROJECTIONS) == "nefty":
        shown = found.frame_evidence
        if shown is not None and shown.of_sheets and finer > 1:
            return _of_sheets(shown, finer)
        return Projection(found.segmentation().footprint, found.depth_map())
    return project(found.alpha, found.grid, found.background, rule="paper-2d", depth="median", lateral=found.lateral)


def _of_sheets(shown: FrameEvidence, finer: int) -> Projection:
    """The sheets that are called, on finer pixels."""
    rows, columns = shown.labels.shape
    depth = np.full((finer * rows, finer * columns), np.nan)
    for number in reversed(shown.called):  # the clearest comes last, where two touch
        depth[shown.finer_footprint(number, finer)] = shown.regions[number - 1].depth
    return Projection(np.isfinite(depth), depth)
