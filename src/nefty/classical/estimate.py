"""A depth under each pixel, in one shape for all methods, and how it becomes a volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.core.grid import Grid


@dataclass(frozen=True, eq=False)
class DepthEstimate:
    """What a classical method says about depth.

    Args:
        depth: (y, x) in the length unit of the diffusivity; NaN where the method found none.
        mask: (y, x), the pixels the method itself calls defect; ``None`` if it only gives depths, as those that see
            the back face under sound pixels do.
        name: of the method.
        note: relation and constants that were used.
        clear: how clearly a defect shows, (y, x), 1 at the method's own threshold: ``half_maximum(clear, 2)`` is the
            mask at twice of it; ``None`` if it has none.
    """

    depth: np.ndarray
    mask: np.ndarray | None
    name: str
    note: str = ""
    clear: np.ndarray | None = None

    def shallower(self, ratio: float = 0.85) -> DepthEstimate:
        """The same with a mask, if there was none: depth below ``ratio`` times the median depth.

        Right where defects cover less than half of the pixels and the others see the back face.
        """
        if self.mask is not None:
            return self
        ratio = number("ratio", ratio, above=0)
        found = self.depth[np.isfinite(self.depth)]
        limit = ratio * float(np.median(found)) if found.size else 0.0
        note = f"{self.note}; defect where shallower than {ratio:g} of the median depth, {limit:.4g}"
        clear = limit / np.where(self.depth > 0, self.depth, np.nan)
        return DepthEstimate(self.depth, self.depth < limit, self.name, note, clear)


def lift(estimate: DepthEstimate, grid: Grid, bulk: Any, defect: float, thickness: float | None = None) -> np.ndarray:
    """A volume (z, y, x) out of a depth map, to be scored like a reconstruction.

    Under a pixel of the mask, the cells whose centres lie between ``depth`` and ``depth + thickness`` get the
    diffusivity ``defect``, but at least the one that holds ``depth``; all others are ``bulk``. A depth below the part
    changes nothing. A depth map knows nothing of the thickness or the diffusivity of a defect: both are assumptions,
    the same for all defects. The paper lifts no classical method, and compares depth maps only.

    Args:
        estimate: one pixel per column of cells; without a mask, see ``DepthEstimate.shallower``.
        grid: the cells.
        bulk: diffusivity of the background, one number or one per layer, (z,).
        defect: diffusivity of defects.
        thickness: of defects, in length units; down to the back face if not given.
    """
    if estimate.depth.shape != grid.shape[1:]:
        raise InputError(f"the depth map has shape {estimate.depth.shape}, the grid {grid.shape[1:]} (y, x).")
    layers = np.asarray(bulk, dtype=np.float64)
    if layers.shape not in ((), grid.shape[:1]) or not (np.isfinite(layers) & (layers > 0)).all():
        raise InputError(f"bulk={bulk!r} must be a diffusivity above 0, or one per layer, {grid.shape[:1]}.")
    defect = number("defect", defect, above=0)
    thickness = None if thickness is None else number("thickness", thickness, above=0)
    volume = np.broadcast_to(layers[..., None, None], grid.shape).copy()
    dz = grid.spacing[0]
    mask: Any = estimate.shallower().mask
    top = np.where(mask, estimate.depth, np.inf)
    z = grid.centres()[0]
    bottom = np.inf if thickness is None else top + thickness
    inside = (z >= top) & (z < bottom)
    holds = (z - dz / 2 <= top) & (top < z + dz / 2)
    volume[inside | holds] = defect
    return volume


def needed(alpha: float | None, what: str) -> float:
    """The diffusivity, or an error that says what it is for."""
    if alpha is None:
        raise _no_alpha(what)
    return number("alpha", alpha, above=0)


def known(depth: np.ndarray | None, what: str) -> np.ndarray:
    """The depth, or an error that says why there is none."""
    if depth is None:
        raise _no_alpha(what)
    return depth


def _no_alpha(what: str) -> InputError:
    return InputError(
        f"{what} needs the diffusivity through the thickness; give alpha (on the command line: give --alpha)."
    )
