"""The paper's three adaptations to real plates (appendix H.2), for methods that know its unitless numbers only.

1. A near-uniform flash T0 = A exp(-z^2/(2 w_z^2)), A from the first frame. 2. Lengths over L0 and times over a unit of
time, so that alpha_sim = alpha t_unit/L0^2 (the Fourier number). 3. A Robin condition with h on the back face.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from nefty.core.configuration import Part
from nefty.core.errors import InputError
from nefty.data.facts import Note, NoteKind, Units
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.materials import Material
from nefty.physics.pulses import UniformFlash

Positive = Annotated[float, Field(gt=0)]


class Adaptation(Part):
    """How a plate becomes unitless.

    flash_depth: w_z, as a share of the thickness. amplitude: A, to which the frames are scaled. length: L0 in m;
    "thickness" makes the plate 1 thick like the paper's slab, so that PVC has its diffusivities; the paper writes
    0.1, which makes alpha 0.002. span: time of the last frame; the paper's slab has 5, its appendix 1. h_back: of the
    back face in W/m2K, 0 for adiabatic; the paper calibrates it and does not say it. sides: of the cropped plate.
    """

    flash_depth: Positive = 0.05
    amplitude: Positive = 100.0
    length: Literal["thickness"] | Positive = "thickness"
    span: Positive = 5.0
    h_back: float = Field(default=10.0, ge=0)
    sides: Literal["adiabatic", "periodic"] = "adiabatic"


def adapted(sequence: Sequence, how: Adaptation, material: Material) -> tuple[Sequence, float]:
    """The recording in unitless numbers, and L0 in m, by which its depths are multiplied.

    Args:
        sequence: rises after the flash, in SI units.
        how: the three adaptations.
        material: of the plate.
    """
    if sequence.size is None:
        raise InputError("a plate without a size cannot be made unitless; give pixel and thickness.")
    length = sequence.size[0] if how.length == "thickness" else float(how.length)
    unit = float(sequence.times[-1]) / how.span
    depth = how.flash_depth * sequence.size[0] / length
    alpha, first = material.alpha_z * unit / length**2, float(sequence.times[0]) / unit
    # A half space that starts as exp(-z^2/(2 w^2)) has the surface w/sqrt(w^2 + 2 alpha t).
    left = depth / np.sqrt(depth**2 + 2 * alpha * first)
    scale = how.amplitude * left / float(np.nanmedian(sequence.frames[0]))
    if not scale > 0:
        raise InputError("the first frame after the flash is not warmer than ambient; check the flash's frame.")
    h_back = material.loss(how.h_back) * unit / length if how.h_back else 0.0
    note = f"Unitless: lengths over {length:g} m, times over {unit:.4g} s, values times {scale:.4g}."
    return dataclasses.replace(
        sequence,
        frames=sequence.frames * np.asarray(scale, sequence.frames.dtype),
        times=sequence.times / unit,
        size=tuple(edge / length for edge in sequence.size),
        excitation=UniformFlash(how.amplitude, depth),
        boundary=Boundary(lateral=how.sides, back="robin" if h_back else "adiabatic", h_back=h_back),
        noise=None if sequence.noise is None else sequence.noise * scale,
        facts=sequence.facts.replaced(units=Units(), unit_length=length).noted(Note(NoteKind.OTHER, note)),
    ), length
