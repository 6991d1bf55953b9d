"""A part: what it is made of, what is wrong with it, and how it is heated and watched. SI units."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from nefty.core.checks import count, number, one_of
from nefty.core.errors import InputError
from nefty.physics.materials import Material
from nefty.synth.parts.engine import Losses
from nefty.synth.parts.history import History

OUTLINES = ("ellipse", "rectangle")
AIR = (0.026, 1.2e3)  # k in W/mK and rho c in J/m3K
SUBCELLS = 8  # along each side of a cell, by which its share under an outline is counted


@dataclass(frozen=True)
class Outline:
    """What a defect looks like from above.

    Args:
        kind: ``"ellipse"`` or ``"rectangle"``.
        centre: (y, x) in m from the corner of the frame.
        width: along its own two axes, in m.
        angle: by which they are turned from (y, x), in rad.
    """

    kind: str
    centre: tuple[float, float]
    width: tuple[float, float]
    angle: float = 0.0

    def __post_init__(self) -> None:
        one_of("kind", self.kind, OUTLINES)
        for width in self.width:
            number("width", width, above=0)

    @property
    def reach(self) -> float:
        """Radius in m of the circle around its centre that holds it."""
        return max(self.width) / 2 if self.kind == "ellipse" else math.hypot(*self.width) / 2

    def covers(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Whether points lie under it."""
        v, u = y - self.centre[0], x - self.centre[1]
        c, s = math.cos(self.angle), math.sin(self.angle)
        a, b = (c * v + s * u) / (self.width[0] / 2), (c * u - s * v) / (self.width[1] / 2)
        return a**2 + b**2 <= 1 if self.kind == "ellipse" else np.maximum(np.abs(a), np.abs(b)) <= 1

    def shares(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Share of every cell between faces ``y`` and ``x`` that lies under it, (y, x)."""
        fine = [_subdivided(faces) for faces in (y, x)]
        inside = self.covers(fine[0][:, None], fine[1])
        return inside.reshape(y.size - 1, SUBCELLS, x.size - 1, SUBCELLS).mean(axis=(1, 3))


@dataclass(frozen=True)
class Film:
    """A thin inclusion of another material, such as a polymer film left in a laminate.

    Args:
        outline: from above.
        depth: of its top, in m.
        thickness: in m.
        k: conductivity in W/mK.
        heat_capacity: rho c in J/m3K.
        kind: in words.
    """

    outline: Outline
    depth: float
    thickness: float
    k: float
    heat_capacity: float
    kind: str = "film"

    def __post_init__(self) -> None:
        for name in ("depth", "thickness", "k", "heat_capacity"):
            number(name, getattr(self, name), above=0)

    @property
    def layers(self) -> tuple[Film, ...]:
        """All inclusions that it is made of, the uppermost first."""
        return (self,)

    def resistance(self, k: float) -> float:
        """Integral of 1/k_film - 1/k through it, in m2K/W; ``k`` is the part's conductivity through the thickness."""
        return self.thickness * (1 / self.k - 1 / k)


@dataclass(frozen=True)
class Gap:
    """A delamination or disbond: a thin layer of air; see ``Film``."""

    outline: Outline
    depth: float
    thickness: float
    kind: str = "gap"

    @property
    def layers(self) -> tuple[Film, ...]:
        """The air."""
        return (Film(self.outline, self.depth, self.thickness, *AIR, kind=self.kind),)

    def resistance(self, k: float) -> float:
        """See ``Film.resistance``."""
        return self.layers[0].resistance(k)


@dataclass(frozen=True)
class FlatHole:
    """A hole drilled from the back that ends at a depth; open air, whose walls lose heat."""

    outline: Outline
    depth: float
    kind: str = "hole"
    layers: tuple[Film, ...] = ()

    def resistance(self, k: float) -> float:
        """No heat goes through."""
        return math.inf


@dataclass(frozen=True)
class Impact:
    """Several delaminations under each other, each larger than the one above, as a blow leaves them."""

    gaps: tuple[Gap, ...]
    kind: str = "impact"

    def __post_init__(self) -> None:
        depths = [gap.depth for gap in self.gaps]
        if not depths or depths != sorted(depths):
            raise InputError("an impact has gaps, the uppermost first.")

    @property
    def depth(self) -> float:
        """Of the uppermost gap, in m."""
        return self.gaps[0].depth

    @property
    def outline(self) -> Outline:
        """Of the largest gap."""
        return max((gap.outline for gap in self.gaps), key=lambda outline: outline.reach)

    @property
    def layers(self) -> tuple[Film, ...]:
        """All gaps, the uppermost first."""
        return tuple(layer for gap in self.gaps for layer in gap.layers)

    def resistance(self, k: float) -> float:
        """Of all gaps in series."""
        return sum(gap.resistance(k) for gap in self.gaps)


Defect = Film | Gap | FlatHole | Impact


@dataclass(frozen=True)
class Heat:
    """The heating of the front.

    Args:
        energy: absorbed where it is strongest, in J/m2.
        history: when it comes.
        unevenness: by how much less a point far from the brightest one gets, as a share.
        brightest: (y, x) in m from the corner of the frame.
        spread: standard deviation of the bright spot, in m.
        beyond: whether the part is heated beyond the frame too.
    """

    energy: float
    history: History
    unevenness: float = 0.0
    brightest: tuple[float, float] = (0.0, 0.0)
    spread: float = 1.0
    beyond: bool = True

    def on(self, y: np.ndarray, x: np.ndarray, size: tuple[float, float]) -> np.ndarray:
        """Heat at points of the part, (y, x) in J/m2; ``size`` of the frame in m."""
        far2 = ((y - self.brightest[0]) ** 2)[:, None] + (x - self.brightest[1]) ** 2
        profile = self.energy * (1 - self.unevenness * -np.expm1(-far2 / (2 * self.spread**2)))
        if not self.beyond:
            profile = profile * (((y > 0) & (y < size[0]))[:, None] & (x > 0) & (x < size[1]))
        return profile


@dataclass(frozen=True)
class Part:
    """A part in front of a camera.

    Args:
        material: its own, with rho and cp.
        thickness: in m.
        pixels: of the frame, (y, x).
        pixel: edge length of what one shows, in m.
        defects: that are apart from each other.
        edges: along y and x, pixel before which the part begins and after which it ends; ``None`` where it goes on.
        losses: of its walls.
        heat: how it is heated.
        fps: frames per second.
        seconds: from the begin of the heating to the last frame.
    """

    material: Material
    thickness: float
    pixels: tuple[int, int]
    pixel: float
    heat: Heat
    fps: float
    seconds: float
    defects: tuple[Defect, ...] = ()
    edges: tuple[tuple[int | None, int | None], tuple[int | None, int | None]] = ((None, None), (None, None))
    losses: Losses = field(default_factory=Losses)

    def __post_init__(self) -> None:
        for name in ("thickness", "pixel", "fps", "seconds"):
            number(name, getattr(self, name), above=0)
        for n in self.pixels:
            count("pixels", n, at_least=4)
        if self.material.k is None:
            raise InputError(f"material {self.material.name!r} needs rho and cp.")

    @property
    def k(self) -> tuple[float, float, float]:
        """Conductivity along z, y, x in W/mK."""
        m = self.material
        return m.alpha_z * self.heat_capacity, m.alpha_y * self.heat_capacity, m.alpha_x * self.heat_capacity

    @property
    def heat_capacity(self) -> float:
        """Rho c in J/m3K."""
        rho, cp = self.material.rho, self.material.cp
        assert rho is not None
        assert cp is not None
        return rho * cp

    @property
    def size(self) -> tuple[float, float]:
        """Of the frame, (y, x) in m."""
        return self.pixels[0] * self.pixel, self.pixels[1] * self.pixel

    @property
    def time(self) -> float:
        """L^2/alpha_z in s, in which heat goes through."""
        return self.thickness**2 / self.material.alpha_z

    def centres(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the pixels along y, as a column, and x, in m."""
        y, x = ((np.arange(n) + 0.5) * self.pixel for n in self.pixels)
        return y[:, None], x

    def on_part(self) -> np.ndarray:
        """Pixels (y, x) that show the part."""
        there = []
        for n, (begin, end) in zip(self.pixels, self.edges, strict=True):
            at = np.arange(n)
            there.append((at >= (begin or 0)) & (at < (n if end is None else end)))
        return there[0][:, None] & there[1]

    def depth_under_pixels(self, defect: Defect) -> np.ndarray:
        """Depth of the top of a defect under each pixel's centre, (y, x) in m; NaN where it is not."""
        depth = np.full(self.pixels, np.nan)
        for layer in reversed(defect.layers or (defect,)):
            depth[layer.outline.covers(*self.centres())] = layer.depth
        return depth


def width_over_depth(defect: Defect) -> float:
    """How many times as wide as deep: the smaller width of the (largest) outline over the depth of the top."""
    return min(defect.outline.width) / defect.depth


def _subdivided(faces: np.ndarray) -> np.ndarray:
    """Middles of the subcells of every cell."""
    at = (np.arange(SUBCELLS) + 0.5) / SUBCELLS
    return (faces[:-1, None] + np.diff(faces)[:, None] * at).ravel()
