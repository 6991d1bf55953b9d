"""How evidence is weighed: the section ``evidence`` of a recipe."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nefty.core.configuration import Part
from nefty.inversion.number_kinds import Count, Fraction, NotNegative, Positive

MOST_FALSE_CALLS = 10


class SheetSettings(Part):
    """The fit of a sheet of resistance to what stands out.

    layers: cells along z. steps: runs of the heat model in a fit, at most. variation: weight of the total variation of
    the insulation, in standard deviations of one pixel's. latest: Fourier number of the last frame that is fitted.
    around: thicknesses beside what stands out that are fitted along. grown: pixels by which what stands out is grown.
    contour: share of a region's insulation at which its edge lies. saddle: share of the lower of two hills below which
    the saddle between them parts them. faint: insulation that is none. smallest: pixels of a region.
    """

    layers: Count = 20
    steps: Count = 15
    variation: NotNegative = 10.0
    latest: Positive = 1.2
    around: NotNegative = 2.0
    grown: Count = 2
    contour: Fraction = 0.5
    saddle: Fraction = 0.7
    faint: Fraction = 0.05
    smallest: Count = 3


class EvidenceSettings(Part):
    """Whether the frames show a defect.

    regions: of what evidence is weighed: "sheets" that are fitted to what stands out, regions of the "volume" by the
    rule "default", or "none". false_calls: expected false indications in a sound part, which sets the threshold. doubt:
    share of what other regions explain that may be wrong. nearly: scores below the threshold from which on a region is
    shown as just missed. depths, widths: of the discs that are looked for, over the thickness and over their depth.
    edge: thicknesses from the frame's edge within which the scatter is that of the edge. sheet: the fit of sheets.
    """

    regions: Literal["sheets", "volume", "none"] = "none"
    false_calls: Annotated[float, Field(gt=0, le=MOST_FALSE_CALLS)] = 0.05
    doubt: NotNegative = 0.1
    nearly: NotNegative = 0.7
    depths: tuple[Fraction, ...] = (0.1, 0.16, 0.25, 0.37, 0.53, 0.75)
    widths: tuple[Positive, ...] = (1.3, 2.5, 5.0, 9.0)
    edge: NotNegative = 1.0
    sheet: SheetSettings = SheetSettings()
