"""Which code finds indications: what was measured of them holds for it alone.

Indications that are sheets come before the volume, so that only the search decides them. Those that are regions of a
volume are decided by all that fits it, by the settings of the recipe, and by the rule that marks its cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nefty.core.code_version import meaning_of
from nefty.core.storage.hdf5 import digest
from nefty.inversion.evidence.null import FEW, threshold

if TYPE_CHECKING:
    from nefty.inversion.recipe import Recipe

#: Packages that decide which sheets are found, how deep, how large and how resistive.
OF_SHEETS = ("nefty.inversion.evidence", "nefty.inversion.calibration", "nefty.physics")
#: The same of regions of a volume.
OF_VOLUMES = (
    *("nefty.inversion", "nefty.physics", "nefty.fields"),
    *("nefty.data.dead_pixels", "nefty.data.described_model", "nefty.data.noise", "nefty.result.frame_evidence"),
    *(f"nefty.result.indications.{name}" for name in ("by_evidence", "components", "crossings", "indication")),
    "nefty.result.indications.segmentation",
)
_SHEETS_ONLY = ("columns", "curvature", "descent", "find", "fitted_sheet", "hills", "limits", "second_look", "shapes")
_PARTS_ONLY = ("none", "prior", "real_part", "sound_decay", "sound_shape", "whole_part")
#: What of these no volume of cells is decided by: a test watches which modules a reconstruction runs through. What
#: ``evidence.settings`` says is among the settings.
NOT_OF_VOLUMES = (
    *(f"nefty.inversion.evidence.{name}" for name in (*_SHEETS_ONLY, "sheets", "settings")),
    *(f"nefty.inversion.calibration.{name}" for name in _PARTS_ONLY),
    *(f"nefty.inversion.{name}" for name in ("ensemble", "indication_code", "seen", "suspects", "tiles")),
)
#: What decides a volume only where a network is fitted.
OF_NETWORKS = ("nefty.fields.neural", "nefty.fields.encoding", "nefty.inversion.network_start")
#: Thresholds of all rates of false calls: the one of the default rate counts, by its value.
THRESHOLDS = ("nefty.inversion.evidence.null",)
#: Settings of a recipe that decide no volume, or that are of sheets and real parts.
NO_SETTINGS: dict[str, frozenset[str] | None] = {
    **dict.fromkeys(("name", "summary", "seed", "ensemble", "suspects")),
    "stop": frozenset({"seconds"}),  # a run that the clock has ended has no intervals
    "calibration": frozenset({"decay", "part"}),
    "evidence": frozenset({"sheet"}),
}


def code_of_indications(recipe: Recipe) -> str:
    """Hash of what decides the indications of a recipe; libraries, comments, docstrings and layout do not count."""
    if recipe.evidence.regions == "sheets":
        return digest(meaning_of(*OF_SHEETS, without=THRESHOLDS), threshold(FEW))[:16]
    without = (*NOT_OF_VOLUMES, *THRESHOLDS, *(() if recipe.field.kind == "neural" else OF_NETWORKS))
    return digest(meaning_of(*OF_VOLUMES, without=without), threshold(FEW), _settings(recipe))[:16]


def _settings(recipe: Recipe) -> dict[str, Any]:
    """All that count."""
    left_out: dict[str, Any] = {name: True if own is None else set(own) for name, own in NO_SETTINGS.items()}
    return recipe.model_dump(mode="json", exclude=left_out)
