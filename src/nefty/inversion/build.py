"""From a recipe to the parts of a reconstruction: model, field, optimiser."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from nefty.core.errors import InputError
from nefty.data.described_model import described_model
from nefty.data.sequence import Sequence
from nefty.fields.heads import Head, LinearBox, LogBox, LogHead, ReluHead, SigmoidHead, SoftplusHead
from nefty.fields.neural import NeuralField
from nefty.fields.voxel import VoxelField
from nefty.inversion.adam import Adam
from nefty.inversion.lbfgs import Inverse, ProjectedLBFGS
from nefty.inversion.network_start import fit_network, within
from nefty.inversion.recipe import Recipe
from nefty.inversion.recipe_sections import FieldChoice, Stage
from nefty.physics.heat_model import HeatModel
from nefty.physics.linear_solver import Jacobi
from nefty.physics.stepping import SDIRK2, ImplicitEuler

BRACKETS = {"sigmoid": SigmoidHead, "log": LogHead, "box": LinearBox, "log-box": LogBox}
OPEN = {"softplus": SoftplusHead, "relu": ReluHead}
AnyField = VoxelField | NeuralField
FARTHEST = 1.0  # of the logarithm of a layer of the background within a stage


def build_model(sequence: Sequence, recipe: Recipe) -> HeatModel:
    """The heat model that a recording describes."""
    choice = recipe.model
    integrator = choice.integrator
    if choice.sweeps:
        if integrator == "chebyshev":
            raise InputError(f"model.sweeps={choice.sweeps} needs an implicit integrator; Chebyshev solves nothing.")
        integrator = {"implicit-euler": ImplicitEuler, "sdirk2": SDIRK2}[integrator](solver=Jacobi(choice.sweeps))
    return described_model(
        sequence, choice.layers, face_mean=choice.face_mean, integrator=integrator, dtype=choice.dtype
    )


def build_head(choice: FieldChoice, high: float | None = None) -> Head:
    """From unknown to diffusivity."""
    if choice.head in OPEN:
        return OPEN[choice.head]()
    return BRACKETS[choice.head](choice.low, high or choice.high)


def build_field(
    recipe: Recipe,
    model: HeatModel,
    background: np.ndarray | None,
    scale: np.ndarray | None,
    stage: int = 0,
    start: np.ndarray | None = None,
) -> AnyField:
    """The unknown, at its start.

    Args:
        recipe: which one.
        model: on whose cells.
        background: its diffusivity, (z,).
        scale: of the unknowns of voxels, (z, y, x).
        stage: index of the one whose unknowns they are, and whose box they were in last.
        start: diffusivity (z, y, x) to begin with, as far as the box allows; the background if not given. A relative
            field takes its defects and leaves its background to the calibration.
    """
    choice = recipe.field_of(recipe.stages[stage])
    if background is None and (choice.relative or choice.kind == "voxel"):
        raise InputError(
            f"recipe {recipe.name!r}: a field of {choice.kind}s that starts from the background needs "
            'calibration.background="layered" or "constant".'
        )
    head = build_head(choice, recipe.stages[stage].high)
    if choice.kind == "neural":
        network = _network(recipe, model, head, background)
        if start is not None:
            fit_network(network, ratio_to_layers(start, choice.nearly_sound) if choice.relative else start, choice.fit)
        return network
    assert background is not None
    return _voxels(choice, model, head, background, scale, start)


def _voxels(
    choice: FieldChoice,
    model: HeatModel,
    head: Head,
    background: np.ndarray,
    scale: np.ndarray | None,
    start: np.ndarray | None,
) -> VoxelField:
    """One unknown per cell; the arguments are those of ``build_field``."""
    if start is not None:
        start = within(ratio_to_layers(start, choice.nearly_sound) if choice.relative else start, head)
    elif not choice.relative:
        start = np.broadcast_to(background[:, None, None], model.grid.shape).copy()
    return VoxelField(
        model.grid,
        head,
        start=start,
        depth_power=choice.depth_power if choice.scaling == "depth" else 0.0,
        scale=scale,
        background=background if choice.relative else None,
        free_layers=choice.free_layers,
        dtype=model.dtype,
    )


def _network(recipe: Recipe, model: HeatModel, head: Head, background: np.ndarray | None) -> NeuralField:
    """The paper's network, at its start; the arguments are those of ``build_field``."""
    choice = recipe.field
    return NeuralField(
        model.grid,
        head,
        depth=choice.depth,
        width=choice.width,
        bands=choice.bands,
        skip=choice.skip,
        activation=choice.activation,
        horizon=choice.horizon,
        spread=choice.spread,
        wrap=choice.wrap,
        start=None if background is None or choice.relative else float(np.median(background)),
        background=background if choice.relative else None,
        generator=torch.Generator().manual_seed(recipe.seed),
        products=choice.products,
        dtype=model.dtype,
    )


def ratio_to_layers(volume: np.ndarray, nearly_sound: float) -> np.ndarray:
    """What a volume says of defects: its ratio to the median of its own layers, 1 where that is ``nearly_sound``.

    The background is known better by calibration than by, say, a trained network, whose error in a stratum would
    become a defect as wide as the part.
    """
    ratio = volume / np.median(volume, axis=(1, 2), keepdims=True)
    return np.where(ratio > nearly_sound, 1.0, ratio)


def set_background(field: AnyField, background: np.ndarray) -> None:
    """Move the background under the anomaly; nothing happens to a field that has none."""
    if field.background is not None:
        field.background.copy_(torch.from_numpy(background).reshape(field.background.shape))
    if isinstance(field, VoxelField) and field.layers is not None:
        with torch.no_grad():
            field.layers.zero_()


def build_optimiser(
    stage: Stage,
    recipe: Recipe,
    field: AnyField,
    x: Tensor,
    buried: int = 0,
    inverse_at: Callable[[Tensor], Inverse] | None = None,
) -> ProjectedLBFGS | Adam:
    """The optimiser of a stage, at ``x``.

    Args:
        stage: whose.
        recipe: it is of.
        field: of the unknowns; voxels get the head of the stage.
        x: the unknowns, (n,).
        buried: layers that hold no defect, those of the stage at least.
        inverse_at: see ``ProjectedLBFGS``.
    """
    buried = max(stage.buried, buried)
    low = high = None
    if isinstance(field, VoxelField):
        field.head = build_head(recipe.field_of(stage), stage.high)
        low, high = (b.expand(field.grid.shape).clone() for b in _tensors(field))
        if buried >= low.shape[0]:
            raise InputError(
                f"stage {stage.name!r}: buried={buried} leaves none of the {low.shape[0]} layers free; set it lower."
            )
        if buried:
            low[:buried] = field.head.inverse(1.0).to(low) / field.scale.expand(low.shape)[:buried]
        low, high = low.reshape(-1), high.reshape(-1)
        if field.layers is not None:  # behind the cells
            far = torch.full_like(field.layers.detach(), FARTHEST)
            low, high = torch.cat([low, -far]), torch.cat([high, far])
    if stage.optimiser == "lbfgs":
        return ProjectedLBFGS(x, low, high, stage.memory, inverse_at)
    return Adam(x, stage.learning_rate, stage.decay, stage.decay_every, low, high)


def _tensors(field: VoxelField) -> tuple[Tensor, Tensor]:
    low, high = field.box
    return torch.as_tensor(low, dtype=field.unknown.dtype), torch.as_tensor(high, dtype=field.unknown.dtype)
