"""Everything that decides a training, complete, and refusing what it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from nefty.core.configuration import Part, explain, nested
from nefty.core.errors import InputError

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
ARCHITECTURES = ("unet", "swin-unetr")


class Input(Part):
    """How a recording becomes what a network sees.

    slices: means of the recording over stretches of time, which the network turns into as many layers of cells.
    spacing: "depth" spaces them evenly in the square root of time, so that each shows the heat at about the depth of
    the layer it becomes; "time" evenly in time, as in the paper. values: "contrast" gives two channels, the logarithm
    of the decay since the first frame against that of the middle pixel, and the latter; "frames" the temperatures over
    their peak, as in the paper.
    """

    slices: Count = 16
    spacing: Literal["depth", "time"] = "depth"
    values: Literal["contrast", "frames"] = "contrast"

    @property
    def channels(self) -> int:
        """How many the network sees."""
        return 2 if self.values == "contrast" else 1


class Training(Part):
    """A complete description of a training.

    levels: features of the U-Net's levels. features: of Swin-UNETR's first one. strata: let the middle pixel's decay
    tell of the layers past the network's normalisations, which the paper's networks do not. low, high: ends of the
    sigmoid. batch: recordings per step. rate: of Adam at its highest; it rises over the first ``warmup`` of all steps,
    and falls to zero as a cosine by the last. held_out: share of the recordings that only validates. patience: epochs
    without a better validation that end the training; 0 for none. mirrored: show each recording in one of its eight
    mirror images, drawn anew in every epoch. precision: of the convolutions; bfloat16 helps where the processor has it.
    """

    architecture: Literal["unet", "swin-unetr"] = "unet"
    levels: tuple[Count, ...] = Field(default=(32, 64, 128, 256), min_length=1)
    features: Count = 24
    strata: bool = True
    low: Positive = 0.003
    high: Positive = 0.25
    input: Input = Input()
    epochs: Count = 50
    batch: Count = 4
    rate: Positive = 1e-3
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.05
    decay: Annotated[float, Field(ge=0)] = 1e-4
    held_out: Annotated[float, Field(gt=0, lt=1)] = 0.1
    patience: Annotated[int, Field(ge=0)] = 0
    mirrored: bool = True
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _consistent(self) -> Training:
        if self.high <= self.low:
            raise ValueError(f"high={self.high:g} must be above low={self.low:g}")
        if self.architecture == "swin-unetr" and self.features % 12:
            raise ValueError(f"features={self.features} must divide by 12, as the attention heads of MONAI need")
        return self


def training_settings(changes: Mapping[str, Any] | None = None) -> Training:
    """The settings with some changed, by dotted keys such as ``{"epochs": 5, "input.spacing": "time"}``."""
    try:
        return Training.model_validate(nested(changes or {}))
    except ValidationError as error:
        raise InputError(f"training: {explain(error, Training)}") from None
