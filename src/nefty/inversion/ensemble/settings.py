"""How sure a result is: the section ``ensemble`` of a recipe."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from nefty.core.configuration import Part
from nefty.inversion.number_kinds import Count, Fraction, NotNegative, Positive

MOST_MEMBERS = 1000


class EnsembleSettings(Part):
    """Refits with perturbed frames and facts; widths are standard deviations of what users state.

    members: how many refits; 0 for none. steps: trials of a region's refit after its slopes. iterations: of the last
    stage in the refit of a volume. thickness, diffusivity, pulse: shares of what was stated. ratio: of the logarithm of
    the ratios of diffusivities, where these are not 1. losses: factor less 1 by which heat losses may be larger or
    smaller. start: frames by which the heat may have come sooner or later, at most. gain: share by which the gains of
    pixels are off. model_error: factor on what the first fit leaves unexplained beyond the camera's noise. alike:
    thicknesses over which such errors are alike. penalties: factor less 1 by which their weight may be larger or
    smaller in the refit of a volume: nobody knows it, and what the frames do not show is decided by it.
    """

    members: Annotated[int, Field(ge=0, le=MOST_MEMBERS)] = 0
    steps: Count = 4
    iterations: Count = 15
    thickness: NotNegative = 0.02
    diffusivity: NotNegative = 0.1
    ratio: NotNegative = 0.2
    pulse: NotNegative = 0.2
    losses: NotNegative = 1.0
    start: Fraction = 0.5
    gain: NotNegative = 0.01
    model_error: NotNegative = 1.0
    alike: Positive = 1.0
    penalties: NotNegative = 1.0

    @field_validator("members")
    @classmethod
    def _tell_a_spread(cls, members: int) -> int:
        if members == 1:
            raise ValueError("one member tells no spread; give 0 for none, or 2 or more")
        return members
