"""The marks of one reconstruction, in one object."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nefty.core.checks import number
from nefty.metrics import volume
from nefty.metrics.edges import edge_f1
from nefty.metrics.projection import depth_score
from nefty.metrics.volume import BOUNDS, THRESHOLD, WINDOW


@dataclass(frozen=True)
class Score:
    """How close a reconstruction is to the truth (paper, appendix E.2), and what that was measured with.

    Args:
        mse: mean squared error of the diffusivity.
        psnr: in decibels, of the range ``bounds``; infinite for a perfect reconstruction.
        ssim: mean over the slices along z.
        iou: of the cells below ``threshold``.
        dice: of the same.
        threshold: diffusivity below which a cell is defect.
        bounds: (low, high) of the diffusivity.
        window: side of the SSIM window in pixels.
        depth_mae: mean |error| of the depth to the top of the defect, over pixels with a defect in both volumes;
            ``None`` if there is no such pixel or the thickness is not known.
        depth_rmse: root mean square of the same.
        depth_recall: share of the pixels with a true defect where one was found; ``None`` if there is none, or no
            thickness.
        depth_abs_rel: mean |error| over the true depth, over pixels with a defect in both that is below the face.
        depth_delta1: share of these pixels whose depths differ by a factor below 1.25.
        depth_delta2: below 1.25^2.
        depth_delta3: below 1.25^3.
        mask_iou: of the pixels (y, x) with a cell below ``threshold`` under them.
        mask_dice: of the same.
        edge_f1: of the cells on the defects' edges; see ``nefty.metrics.edges``.
    """

    mse: float
    psnr: float
    ssim: float
    iou: float
    dice: float
    threshold: float = THRESHOLD
    bounds: tuple[float, float] = BOUNDS
    window: int = WINDOW
    depth_mae: float | None = None
    depth_rmse: float | None = None
    depth_recall: float | None = None
    depth_abs_rel: float | None = None
    depth_delta1: float | None = None
    depth_delta2: float | None = None
    depth_delta3: float | None = None
    mask_iou: float | None = None
    mask_dice: float | None = None
    edge_f1: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"IoU {self.iou:.3f}, Dice {self.dice:.3f} (alpha < {self.threshold:g})",
            f"PSNR {self.psnr:.2f} dB, MSE {self.mse:.3e} (range {self.bounds[0]:g} to {self.bounds[1]:g})",
            f"SSIM {self.ssim:.3f} (slices along z, {self.window} x {self.window} window)",
        ]
        if self.mask_iou is not None and self.mask_dice is not None:
            lines.append(f"seen from the front: IoU {self.mask_iou:.3f}, Dice {self.mask_dice:.3f}")
        if self.edge_f1 is not None:
            lines.append(f"edges: F1 {self.edge_f1:.3f}")
        if self.depth_mae is not None and self.depth_rmse is not None:
            lines.append(
                f"depth to the top: mean error {self.depth_mae:.3g}, RMSE {self.depth_rmse:.3g}, "
                f"on {self.depth_recall:.0%} of the defects' pixels"
            )
        if self.depth_abs_rel is not None and self.depth_delta1 is not None:
            lines[-1] += (
                f"; relative error {self.depth_abs_rel:.3g}, within a factor of 1.25 on {self.depth_delta1:.0%}"
            )
        return "\n".join(lines)


def evaluate(
    reconstruction: Any,
    truth: Any,
    *,
    threshold: float = THRESHOLD,
    bounds: tuple[float, float] = BOUNDS,
    window: int = WINDOW,
    thickness: float | None = None,
) -> Score:
    """Score a reconstruction against the true diffusivity.

    Args:
        reconstruction: a volume (z, y, x), or anything that has one as ``.alpha``.
        truth: the true volume (z, y, x), on the same grid.
        threshold: diffusivity below which a cell is defect.
        bounds: (low, high), the range of diffusivities for PSNR and SSIM.
        window: side of the SSIM window in pixels, odd.
        thickness: of the part, for the errors in depth; that of the reconstruction's ``.grid`` if it has one.
    """
    alpha, truth = volume.checked_pair(getattr(reconstruction, "alpha", reconstruction), truth)
    threshold = number("threshold", threshold)
    if thickness is None and hasattr(reconstruction, "grid"):
        thickness = reconstruction.grid.size[0]
    found, true = alpha < threshold, truth < threshold
    front = [np.asarray(defect.any(axis=0)) for defect in (found, true)]
    depth = {}
    if thickness is not None:
        tops = (volume.depth_to_top(values, thickness, threshold=threshold) for values in (alpha, truth))
        depth = {f"depth_{name}": value for name, value in asdict(depth_score(*tops)).items()}
    return Score(
        mse=volume.mse(alpha, truth),
        psnr=volume.psnr(alpha, truth, bounds=bounds),
        ssim=volume.ssim(alpha, truth, bounds=bounds, window=window),
        iou=volume.mask_iou(found, true),
        dice=volume.mask_dice(found, true),
        threshold=threshold,
        bounds=(float(bounds[0]), float(bounds[1])),
        window=window,
        mask_iou=volume.mask_iou(*front),
        mask_dice=volume.mask_dice(*front),
        edge_f1=edge_f1(alpha, truth, threshold=threshold),
        **depth,
    )
