"""Every figure nefty draws, by name: import from here."""

from nefty.report.figures.convergence import convergence
from nefty.report.figures.curves import Curve
from nefty.report.figures.cuts import Cut, cut_rows
from nefty.report.figures.depth_profile import depth_profile
from nefty.report.figures.fit_curves import fit_curves
from nefty.report.figures.front_maps import DepthMap, depth_maps
from nefty.report.figures.sliders import Stack, frames_slider, slices_slider, stack_slider
from nefty.report.figures.style import DEPTH, DIFFERENCE, DIFFUSIVITY, TEMPERATURE, AxisUnits, Scale
from nefty.report.figures.surfaces import Body, defect_surfaces, depth_stretch

__all__ = [
    "DEPTH",
    "DIFFERENCE",
    "DIFFUSIVITY",
    "TEMPERATURE",
    "AxisUnits",
    "Body",
    "Curve",
    "Cut",
    "DepthMap",
    "Scale",
    "Stack",
    "convergence",
    "cut_rows",
    "defect_surfaces",
    "depth_maps",
    "depth_profile",
    "depth_stretch",
    "fit_curves",
    "frames_slider",
    "slices_slider",
    "stack_slider",
]
