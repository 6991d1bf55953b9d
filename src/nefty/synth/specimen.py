"""Parts with buried defects, drawn from a seed (paper, appendix E.1).

A specimen is geometry: strata and defects with sizes and places in length units. It can be put on any grid, and
its record redraws it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from nefty.core.checks import count, number, one_of
from nefty.core.errors import InputError
from nefty.core.grid import Grid

KINDS = ("homogeneous", "layered", "sound", "sound-layered")
SHAPES = ("ellipsoid", "cylinder", "box")
PAPER_GRID = Grid(shape=(16, 64, 64), size=(1.0, 10.0, 10.0))
MOST_TRIES = 1000


@dataclass(frozen=True)
class Defect:
    """A region of low diffusivity.

    Args:
        shape: ``"ellipsoid"``, ``"cylinder"`` (elliptic, upright) or ``"box"``.
        centre: (z, y, x).
        radii: half thickness along z and half axes along the turned y and x.
        angle: rotation in the plane, in radians.
        alpha: its diffusivity.
    """

    shape: str
    centre: tuple[float, float, float]
    radii: tuple[float, float, float]
    angle: float
    alpha: float

    def inside(self, z: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Whether points lie within it."""
        dy, dx = y - self.centre[1], x - self.centre[2]
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        depth = np.abs(z - self.centre[0]) / self.radii[0]
        v, u = (cos * dy - sin * dx) / self.radii[1], (sin * dy + cos * dx) / self.radii[2]
        if self.shape == "ellipsoid":
            return depth**2 + v**2 + u**2 <= 1
        if self.shape == "cylinder":
            return (depth <= 1) & (v**2 + u**2 <= 1)
        return (depth <= 1) & (np.abs(v) <= 1) & (np.abs(u) <= 1)

    @property
    def reach(self) -> float:
        """Radius of the lateral circle around it."""
        corner = self.shape == "box"
        return math.hypot(*self.radii[1:]) if corner else max(self.radii[1:])

    @property
    def top(self) -> float:
        """Depth of its nearest point to the front face."""
        return self.centre[0] - self.radii[0]

    @property
    def bottom(self) -> float:
        """Depth of its farthest point from the front face."""
        return self.centre[0] + self.radii[0]


@dataclass(frozen=True)
class Ranges:
    """What is drawn, each uniformly between two values. The paper gives the diffusivities and the counts; sizes
    and places are our choice, in the length unit of the slab (thickness 1, sides 10).

    Args:
        bulk: diffusivity of the part or of each stratum.
        strata: how many strata a layered part has.
        thinnest: the least thickness of a stratum, as a share of the slab's.
        defects: how many defects.
        alpha: diffusivity of a defect.
        half_thickness: of a defect.
        radius: its lateral half axes.
        depth: depth of its centre.
        margin: its centre's least distance from the sides, where the flash hardly warms.
        gap: lateral distance between two defects; ``None`` lets them touch and lie under each other, where the upper
            hides the lower.
    """

    bulk: tuple[float, float] = (0.1, 0.2)
    strata: tuple[int, int] = (3, 4)
    thinnest: float = 0.15
    defects: tuple[int, int] = (1, 4)
    alpha: tuple[float, float] = (0.005, 0.015)
    half_thickness: tuple[float, float] = (0.08, 0.2)
    radius: tuple[float, float] = (0.6, 1.6)
    depth: tuple[float, float] = (0.25, 0.75)
    margin: float = 2.0
    gap: float | None = 0.2

    def __post_init__(self) -> None:
        for name in ("bulk", "strata", "defects", "alpha", "half_thickness", "radius", "depth"):
            refuse_reversed(name, getattr(self, name))


@dataclass(frozen=True)
class Specimen:
    """A slab with strata and defects.

    Args:
        size: edge lengths (z, y, x).
        interfaces: depths between strata, increasing; empty for a homogeneous part.
        bulk: diffusivity of each stratum, from the front.
        defects: what is buried.
        seed: it was drawn from, if it was.
        kind: one of ``KINDS``.
    """

    size: tuple[float, float, float]
    interfaces: tuple[float, ...]
    bulk: tuple[float, ...]
    defects: tuple[Defect, ...]
    seed: int | None = None
    kind: str = "homogeneous"
    ranges: Ranges = field(default_factory=Ranges)

    def background(self, grid: Grid) -> np.ndarray:
        """Diffusivity without the defects at the depths of the grid's cells, (z,)."""
        z = grid.centres()[0].ravel()
        return np.asarray(self.bulk)[np.searchsorted(self.interfaces, z, side="right")]

    def resistance(self, defect: Defect) -> float:
        """Integral of 1/alpha - 1/background down the axis of a defect, time over length."""
        ends = np.clip(
            [defect.top, *self.interfaces, defect.bottom], max(defect.top, 0.0), min(defect.bottom, self.size[0])
        )
        sound = np.diff(ends) @ (1 / np.asarray(self.bulk))
        return float((ends[-1] - ends[0]) / defect.alpha - sound)

    def alpha(self, grid: Grid = PAPER_GRID) -> np.ndarray:
        """Diffusivity of the cells by their centres, float64, (z, y, x)."""
        if not np.allclose(grid.size, self.size, rtol=1e-9):
            raise InputError(f"the grid's size {grid.size} is not the specimen's, {self.size} (z, y, x).")
        volume = np.broadcast_to(self.background(grid)[:, None, None], grid.shape).copy()
        for defect in self.defects:
            volume[defect.inside(*grid.centres())] = defect.alpha
        return volume

    def record(self) -> dict[str, Any]:
        """Everything that is needed to draw it again, as plain values; see ``from_record``."""
        return asdict(self)

    @staticmethod
    def from_record(record: dict[str, Any]) -> Specimen:
        """The specimen that ``record`` was taken of."""
        try:
            values = dict(record)
            values["defects"] = tuple(Defect(**{k: _tuples(v) for k, v in d.items()}) for d in values["defects"])
            values["ranges"] = Ranges(**{k: _tuples(v) for k, v in values["ranges"].items()})
            return Specimen(**{k: _tuples(v) if k != "defects" else v for k, v in values.items()})
        except (TypeError, KeyError, AttributeError) as error:
            raise InputError(f"not the record of a specimen: {error}. Use Specimen.record().") from None


