"""The marks of one reconstruction, in one object."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nefty.metrics import volume
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

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"IoU {self.iou:.3f}, Dice {self.dice:.3f} (alpha < {self.threshold:g})",
            f"PSNR {self.psnr:.2f} dB, MSE {self.mse:.3e} (range {self.bounds[0]:g} to {self.bounds[1]:g})",
            f"SSIM {self.ssim:.3f} (slices along z, {self.window} x {self.window} window)",
        ]
        if self.depth_mae is not None and self.depth_rmse is not None:
            lines.append(
                f"depth to the top: mean error {self.depth_mae:.3g}, RMSE {self.depth_rmse:.3g}, "
                f"on {self.depth_recall:.0%} of the defects' pixels"
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
    if thickness is None and hasattr(reconstruction, "grid"):
        thickness = reconstruction.grid.size[0]
    depth = {} if thickness is None else _depth_errors(alpha, truth, threshold, thickness)
    return Score(
        mse=volume.mse(alpha, truth),
        psnr=volume.psnr(alpha, truth, bounds=bounds),
        ssim=volume.ssim(alpha, truth, bounds=bounds, window=window),
        iou=volume.iou(alpha, truth, threshold=threshold),
        dice=volume.dice(alpha, truth, threshold=threshold),
        threshold=float(threshold),
        bounds=(float(bounds[0]), float(bounds[1])),
        window=window,
        **depth,
    )


def _depth_errors(alpha: np.ndarray, truth: np.ndarray, threshold: float, thickness: float) -> dict[str, float]:
    """The depth fields of a ``Score`` that are defined."""
    found = volume.depth_to_top(alpha, thickness, threshold=threshold)
    true = volume.depth_to_top(truth, thickness, threshold=threshold)
    errors = (found - true)[np.isfinite(found) & np.isfinite(true)]
    pixels = int(np.count_nonzero(np.isfinite(true)))
    fields: dict[str, float] = {}
    if pixels:
        fields["depth_recall"] = float(errors.size / pixels)
    if errors.size:
        fields["depth_mae"] = float(np.mean(np.abs(errors)))
        fields["depth_rmse"] = float(np.sqrt(np.mean(errors**2)))
    return fields
