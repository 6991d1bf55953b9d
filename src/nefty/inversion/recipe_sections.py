"""The sections of a recipe, but for the calibration's: what each number is, its unit, and its default."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from nefty.core.configuration import Part
from nefty.inversion.number_kinds import Count, Fraction, NotNegative, Positive
from nefty.inversion.penalties import PENALTIES, Penalty, WeightedPenalty


class Model(Part):
    """The heat model, where it is not given.

    layers: cells along z. integrator, sweeps: implicit Euler with so many Jacobi sweeps is the paper's. face_mean:
    diffusivity between two cells, in place of the one that the recording names. dtype: of the model's numbers.
    """

    layers: Count = 16
    face_mean: Literal["harmonic", "arithmetic", "min"] | None = None
    integrator: Literal["chebyshev", "sdirk2", "implicit-euler"] = "chebyshev"
    sweeps: int = Field(default=0, ge=0)
    dtype: Literal["float32", "float64"] = "float32"


class Noise(Part):
    """sigma: of a value, in place of the estimate. floor: the model's own error, as a share of the peak."""

    sigma: Positive | None = None
    floor: NotNegative = 3e-5


class SensitivitySettings(Part):
    """How steps of voxels are scaled by what the frames say of each cell.

    probes: random signs whose mean estimates the diagonal of the Gauss-Newton matrix.
    smoothing: lateral cells over which it is smoothed; the true diagonal is smooth, the estimate is not.
    regular: curvature that the penalties have anyway, in the misfit's unit; below it cells are equal.
    """

    probes: Count = 8
    smoothing: NotNegative = 3.0
    regular: Positive = 0.3


class PreconditionerSettings(Part):
    """What the quasi-Newton steps of voxels know beforehand of the curvature; see ``nefty.inversion.preconditioner``.

    kind: "penalties", which needs the scaling by sensitivity, or "none". steps: of conjugate gradients, at most.
    tolerance: of their residual, relative, at which they end.
    """

    kind: Literal["none", "penalties"] = "none"
    steps: Count = 20
    tolerance: Positive = 0.01


class FieldChoice(Part):
    """What the unknown is made of.

    kind: a value per cell, or a network of the coordinates. relative: whether the unknown is the ratio to the
    background; low and high are then ratios too. head: from a value to a diffusivity; see ``nefty.fields.heads``. low,
    high: ends of the diffusivity, or of the ratio. depth_power: p of the scaling by depth, (z/H)^p. depth, width: of a
    network: hidden layers, and units in each. bands: octaves of its encoding. skip: index of the hidden layer that
    sees the encoding again. activation: of its units. horizon: iterations over which the bands open; 0 opens all at
    once. spread: factor on the output weights at first; 0 begins with the background exactly. wrap: along which of z,
    y, x the two ends of the encoding are one place.
    scaling: of voxels: by the sensitivity of the frames, by depth, or none. preconditioner: of their steps by lbfgs.
    nearly_sound: of a volume to begin with, the ratio to its own layers above which a cell is taken as sound; defects
    have less than 0.2. free_layers: let the background of each layer be unknown too, of voxels that are relative to it;
    its variation is the penalty "strata". products: precision of the network's products; "bfloat16" is mixed
    precision, see ``NeuralField``. fit: iterations by which a network is fitted to a volume to begin with.
    """

    kind: Literal["voxel", "neural"] = "voxel"
    relative: bool = False
    head: Literal["sigmoid", "log", "softplus", "relu", "box", "log-box"] = "log-box"
    low: Positive = 0.003
    high: Positive = 0.25
    nearly_sound: Fraction = 0.8
    free_layers: bool = False
    scaling: Literal["sensitivity", "depth", "none"] = "none"
    depth_power: NotNegative = 1.0
    depth: Count = 10
    width: Count = 512
    bands: int = Field(default=12, ge=0)
    skip: int | None = 4
    activation: Literal["relu", "sine", "silu", "tanh"] = "relu"
    horizon: int = Field(default=2500, ge=0)
    spread: NotNegative = 0.0
    wrap: tuple[bool, bool, bool] = (True, True, True)
    products: Literal["float32", "bfloat16"] = "float32"
    fit: Count = 100
    sensitivity: SensitivitySettings = SensitivitySettings()
    preconditioner: PreconditionerSettings = PreconditionerSettings()


