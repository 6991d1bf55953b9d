"""A part of the test bed, calibrated as ``nefty reconstruct`` does it: what the search for indications begins with."""

from __future__ import annotations

from dataclasses import dataclass

from nefty.bench.parts.recording import TrialPart
from nefty.data.sequence import Sequence
from nefty.inversion.build import build_model
from nefty.inversion.calibration.choice import calibrate
from nefty.inversion.calibration.real_part import RealPartCalibration
from nefty.inversion.evidence.weigh import sound_part
from nefty.inversion.evidence.weighing import SoundPart
from nefty.inversion.recipe import Recipe, load_recipe
from nefty.inversion.reconstruct import alpha_of_material, observe


@dataclass(frozen=True)
class CalibratedPart:
    """A recording and what calibration makes of it.

    Args:
        sequence: the prepared frames after the flash.
        recipe: ``real``.
        known: the calibration.
        part: what evidence is weighed against.
    """

    sequence: Sequence
    recipe: Recipe
    known: RealPartCalibration
    part: SoundPart


def calibrated_part(kind: str, seed: int, pixels: int | None = None) -> CalibratedPart:
    """Calibrate a part of the test bed by the recipe ``real``.

    Args:
        kind: "drawn", "sound" or "flawed".
        seed: of the part.
        pixels: along each side of the frame; drawn if not given.
    """
    recipe = load_recipe("real")
    sequence = TrialPart(pixels=pixels).given(kind, seed, "prepared").after_flash()
    model = build_model(sequence, recipe)
    seen, _ = observe(sequence, model, recipe)
    known = calibrate(recipe, model, seen, alpha_of_material(sequence))
    assert isinstance(known, RealPartCalibration)
    return CalibratedPart(sequence, recipe, known, sound_part(known))
