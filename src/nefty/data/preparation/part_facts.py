"""What a reconstruction needs to know of the part besides the frames: material, pulse, heat losses. All in SI."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import digest
from nefty.data.facts import METRE, Step
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.materials import Material
from nefty.physics.pulses import LASTING, TopHatPulse

FLASH_LAMP = 5e-3  # s, how long a flash lamp shines, where nobody says
STILL_AIR = 10.0  # W/m2K, convection and radiation near room temperature
WIDE, TOO_WIDE = 10.0, 100.0  # pixel over thickness: a film may have the first, a slip of the unit makes the second
SMALL, TOO_SMALL = 1.0, 0.01  # the picture's longer side over the thickness, the same


def describe_part(
    sequence: Sequence,
    *,
    material: Material | None = None,
    alpha: float | None = None,
    pulse: float | None = None,
    heating: HeatingCurve | None = None,
    losses: bool = True,
) -> tuple[Sequence, tuple[Step, ...]]:
    """A recording in metres and seconds with what is known of its part.

    What the file says of pulse and losses stays, unless it is given here.

    Args:
        sequence: the recording; its size is in metres.
        material: of the part; that of the file, if it says so, where not given.
        alpha: through-thickness diffusivity in m2/s, in place of the material's; the ratios of the axes stay.
        pulse: how long the heating lasted, in s.
        heating: its course, instead.
        losses: whether heat is lost at both faces, where the file does not say.

    Returns:
        The recording with material, excitation and boundary; and what was done.
    """
    simulated = stated_material(sequence)
    found, material_said = _material(material or simulated, alpha, by_file=material is None)
    changed: dict[str, Any] = {}
    facts = sequence.facts.replaced(units=dataclasses.replace(sequence.facts.units, length=METRE, time="s"))
    steps = [step for step in (_proportions(sequence), material_said) if step is not None]
    if found is not None:
        facts = facts.replaced(material=found, material_source="file" if material is None else "given")
        changed["anisotropy"] = found.anisotropy
    excitation, said = _pulse(sequence, pulse) if heating is None else _heating(sequence, pulse, heating)
    changed["excitation"] = excitation
    steps.append(said)
    changed["boundary"], said = _losses(sequence, found, losses)
    steps.append(said)
    return dataclasses.replace(sequence, **changed, facts=facts.done(*steps)), tuple(steps)


def stated_material(sequence: Sequence) -> Material | None:
    """The material that the file itself names, by an earlier preparation or the table of a simulation."""
    if sequence.facts.material is not None:
        return sequence.facts.material
    table = sequence.facts.origin.parameters
    if not {"k1_mat", "k2_mat", "k3_mat", "rho_mat", "cp_mat"} <= table.keys():
        return None
    heat = table["rho_mat"] * table["cp_mat"]
    alphas = {axis: table[f"k{i}_mat"] / heat for axis, i in (("alpha_x", 1), ("alpha_y", 2), ("alpha_z", 3))}
    return Material(name="as simulated", rho=table["rho_mat"], cp=table["cp_mat"], note="the simulation's", **alphas)


def _proportions(sequence: Sequence) -> Step | None:
    """Whether pixel and thickness, in m, can belong to one part; None if nothing is odd.

    Heat spreads sideways by about the thickness until the back wall shows: a pixel far wider than that shows no edge of
    any defect, and a picture narrower than that no sound part beside one.

    Raises:
        InputError: the two differ so much that a unit must be wrong.
    """
    if sequence.size is None:
        return None
    thickness, *face = sequence.size
    pixel, side = max(length / n for length, n in zip(face, sequence.shape[1:], strict=True)), max(face)
    said = f"{1e3 * pixel:.4g} mm of the part, {1e3 * thickness:.4g} mm thick"
    if pixel > WIDE * thickness:
        text = f"A pixel shows {said}: {pixel / thickness:.3g} times the thickness"
    elif side < SMALL * thickness:
        text = f"A pixel shows {said}, and the whole picture {1e3 * side:.4g} mm, less than the thickness"
    else:
        return None
    if pixel > TOO_WIDE * thickness or side < TOO_SMALL * thickness:
        raise InputError(f"{text}; check pixel and thickness and their units, such as 0.2 mm.")
    values = {"pixel": pixel, "thickness": thickness}
    return Step(
        "proportions", f"{text}; taken as given. Check pixel and thickness and their units.", values, assumed=True
    )


def _material(material: Material | None, alpha: float | None, *, by_file: bool) -> tuple[Material | None, Step | None]:
    if material is None and alpha is None:
        return None, None
    if material is None:
        value = number("alpha", alpha, above=0)
        material = Material(name="given", alpha_z=value, alpha_y=value, alpha_x=value, note="alpha as given")
        text = f"Diffusivity {value:.4g} m2/s as given, taken as the same along all axes for want of a material."
        return material, Step("material", text, {"name": "given", "alpha_z": value}, assumed=True)
    own = ""
    if alpha is not None:
        factor = number("alpha", alpha, above=0) / material.alpha_z
        scaled = {axis: factor * getattr(material, axis) for axis in ("alpha_z", "alpha_y", "alpha_x")}
        material = material.model_copy(update=scaled)
        own = ", through the thickness as given"
    z, y, x = material.alpha_z, material.alpha_y, material.alpha_x
    how = "as the file says" if by_file else "as given"
    text = f"{material.name}, {how}: {z:.4g} m2/s through the thickness (z), {y:.4g} (y), {x:.4g} (x){own}."
    text += "" if by_file else " A table value is a start; the inversion calibrates it and keeps the ratios."
    return material, Step("material", text, {"name": material.name, "alpha_z": z, "alpha_y": y, "alpha_x": x})


def _pulse(sequence: Sequence, pulse: float | None) -> tuple[Any, Step]:
    own = sequence.excitation
    if pulse is not None:
        length = number("pulse", pulse, above=0)
        kept = dataclasses.replace(own, duration=length) if isinstance(own, TopHatPulse) else None
        said = Step("pulse", f"The heating lasts {1e3 * length:g} ms, as given.", {"duration": length})
        return kept or TopHatPulse(amplitude=1.0, duration=length), said
    if own is not None:
        values = {"duration": own.duration} if isinstance(own, LASTING) else {}
        length = f"a pulse of {1e3 * own.duration:g} ms" if isinstance(own, LASTING) else type(own).__name__
        return own, Step("pulse", f"The heating is {length}, as the file says.", values)
    text = f"The heating is assumed to last {1e3 * FLASH_LAMP:g} ms, like that of a flash lamp."
    return TopHatPulse(amplitude=1.0, duration=FLASH_LAMP), Step("pulse", text, {"duration": FLASH_LAMP}, assumed=True)


def _heating(sequence: Sequence, pulse: float | None, heating: HeatingCurve) -> tuple[HeatingCurve, Step]:
    """The course of the heating as given, with amplitude and profile of the file's where it states a pulse."""
    if pulse is not None:
        raise InputError("pulse and heating were both given; the curve says how long the heating lasts.")
    own = sequence.excitation
    if isinstance(own, LASTING):
        heating = dataclasses.replace(heating, amplitude=own.amplitude, profile=own.profile)
    end, points = heating.start + heating.duration, len(heating.times)
    text = f"The heating follows a curve of {points} points from {heating.start:.3g} to {end:.3g} s, as given."
    curve = digest(np.array([heating.times, heating.values]))
    return heating, Step("pulse", text, {"duration": heating.duration, "start": heating.start, "curve": curve})


