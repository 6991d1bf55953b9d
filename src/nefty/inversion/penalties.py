"""What is asked of a volume beyond fitting the frames: one class for each penalty, with its settings.

A new one is a class here, decorated by ``listed``: the recipe then has its settings as ``[penalties.NAME]`` and its
weight as ``weights.NAME`` of a stage, and the history a column of that name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeVar

from nefty.core.configuration import Part
from nefty.core.grid import Grid
from nefty.inversion.number_kinds import Fraction, NotNegative, Positive

if TYPE_CHECKING:
    from torch import Tensor  # a recipe is read without torch


@dataclass(frozen=True, eq=False)
class Trial:
    """A volume that is judged.

    Args:
        alpha: diffusivity, (z, y, x), on the graph.
        grid: its cells.
        lateral: ``"periodic"`` or ``"adiabatic"`` sides.
        log_background: log of the diffusivity of the background, (z, 1, 1); ``None`` if there is none.
        layers: the same on the graph, (z,), where the background is optimised along; ``None`` where not.
    """

    alpha: Tensor
    grid: Grid
    lateral: str = "periodic"
    log_background: Tensor | None = None
    layers: Tensor | None = None

    def log_ratio(self) -> Tensor:
        """log(alpha/background), (z, y, x); log(alpha) if there is no background."""
        values = self.alpha.log()
        return values if self.log_background is None else values - self.log_background.to(values)

    @property
    def cell(self) -> float:
        """Volume of a cell over the cube of the part's thickness."""
        volume = 1.0
        for d in self.grid.spacing:
            volume *= d / self.grid.size[0]
        return volume


