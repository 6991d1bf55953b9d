"""The calibration that a recipe names."""

from __future__ import annotations

from nefty.core.errors import InputError
from nefty.inversion.calibration.interface import Calibration
from nefty.inversion.calibration.layered import LayeredCalibration
from nefty.inversion.calibration.none import NoCalibration
from nefty.inversion.calibration.real_part import RealPartCalibration
from nefty.inversion.calibration.whole_part import WholePart
from nefty.inversion.observation import Observation
from nefty.inversion.recipe import Recipe
from nefty.physics.heat_model import HeatModel


def calibrate(
    recipe: Recipe, model: HeatModel, seen: Observation, alpha: float | None = None, whole: WholePart | None = None
) -> Calibration:
    """Calibrate a part as the recipe says.

    Args:
        recipe: how.
        model: of the part, as it is described.
        seen: the recording.
        alpha: diffusivity of the material through the thickness, if it is known.
        whole: the part of which the recording shows a piece, as it was calibrated.
    """
    settings = recipe.calibration
    if whole is not None and settings.background != "part":
        raise InputError(
            f"recipe {recipe.name!r} cannot take over the calibration of an overview; calibration.background must be "
            "part, as in the recipe real."
        )
    if settings.background == "none":
        return NoCalibration(model, seen)
    if settings.background == "part":
        start = settings.start or alpha
        if start is None:
            raise InputError(
                "the material of the part is not known; give --material or --alpha (material=, alpha= of nefty.load), "
                "Sequence(facts=nefty.Facts(material=...)), or calibration.start in the unit of the recording."
            )
        return RealPartCalibration(model, seen, start, settings, floor=recipe.noise.floor, whole=whole)
    return LayeredCalibration.fitted(model, seen, settings)
