"""The facts that a heat model was built from, and the same model with another value of one of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.pulses import LASTING, GaussianFlash, UniformFlash

#: Names of facts.
CLOCK = "time of the first frame after the flash"
ALONG = "diffusivity along {} over that through the thickness"
FACE_LOSS = "heat loss h of {}"
#: Which faces lose heat together, by words.
FACES_WITH_LOSS = {"the front": ("front",), "the back": ("back",), "both faces": ("front", "back")}
#: Factor by which a length, a strength, a ratio or the first time is taken to be wrong at most.
FARTHEST = 3.0


@dataclass(frozen=True, eq=False)
class StatedFact:
    """A fact as it was stated or assumed.

    Args:
        name: in words.
        quantity: what kind of number it is; see ``SuspectFact``.
        stated: its value.
        scale: a large change of it.
        lowest: value that it cannot be below.
        highest: nor above.
        model: the heat model with another value of it.
        least: smaller changes of it may come from the size of the cells.
    """

    name: str
    quantity: str
    stated: float
    scale: float
    lowest: float
    highest: float
    model: Callable[[float], HeatModel]
    least: float = 0.0

    def within(self, value: float) -> float:
        """The nearest value that it can have."""
        return min(max(value, self.lowest), self.highest)


def stated_facts(model: HeatModel, alpha: float, *, flash: bool = True) -> list[StatedFact]:
    """The facts of a model that may be wrong.

    Args:
        model: as it was described.
        alpha: diffusivity of the part; alpha/thickness is a large loss, and a cell is crossed in its thickness^2/alpha.
        flash: whether amplitude and depth of the flash were stated; they are left out where they were calibrated.
    """
    return [
        _thickness(model),
        *(_flash(model) if flash else []),
        *_width(model),
        _clock(model, alpha),
        *(_loss(model, words, alpha / model.grid.size[0]) for words in FACES_WITH_LOSS),
        *(_along(model, axis) for axis in (1, 2)),
    ]


def _thickness(model: HeatModel) -> StatedFact:
    thickness, *face = model.grid.size

    def thick(value: float) -> HeatModel:
        return model.replaced(grid=Grid(model.grid.shape, (value, face[0], face[1])))

    return StatedFact("thickness", "length", thickness, thickness, *_about(thickness), thick)


def _flash(model: HeatModel) -> list[StatedFact]:
    """Amplitude, and the depth of a flash that has one; none of a temperature that was given as an array."""
    given = model.initial
    if not isinstance(given, (GaussianFlash, UniformFlash, *LASTING)):
        return []
    strength = "amplitude of the heating" if isinstance(given, LASTING) else "amplitude of the flash"
    facts = [_of_flash(model, given, "amplitude", strength, "temperature")]
    if isinstance(given, (GaussianFlash, UniformFlash)):
        facts.append(_of_flash(model, given, "depth", "depth of the flash", "length"))
    return facts


def _width(model: HeatModel) -> list[StatedFact]:
    given = model.initial
    wide = isinstance(given, GaussianFlash)
    return [_of_flash(model, given, "width", "width of the flash", "length")] if wide else []


def _of_flash(model: HeatModel, given: Any, field: str, name: str, quantity: str) -> StatedFact:
    stated = float(getattr(given, field))

    def changed(value: float) -> HeatModel:
        return model.replaced(initial=dataclasses.replace(given, **{field: value}))

    return StatedFact(name, quantity, stated, abs(stated), *_about(stated), changed)


def _clock(model: HeatModel, alpha: float) -> StatedFact:
    """When the frames were taken: all of them later or earlier, counted from the flash.

    The mean over a cell is as blurred, by the variance dz^2/12 = 2 alpha t, as if heat had spread for dz^2/(24 alpha)
    longer; the front cell and those that were heated both are.
    """
    blurred = model.grid.spacing[0] ** 2 / (12 * alpha)
    first, times = float(model.times[0]), model.times
    apart = float(np.diff(times).min()) if len(times) > 1 else first

    def shifted(value: float) -> HeatModel:
        return model.replaced(times=times + (value - first))

    return StatedFact(CLOCK, "time", first, apart, *_about(first), shifted, blurred)


def _loss(model: HeatModel, words: str, scale: float) -> StatedFact:
    """Of one face or both, also where they were stated to lose nothing."""
    sides, faces = model.boundary, FACES_WITH_LOSS[words]
    stated = float(np.mean([getattr(sides, f"h_{face}") for face in faces]))

    def lossy(value: float) -> HeatModel:
        kinds = dict.fromkeys(faces, "robin")
        losses = {f"h_{face}": max(getattr(sides, f"h_{face}") + value - stated, 0.0) for face in faces}
        changed: Boundary = dataclasses.replace(sides, **kinds, **losses)
        return model.replaced(boundary=changed)

    return StatedFact(FACE_LOSS.format(words), "speed", stated, scale, 0.0, np.inf, lossy)


def _along(model: HeatModel, axis: int) -> StatedFact:
    """Diffusivity along y or x over that through the thickness: heat spreads as in a narrower or wider part."""
    stated = model.anisotropy[axis - 1]

    def spread(value: float) -> HeatModel:
        size = list(model.grid.size)
        size[axis] *= float(np.sqrt(stated / value))
        given = model.initial
        if isinstance(given, (GaussianFlash, UniformFlash)):  # the heat stays in its cells
            given = given.amplitude * given.shape(model.grid)
        return model.replaced(grid=Grid(model.grid.shape, (size[0], size[1], size[2])), initial=given)

    return StatedFact(ALONG.format("zyx"[axis]), "ratio", stated, stated, *_about(stated), spread)


def _about(stated: float) -> tuple[float, float]:
    """Lowest and highest value."""
    low, high = sorted((stated / FARTHEST, stated * FARTHEST))
    return low, high