class Penalty(Part, ABC):
    """A term of the objective that depends on the volume alone; its fields are its settings in the recipe.

    ``name`` is that of the recipe and of the history, ``title`` that of figures, ``usual_weight`` its weight in a stage
    that does not say, as a multiple of ``weight.tv``; ``needs_background`` says whether it has no meaning without one.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    usual_weight: ClassVar[float] = 0.0
    needs_background: ClassVar[bool] = True

    @abstractmethod
    def __call__(self, trial: Trial) -> Tensor:
        """The penalty, a scalar on the graph."""

    def springs(self, trial: Trial) -> Springs | None:
        """The quadratic form of log alpha that touches it at the trial from above, if it has one; off the graph.

        A penalty that is not convex has none.
        """
        return None


class Springs(NamedTuple):
    """A quadratic form of a = log alpha: 1/2 sum_i anchors_i a_i^2 + 1/2 sum_f faces_f (difference of a at f)^2.

    Args:
        anchors: (z, y, x), or ``None``.
        faces: (3, z, y, x): of each cell to the next along z, y and x; what lies beyond the last layer is fixed, beyond
            the last row and column lies the first; or ``None``.
        layers: (z - 1,): between the logarithms of the background of one layer and the next; or ``None``.
    """

    anchors: Tensor | None
    faces: Tensor | None
    layers: Tensor | None = None


class WeightedPenalty(NamedTuple):
    """A penalty and how much it counts."""

    penalty: Penalty
    weight: float


PENALTIES: dict[str, type[Penalty]] = {}
"""All penalties by name, in the order in which they are added."""

Kind = TypeVar("Kind", bound=type[Penalty])


def listed(kind: Kind) -> Kind:
    """Enter a class into ``PENALTIES``."""
    PENALTIES[kind.name] = kind
    return kind


@listed
class TotalVariation(Penalty):
    """The paper's isotropic total variation (eq. tv_discrete) of a = alpha, log alpha or log(alpha/background):

        R = dx dy dz sum sqrt((d_x a/dx)^2 + (d_y a/dy)^2 + (d_z a/dz)^2 + eps^2)

    with forward differences that wrap around laterally if the sides are periodic and are 0 across adiabatic sides and
    at the last layer. Lengths are in the grid's unit for alpha, in thicknesses for the logarithms, for which R has no
    unit.

    on: what a is.
    smoothing: eps, in the unit of a over length.
    back: "free", the paper's; or "sound": beyond the back face lies a layer of a = 0, so that what sticks to the back
        face costs as much as what does not (against the failure mode of appendix G.7).
    depth_gain: g of a weight 1 + g (z/H)^2: the deeper, the less the data say and the more this does.
    depth_apart: share s of a variation that counts steps along the depth for themselves: the root above times 1 - s,
        plus s (sqrt((d_z a/dz)^2 + eps^2) + sqrt((d_x a/dx)^2 + (d_y a/dy)^2 + eps^2)). At s = 0 a slanted face costs
        its area, at s = 1 that of its steps.
    """

    name: ClassVar[str] = "tv"
    title: ClassVar[str] = "Total variation"
    usual_weight: ClassVar[float] = 1.0
    needs_background: ClassVar[bool] = False

    on: Literal["alpha", "log", "log-ratio"] = "log-ratio"
    smoothing: Positive = 1e-2
    back: Literal["free", "sound"] = "free"
    depth_gain: NotNegative = 0.0
    depth_apart: Fraction = 0.0

    def __call__(self, trial: Trial) -> Tensor:
        """R of the trial."""
        if self.on == "alpha":
            return self.of(trial.alpha, trial.grid, trial.lateral)
        values = trial.log_ratio() if self.on == "log-ratio" else trial.alpha.log()
        if values.device.type == "cpu":
            return self._compiled(values, trial)
        return self.of(values, trial.grid, trial.lateral, unit=trial.grid.size[0])

    def _compiled(self, values: Tensor, trial: Trial) -> Tensor:
        """``of`` values of the trial, with lengths in thicknesses, by one pass over the cells."""
        from nefty.inversion.penalty_kernels import variation

        grid, thickness = trial.grid, trial.grid.size[0]
        dz, dy, dx = (d / thickness for d in grid.spacing)
        return variation(
            values,
            (dz, dy, dx),
            self.smoothing,
            periodic=trial.lateral == "periodic",
            sound_back=self.back == "sound",
            gains=1 + self.depth_gain * (grid.centres()[0].ravel() / thickness) ** 2,
            depth_apart=self.depth_apart,
        )

    def of(self, field: Tensor, grid: Grid, lateral: str = "periodic", *, unit: float = 1.0) -> Tensor:
        """R of values a (z, y, x), with lengths in multiples of ``unit``."""
        dz, dy, dx = (d / unit for d in grid.spacing)
        steepness = sum(share * root for share, root, _ in self._roots(field, grid, lateral, unit))
        assert not isinstance(steepness, float | int)
        return (steepness * self._gain(field, grid)).sum() * (dz * dy * dx)

    def springs(self, trial: Trial) -> Springs | None:
        """Lagged diffusivity: each root sqrt(q) is below (q/r + r)/2, r its present value."""
        if self.on == "alpha":
            return None
        grid, unit = trial.grid, trial.grid.size[0]
        values = (trial.log_ratio() if self.on == "log-ratio" else trial.alpha.log()).detach()
        strength = values.new_zeros((3, *values.shape))
        for share, root, axes in self._roots(values, grid, trial.lateral, unit):
            for axis in axes:
                strength[axis] += share / root / (grid.spacing[axis] / unit) ** 2
        strength *= self._gain(values, grid) * trial.cell
        if self.back == "free":
            strength[0, -1] = 0.0
        if trial.lateral != "periodic":
            strength[1, :, -1], strength[2, :, :, -1] = 0.0, 0.0
        return Springs(None, strength)

    def _roots(
        self, field: Tensor, grid: Grid, lateral: str, unit: float
    ) -> Iterator[tuple[float, Tensor, tuple[int, ...]]]:
        """Share of each root in R, the root (z, y, x), and the axes under it."""
        dz, dy, dx = (d / unit for d in grid.spacing)
        if lateral == "periodic":
            y, x = field.roll(-1, 1) - field, field.roll(-1, 2) - field
        else:
            y, x = (field.diff(dim=a, append=field.narrow(a, field.shape[a] - 1, 1)) for a in (1, 2))
        beyond = field[-1:] if self.back == "free" else field.new_zeros(field[-1:].shape)
        z = field.diff(dim=0, append=beyond)
        along, across, least = (z / dz) ** 2, (y / dy) ** 2 + (x / dx) ** 2, self.smoothing**2
        if self.depth_apart < 1:
            yield 1 - self.depth_apart, (along + across + least).sqrt(), (0, 1, 2)
        if self.depth_apart > 0:
            yield self.depth_apart, (along + least).sqrt(), (0,)
            yield self.depth_apart, (across + least).sqrt(), (1, 2)

    def _gain(self, field: Tensor, grid: Grid) -> Tensor | float:
        """1 + g (z/H)^2, (z, 1, 1)."""
        if not self.depth_gain:
            return 1.0
        return 1 + self.depth_gain * field.new_tensor(grid.centres()[0] / grid.size[0]) ** 2


@listed
class VoidWell(Penalty):
    """A double well that asks each cell to decide:

        W = dx dy dz sum u (1 - u),   u = 1 - alpha/background the deficit,

    0 in sound cells and in voids, which conduct next to nothing, and 1/4 half way between. Negative deficits cost
    nothing here. Lengths are in thicknesses, W has no unit.
    """

    name: ClassVar[str] = "voids"
    title: ClassVar[str] = "Double well (sound or void)"

    def __call__(self, trial: Trial) -> Tensor:
        """W of the trial."""
        if trial.alpha.device.type == "cpu" and trial.log_background is not None:
            from nefty.inversion.penalty_kernels import double_well

            return double_well(trial.alpha, trial.log_background.exp().numpy().ravel(), trial.cell)
        deficit = -trial.log_ratio().expm1()
        return (deficit * (1 - deficit)).clamp(min=0).sum() * trial.cell


@listed
class SparseAnomaly(Penalty):
    """How much of the part is not sound, and by how much:

        V = dx dy dz sum (sqrt(a^2 + eps^2) - eps),   a = log(alpha/background) the anomaly,

    the integral of |a|, smooth at 0. The same resistance to heat costs less as a thin layer of low diffusivity than as
    a thick one that is nearly sound, which total variation alone would prefer; and a little scatter everywhere is not
    free. Lengths are in thicknesses, V has no unit.

    smoothing: eps, of a; below it a cell is as good as sound.
    """

    name: ClassVar[str] = "sparse"
    title: ClassVar[str] = "Size of the anomaly"

    smoothing: Positive = 0.02

    def __call__(self, trial: Trial) -> Tensor:
        """V of the trial."""
        return ((trial.log_ratio() ** 2 + self.smoothing**2).sqrt() - self.smoothing).sum() * trial.cell

    def springs(self, trial: Trial) -> Springs | None:
        """Each root is below (a^2/r + r)/2, r its present value."""
        return Springs(trial.cell / (trial.log_ratio().detach() ** 2 + self.smoothing**2).sqrt(), None)


@listed
class StrataVariation(Penalty):
    """How much the background changes with depth, where it is optimised along:

        S = A/H^2 sum_k sqrt((b_k+1 - b_k)^2 + eps^2),   b = log of the background of layer k,

    A the area of the front face: the total variation along depth of a part without defects. A part is made of few
    materials, and what the frames do not tell stays as the layer above it. S has no unit.

    smoothing: eps, of b.
    """

    name: ClassVar[str] = "strata"
    title: ClassVar[str] = "Variation of the background"

    smoothing: Positive = 0.01

    def __call__(self, trial: Trial) -> Tensor:
        """S of the trial; 0 where the background is fixed."""
        if trial.layers is None:
            return trial.alpha.new_zeros(())
        return self._roots(trial.layers).sum() * self._area(trial)

    def springs(self, trial: Trial) -> Springs | None:
        """Each root is below (q/r + r)/2, r its present value."""
        if trial.layers is None:
            return None
        return Springs(None, None, self._area(trial) / self._roots(trial.layers.detach()))

    def _roots(self, layers: Tensor) -> Tensor:
        return (layers.diff() ** 2 + self.smoothing**2).sqrt()

    def _area(self, trial: Trial) -> float:
        thickness, *sides = trial.grid.size
        return sides[0] * sides[1] / thickness**2
