"""What speaks for a defect, beside its place and shape: pixel, size in a map, band of its depth, contrast and SNR."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nefty.core.errors import InputError
from nefty.result.frame_pixels import frame_pixels
from nefty.result.indications.depth_band import depth_band
from nefty.result.indications.detection_image import front_frames, heating, visibility
from nefty.result.indications.indication import Indication
from nefty.result.indications.intervals import LEVEL, Factors, Intervals, factors_for
from nefty.result.indications.segmentation import ByEvidence, Segmentation
from nefty.result.indications.sizing import DefectSize, deficit_map, size_defect, size_of_mask
from nefty.result.indications.surroundings import around, centring

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction


@dataclass(frozen=True)
class IndicationEvidence:
    """One defect as an inspector lists it; lengths in the grid's unit, NaN for what cannot be measured.

    Args:
        label: that of the ``Indication``.
        row: pixel of its centre in the frames as they were read, counted from 0 at the top.
        column: the same from the left.
        depth_low: least depth of the 90 % interval of ``depth_to_top``, where that was measured (``level``); else of
            the band around it (``depth_band``).
        depth_high: largest depth of it.
        fwhm_long: full width at half maximum of the map of missing diffusivity (``deficit_map``), along its longer
            axis; of a sheet, the axis of the ellipse with the area and proportions of its pixels.
        fwhm_short: along its shorter axis.
        angle: of the longer axis, in degrees from x towards y.
        fwhm_area: within the contour at half maximum.
        thermal_contrast: of its pixels over sound ones, in the unit of the frames, in its detection image.
        snr: 20 log10(|mean_d - mean_s| / sigma_s) in dB, in its detection image.
        frame: index of the frame behind that image; -1 if there is none.
        time: of that frame.
        at_rim: whether it touches the rim of the depths that were inspected, where the frames show little.
        level: probability with which each interval holds the truth; NaN where none was measured (``intervals``).
        diameter_low: of the interval of ``diameter``.
        diameter_high: of it.
        resistance_low: of the interval of ``resistance``, in its unit.
        resistance_high: of it.
        offset: distance from the true centre, at most.
    """

    label: int
    row: int
    column: int
    depth_low: float
    depth_high: float
    fwhm_long: float
    fwhm_short: float
    angle: float
    fwhm_area: float
    thermal_contrast: float
    snr: float
    frame: int
    time: float
    at_rim: bool
    level: float = math.nan
    diameter_low: float = math.nan
    diameter_high: float = math.nan
    resistance_low: float = math.nan
    resistance_high: float = math.nan
    offset: float = math.nan

    def with_intervals(self, held: Intervals, thickness: float) -> IndicationEvidence:
        """The same with measured intervals, depths within the part."""
        return replace(
            self,
            level=LEVEL,
            depth_low=held.depth[0],
            depth_high=min(held.depth[1], thickness),
            diameter_low=held.diameter[0],
            diameter_high=held.diameter[1],
            resistance_low=held.resistance[0],
            resistance_high=held.resistance[1],
            offset=held.offset,
        )


def find_evidence(rec: Reconstruction, defects: list[Indication], found: Segmentation) -> list[IndicationEvidence]:
    """The evidence for each defect, in their order.

    Args:
        rec: the reconstruction.
        defects: measured in it.
        found: the segmentation that they come from.
    """
    pixels = frame_pixels(rec.grid, rec.facts.window)
    frames, heated = front_frames(rec.measured), heating(front_frames(rec.fitted))
    factors, _ = interval_factors(rec, found)
    evidence = []
    for defect in defects:
        place = around(defect.label, found, rec.grid)
        row, column = pixels.pixel(*defect.centre[1:])
        low, high = depth_band(rec, defect, place)
        size, seen = _size(rec, defect.label, place.footprint, found), visibility(frames, heated, place)
        evidence.append(
            IndicationEvidence(
                label=defect.label,
                row=row,
                column=column,
                depth_low=low,
                depth_high=high,
                fwhm_long=size.fwhm[0] if size else math.nan,
                fwhm_short=size.fwhm[1] if size else math.nan,
                angle=size.angle if size else math.nan,
                fwhm_area=size.area if size else math.nan,
                thermal_contrast=seen.contrast if seen else math.nan,
                snr=seen.snr if seen else math.nan,
                frame=seen.frame if seen else -1,
                time=float(rec.times[seen.frame]) if seen else math.nan,
                at_rim=rec.reach is not None and rec.reach.has_at_rim(defect, rec.grid.spacing[0]),
            )
        )
        if factors is not None:
            evidence[-1] = evidence[-1].with_intervals(factors.intervals(defect), rec.grid.size[0])
    return evidence


def interval_factors(rec: Reconstruction, found: Segmentation) -> tuple[Factors | None, str]:
    """Factors of the intervals of a result's indications, or why there are none.

    Args:
        rec: the reconstruction.
        found: the segmentation that its indications come from.
    """
    if rec.frame_evidence is None or not isinstance(found.rule, ByEvidence):
        return None, "Intervals were measured for indications by evidence, and these come from another rule."
    if rec.stopped.cut_short and not rec.frame_evidence.of_sheets:  # sheets are found before the volume is fitted
        return None, "Intervals were measured on finished results, and this one was stopped before its end."
    return factors_for(rec.provenance, unitless=not rec.facts.units.length)


def _by_sheets(rec: Reconstruction, found: Segmentation) -> bool:
    """Whether indications are sheets that the frames show."""
    return rec.frame_evidence is not None and rec.frame_evidence.of_sheets and isinstance(found.rule, ByEvidence)


def _size(rec: Reconstruction, label: int, footprint: np.ndarray, found: Segmentation) -> DefectSize | None:
    """Size in the map of missing diffusivity, without that of other defects; of a sheet that of its pixels."""
    spacing = (rec.grid.spacing[1], rec.grid.spacing[2])
    if _by_sheets(rec, found):
        return size_of_mask(footprint, spacing)
    own = np.where((found.labels == label) | (found.labels == 0), rec.alpha, rec.background[:, None, None])
    shift = centring(footprint) if found.periodic else (0, 0)
    image, mask = (np.roll(a, shift, (0, 1)) for a in (deficit_map(own, rec.background), footprint))
    others = np.roll(found.footprint, shift, (0, 1))
    for sound in (None, 0.0):  # without sound pixels around it, sound is where nothing is missing
        try:
            return size_defect(image, mask, spacing, others=others, sound=sound)
        except InputError:
            continue
    return None