class Weight(Part):
    """How much the penalties count beside the misfit.

    tv: weight of the total variation, of which those of the other penalties are multiples; or "auto": from the noise,
        quiet + by_noise n, n in percent.
    quiet, by_noise: the two numbers of "auto".
    units: "relative" (see ``Observation.scale``), or "raw": the plain sum of squares, as in the paper.
    noise: what n is a percentage of: the recording's peak, or each value.
    discrepancy: let "auto" change between stages: half where the frames are fitted worse than to their noise, twice
        where better.
    tolerance: of the misfit over the noise floor, within which it is neither.
    lowest, highest: how far "auto" may change, as multiples of the first weight.
    settling: iterations over which the misfit must not have fallen by more than the tolerance to be worth a change.
    faint_noise: multiple of ``noise.floor`` below which noise is none, and no reason to lower the weight.
    """

    tv: NotNegative | Literal["auto"] = "auto"
    units: Literal["relative", "raw"] = "relative"
    quiet: NotNegative = 2.0
    by_noise: NotNegative = 25.0
    noise: Literal["peak", "value"] = "peak"
    discrepancy: bool = True
    tolerance: Positive = 0.01
    lowest: Annotated[float, Field(gt=0, le=1)] = 0.2
    highest: Annotated[float, Field(ge=1)] = 4.0
    settling: Count = 20
    faint_noise: NotNegative = 2.0


_SETTINGS: dict[str, Any] = {name: (kind, kind()) for name, kind in PENALTIES.items()}
_WEIGHTS: dict[str, Any] = {name: (NotNegative, kind.usual_weight) for name, kind in PENALTIES.items()}
_PenaltySettings: type[Part] = create_model("_PenaltySettings", __base__=Part, **_SETTINGS)
_PenaltyWeights: type[Part] = create_model("_PenaltyWeights", __base__=Part, **_WEIGHTS)


class PenaltySettings(_PenaltySettings):
    """Settings of each penalty, by its name; see ``nefty.inversion.penalties``."""

    def terms(self) -> list[Penalty]:
        """The penalties, in the order in which they are added."""
        return [getattr(self, name) for name in PENALTIES]


class PenaltyWeights(_PenaltyWeights):
    """Weight of each penalty in a stage, as a multiple of ``weight.tv``.

    tv, voids, sparse, strata: of the penalty of that name; 0 leaves it out.
    """

    def of(self, name: str) -> float:
        """That of one penalty."""
        return getattr(self, name)


class MoveSettings(Part):
    """Moves of the bottoms of voids before a stage; see ``nefty.inversion.moves``.

    void: ratio to the background below which a cell is void. cells: of the smallest void that is moved. steps,
    most_steps: of the stage's optimiser after which a move is judged, half of them in a heat of two; and those that a
    move may have that comes near.
    """

    void: Fraction = 0.4
    cells: Count = 20
    steps: Count = 6
    most_steps: Count = 20


class Stage(Part):
    """A stretch of iterations with one optimiser.

    name: of the stage. optimiser: "lbfgs", a quasi-Newton method, or "adam". iterations: at most.
    unknown: "field", or "cells": voxels as in the recipe's section ``cells``, which a network begins with afterwards.
    high: upper end of the box, in place of the field's. weights: of the penalties, as multiples of ``weight.tv``; a
    penalty of weight 0 is left out. refine_background: Gauss-Newton steps for the background before the stage.
    move_bottoms: whether the bottoms of voids are moved before the stage (``MoveSettings``). buried: layers of cells
    under the front face that hold no defect. memory: pairs of lbfgs. learning_rate, decay, decay_every: of adam, whose
    rate falls by the factor ``decay`` every so many iterations, 0 for never.
    """

    name: str
    optimiser: Literal["lbfgs", "adam"] = "lbfgs"
    iterations: Count
    unknown: Literal["field", "cells"] = "field"
    high: Positive | None = None
    refine_background: int = Field(default=0, ge=0)
    move_bottoms: bool = False
    buried: int = Field(default=0, ge=0)
    memory: Count = 30
    learning_rate: Positive = 1e-3
    decay: Positive = 1.0
    decay_every: int = Field(default=0, ge=0)
    weights: PenaltyWeights = PenaltyWeights()

    def weighted(self, penalties: PenaltySettings, tv: float) -> tuple[WeightedPenalty, ...]:
        """The penalties with their weights in this stage, where ``weight.tv`` is ``tv``."""
        return tuple(WeightedPenalty(p, self.weights.of(p.name) * tv) for p in penalties.terms())


class Stop(Part):
    """When to end before the last iteration: seconds: of wall clock, preparation included. misfit: chi^2 that is good
    enough, as a multiple of the noise floor. plateau: relative decrease of the objective over ``window`` iterations
    that ends a stage. window: these iterations.
    """

    seconds: Positive | None = None
    misfit: NotNegative = 0.0
    plateau: NotNegative = 0.0
    window: Count = 10