def _losses(sequence: Sequence, material: Material | None, losses: bool) -> tuple[Boundary, Step]:
    own = sequence.boundary
    if not losses:
        return dataclasses.replace(own, front="adiabatic", back="adiabatic", h_front=0.0, h_back=0.0), Step(
            "losses", "The faces lose no heat, as given.", {"h_front": 0.0, "h_back": 0.0}
        )
    stated = bool(sequence.facts.origin.parameters) or "robin" in (own.front, own.back)
    values = {"h_front": own.h_front, "h_back": own.h_back}
    if stated:
        return own, Step("losses", "Heat losses and sides are those that the file states.", values)
    if material is None or material.rho is None or material.cp is None:
        text = "The faces are assumed to lose no heat: density and specific heat of the material are not known."
        return Boundary(lateral="adiabatic"), Step("losses", text, {"h_front": 0.0, "h_back": 0.0}, assumed=True)
    h = material.loss(STILL_AIR)
    text = (
        f"Both faces are assumed to lose {STILL_AIR:g} W/m2K, as in still air (over rho c: {h:.3g} m/s); that is a "
        "start, which the inversion calibrates."
    )
    boundary = Boundary(lateral="adiabatic", front="robin", back="robin", h_front=h, h_back=h)
    return boundary, Step("losses", text, {"h_front": h, "h_back": h, "h": STILL_AIR}, assumed=True)
