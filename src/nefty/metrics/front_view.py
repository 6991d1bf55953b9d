"""What a method shows from the front: its own mask and depth map where it has one, else the volume's projection."""

from __future__ import annotations

from nefty.core.checks import one_of
from nefty.metrics.projection import Projection, project
from nefty.result.reconstruction import Reconstruction

#: ``"nefty"``: mask and depth to the top as the reconstruction itself shows them; ``"paper"``: its appendix H.3.
PROJECTIONS = ("nefty", "paper")


def front_view(found: Reconstruction, projection: str = "nefty") -> Projection:
    """Pixels with a defect, and its depth in the length unit of the grid.

    Args:
        found: by any method.
        projection: a name of ``PROJECTIONS``; a method's own map needs none.
    """
    own = found.own_view
    if own is not None:
        return Projection(own.mask, own.depth)
    if one_of("projection", projection, PROJECTIONS) == "nefty":
        return Projection(found.segmentation().footprint, found.depth_map())
    return project(found.alpha, found.grid, found.background, rule="paper-2d", depth="median", lateral=found.lateral)