def draw_specimen(
    seed: int,
    kind: str = "homogeneous",
    *,
    size: tuple[float, float, float] = PAPER_GRID.size,
    defects: int | None = None,
    ranges: Ranges | None = None,
) -> Specimen:
    """Draw a specimen; the same seed, kind and ranges give the same one.

    Args:
        seed: any whole number from 0.
        kind: ``"homogeneous"``, ``"layered"``, or either without defects: ``"sound"``, ``"sound-layered"``.
        size: edge lengths (z, y, x).
        defects: how many, instead of drawing their number.
        ranges: of what is drawn.
    """
    seed, ranges = count("seed", seed, at_least=0), ranges or Ranges()
    one_of("kind", kind, KINDS)
    random = np.random.default_rng([seed, KINDS.index(kind)])
    interfaces = _interfaces(random, ranges, size[0]) if "layered" in kind else ()
    bulk = tuple(float(b) for b in random.uniform(*ranges.bulk, size=len(interfaces) + 1))
    wanted = int(random.integers(ranges.defects[0], ranges.defects[1] + 1))
    wanted = wanted if defects is None else count("defects", defects, at_least=0)
    found: list[Defect] = []
    if "sound" not in kind:
        for _ in range(MOST_TRIES):
            if len(found) == wanted:
                break
            new = _draw_defect(random, ranges, size)
            if ranges.gap is None or all(_distance(new, old) >= ranges.gap for old in found):
                found.append(new)
        else:
            raise InputError(f"found no room for {wanted} defects; use fewer, smaller ones, or Ranges(gap=None).")
    return Specimen(size, interfaces, bulk, tuple(found), seed, kind, ranges)


def refuse_reversed(name: str, given: Any) -> None:
    """Raise unless ``given`` are two numbers, the lower one first."""
    try:
        low, high = given
    except (TypeError, ValueError):
        raise InputError(f"{name}={given!r} must be two numbers, (lowest, highest).") from None
    if number(f"lowest {name}", low) > number(f"highest {name}", high):
        raise InputError(f"{name}={given!r} must be (lowest, highest), in this order.")


def _interfaces(random: np.random.Generator, ranges: Ranges, thickness: float) -> tuple[float, ...]:
    """Depths between strata: the thinnest each gets, and uniform shares of the rest."""
    strata = int(random.integers(ranges.strata[0], ranges.strata[1] + 1))
    free = 1 - strata * ranges.thinnest
    if free < 0:
        raise InputError(f"{strata} strata of at least {ranges.thinnest:g} of the thickness do not fit into it.")
    cuts = np.sort(random.uniform(0, free, size=strata - 1))
    return tuple(float(thickness * (c + ranges.thinnest * (i + 1))) for i, c in enumerate(cuts))


def _draw_defect(random: np.random.Generator, ranges: Ranges, size: tuple[float, float, float]) -> Defect:
    shape = SHAPES[int(random.integers(len(SHAPES)))]
    z = random.uniform(*ranges.depth)
    y, x = (random.uniform(ranges.margin, length - ranges.margin) for length in size[1:])
    radii = (random.uniform(*ranges.half_thickness), *random.uniform(*ranges.radius, size=2))
    angle, alpha = random.uniform(0, math.pi), random.uniform(*ranges.alpha)
    return Defect(shape, (z, y, x), tuple(float(r) for r in radii), angle, alpha)  # pyright: ignore[reportArgumentType]


def _distance(a: Defect, b: Defect) -> float:
    """Lateral distance between the circles around two defects."""
    return math.hypot(a.centre[1] - b.centre[1], a.centre[2] - b.centre[2]) - a.reach - b.reach


def _tuples(value: Any) -> Any:
    """Lists, which JSON makes of tuples, as tuples again."""
    return tuple(_tuples(v) for v in value) if isinstance(value, (list, tuple)) else value
