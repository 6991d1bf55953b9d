"""What a method shows from the front: its own mask and depth map where it has one, else the volume's projection."""

from __future__ import annotations

from typing import Any

import numpy as np

from nefty.core.checks import one_of
from nefty.metrics.projection import Projection, project
from nefty.result.reconstruction import Reconstruction

#: Key of ``Reconstruction.meta``: mask and depth map of a method that knows no volume, by name.
OWN = "front_view"
#: ``"nefty"``: mask and depth to the top as the reconstruction itself shows them; ``"paper"``: its appendix H.3.
PROJECTIONS = ("nefty", "paper")


def own_view(mask: np.ndarray, depth: np.ndarray) -> dict[str, Any]:
    """Meta data of a method's own map."""
    return {OWN: {"mask": np.asarray(mask, dtype=np.uint8), "depth": np.where(mask, depth, np.nan)}}


def has_own_view(found: Reconstruction) -> bool:
    """Whether a method has a map of its own, so that its volume is only lifted from it."""
    return OWN in found.meta


def front_view(found: Reconstruction, projection: str = "nefty") -> Projection:
    """Pixels with a defect, and its depth in the length unit of the grid.

    Args:
        found: by any method.
        projection: a name of ``PROJECTIONS``; a method's own map needs none.
    """
    if has_own_view(found):
        own = found.meta[OWN]
        return Projection(np.asarray(own["mask"]) > 0, np.asarray(own["depth"], dtype=np.float64))
    if one_of("projection", projection, PROJECTIONS) == "nefty":
        return Projection(found.segmentation().footprint, found.depth_map())
    lateral = found.meta.get("lateral", "adiabatic")
    return project(found.alpha, found.grid, found.background, rule="paper-2d", depth="median", lateral=lateral)
