"""Every figure nefty draws, by name: import from here."""

from nefty.report.curves import Curve, contrast_curve, decay_curves, peak
from nefty.report.maps import View, map_row, plan_and_section
from nefty.report.sliders import Stack, frames_slider, slices_slider
from nefty.report.style import DIFFERENCE, DIFFUSIVITY, TEMPERATURE, Scale, Units

__all__ = [
    "DIFFERENCE",
    "DIFFUSIVITY",
    "TEMPERATURE",
    "Curve",
    "Scale",
    "Stack",
    "Units",
    "View",
    "contrast_curve",
    "decay_curves",
    "frames_slider",
    "map_row",
    "peak",
    "plan_and_section",
    "slices_slider",
]
