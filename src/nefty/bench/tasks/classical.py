"""The classical methods as rows of the benchmark: mask and depth map of their own, lifted to a volume.

A depth map knows neither the thickness nor the diffusivity of a defect. Both are assumed, the same for all defects, and
the marks of the volume (IoU, PSNR, SSIM) judge these assumptions as much as the method. Masks and depths do not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field, ValidationError

from nefty.bench.tasks.budget import Budget
from nefty.classical.estimate import lift
from nefty.classical.techniques import technique
from nefty.core.configuration import Part, explain
from nefty.core.errors import InputError, unknown_name
from nefty.core.grid import Grid
from nefty.core.provenance import provenance
from nefty.core.stopping import FINISHED
from nefty.data.preparation.sampling import evenly_in_log
from nefty.data.sequence import Sequence
from nefty.inversion.recipe import load_recipe
from nefty.result.own_view import OwnView
from nefty.result.reconstruction import Reconstruction

FRAMES = 60  # that are kept, to show beside those of the lifted volume
LAYERS = 16


class Settings(Part):
    """Of a row.

    technique: name in ``nefty.classical.techniques``. options: of its function. alpha: diffusivity through the
    thickness; that of the recording's material if not given, else fitted to the background as the volumes' methods do.
    contrast: bulk diffusivity over the defects', and thickness: of the defects as a share of the part's, both assumed
    for the volume; 0 is down to the back face. layers: of the volume, where the truth has none.
    """

    technique: str
    options: dict[str, Any] = Field(default_factory=dict)
    alpha: float | None = Field(default=None, gt=0)
    contrast: float = Field(default=15.0, gt=1)
    thickness: float = Field(default=0.0, ge=0, le=1)
    layers: int = Field(default=LAYERS, ge=2)


def settings(changes: Mapping[str, Any]) -> dict[str, Any]:
    """All settings; those that are not of the row are options of the method."""
    own = {key: value for key, value in changes.items() if key in Settings.model_fields}
    options = {key: value for key, value in changes.items() if key not in own}
    known = technique(own["technique"]).known_options()
    for name in options:
        if name not in known:
            raise unknown_name(f"setting of {own['technique']}", name, [*known, *Settings.model_fields])
    try:
        return Settings.model_validate({**own, "options": {**own.get("options", {}), **options}}).model_dump(
            mode="json"
        )
    except ValidationError as error:
        raise InputError(f"settings of {own['technique']}: {explain(error, Settings)}") from None


def reconstruct(sequence: Sequence, settings: Mapping[str, Any], budget: Budget) -> Reconstruction:
    """Mask and depth map of a classical method, and the volume lifted from them.

    Args:
        sequence: the recording.
        settings: as ``settings`` returns them.
        budget: not needed; these methods take seconds.
    """
    choice = Settings.model_validate(settings)
    layers = choice.layers if sequence.truth is None else sequence.truth.shape[0]
    grid = sequence.grid(layers)
    bulk, source = _diffusivity(sequence, choice, layers)
    estimate = technique(choice.technique).run(sequence, bulk, **choice.options).estimate().shallower()
    assert estimate.mask is not None
    alpha = lift(estimate, grid, bulk, bulk / choice.contrast, choice.thickness * grid.size[0] or None)
    shown = _some_frames(sequence.after_flash())
    return Reconstruction(
        grid=grid,
        alpha=alpha,
        background=np.full(layers, bulk),
        times=shown.times,
        measured=shown.frames,
        fitted=_as_bright(_simulated(shown, alpha, grid), shown.frames),
        recipe={"name": choice.technique, **choice.model_dump(mode="json")},
        provenance={**provenance(), "depth": estimate.note, "bulk diffusivity": bulk, "its source": source},
        stopped=FINISHED,
        bulk=bulk,
        truth=sequence.truth,
        lateral=sequence.boundary.lateral,
        own_view=OwnView(
            estimate.mask, np.where(estimate.mask, estimate.depth, np.nan), estimate.clear, estimate.depth
        ),
    )


def _diffusivity(sequence: Sequence, choice: Settings, layers: int) -> tuple[float, str]:
    """Of the background, and where the number is from."""
    from nefty.inversion.build import build_model
    from nefty.inversion.calibration.bulk import first_guess
    from nefty.inversion.calibration.layered import fit_layers
    from nefty.inversion.reconstruct import observe

    if choice.alpha is not None:
        return choice.alpha, "as given"
    material = sequence.facts.material
    if material is not None:
        return material.alpha_z, f"material {material.name}"
    recipe = load_recipe("fast", {"model.layers": layers})
    late = sequence.after_flash()
    model = build_model(late, recipe)
    seen, _ = observe(late, model, recipe)
    return fit_layers(model, seen, first_guess(model, seen), strata=1, flash=True).bulk, "fitted to the background"


def _some_frames(sequence: Sequence) -> Sequence:
    """At most ``FRAMES`` frames of the front, evenly in log t."""
    chosen = evenly_in_log(sequence.times, FRAMES)
    frames = sequence.frames[0] if sequence.observe == "both" else sequence.frames
    return dataclasses.replace(
        sequence, frames=frames[chosen], times=sequence.times[chosen], observe="front", noise=None
    )


def _simulated(sequence: Sequence, alpha: np.ndarray, grid: Grid) -> np.ndarray:
    """Frames (t, y, x) of a volume under the flash of the recording."""
    import torch

    from nefty.inversion.build import build_model

    model = build_model(sequence, load_recipe("fast", {"model.layers": grid.shape[0]}))
    return model(torch.from_numpy(alpha).to(model.dtype)).double().numpy()


def _as_bright(frames: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Frames times the one factor that brings them nearest to others: the strength of the flash is not known."""
    here = np.isfinite(measured)
    size = float(np.sum(frames[here] ** 2))
    return frames * (float(np.sum(frames[here] * measured[here])) / size if size > 0 else 1.0)
