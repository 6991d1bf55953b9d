"""Parts at random, as different as those that inspectors have."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nefty.core.checks import count
from nefty.physics.materials import Material
from nefty.synth.parts.engine import Losses
from nefty.synth.parts.history import LampPulse
from nefty.synth.parts.part import Defect, Film, FlatHole, Gap, Heat, Impact, Outline, Part

STREAM = 140  # seeds of parts, apart from those of specimens and plates
SOUND = 1 / 3
RATES = (5, 8, 10, 15, 20, 25, 30, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400)  # Hz
DEEP = (0.15, 0.8)  # top of a defect, over the thickness
WIDE = (1.0, 8.0)  # width of a defect over its depth
LEAST = 3.0  # pixels, width of a defect
TRIALS = 300
#: Polymers of films: k in W/mK, rho c in J/m3K. PTFE; polyimide; polyamide (vacuum bag).
POLYMERS = ((0.25, 2.2e6), (0.16, 1.55e6), (0.24, 1.9e6))


@dataclass(frozen=True)
class Family:
    """Ranges of parts of one material; SI units.

    Args:
        name: of the material.
        alpha: diffusivity through the thickness.
        ratios: ranges of (alpha_y/alpha_z, alpha_x/alpha_z), one of the pairs is drawn; none if isotropic.
        rho: density.
        cp: specific heat.
        thickness: of the part.
        energy: that the surface takes up, in J/m2; 1 J/cm2 is what two flash lamps bring.
        kinds: probabilities of film, gap, hole, impact.
    """

    name: str
    alpha: tuple[float, float]
    rho: tuple[float, float]
    cp: tuple[float, float]
    thickness: tuple[float, float]
    energy: tuple[float, float]
    kinds: tuple[float, float, float, float]
    ratios: tuple[tuple[tuple[float, float], tuple[float, float]], ...] = ()


#: Ranges of the literature; CFRP unidirectional (fibres along x) or quasi-isotropic.
FAMILIES = (
    Family(
        "cfrp", (3.6e-7, 5.5e-7), (1500, 1620), (750, 1000), (2e-3, 5e-3), (7e3, 2e4), (0.45, 0.2, 0.15, 0.2),
        (((1.2, 2.5), (9.0, 16.0)), ((4.0, 7.0), (4.0, 7.0))),
    ),
    Family(
        "gfrp", (1.3e-7, 2.2e-7), (1750, 2000), (900, 1200), (2e-3, 5e-3), (7e3, 2e4), (0.45, 0.2, 0.15, 0.2),
        (((1.2, 1.8), (1.2, 1.8)),),
    ),
    Family("pvc", (1.05e-7, 1.35e-7), (1350, 1450), (900, 1050), (2e-3, 5e-3), (7e3, 2e4), (0.0, 0.35, 0.65, 0.0)),
    Family("pmma", (1.0e-7, 1.2e-7), (1170, 1200), (1400, 1500), (2e-3, 5e-3), (7e3, 2e4), (0.0, 0.35, 0.65, 0.0)),
    Family(
        "stainless-steel", (3.6e-6, 4.2e-6), (7800, 8000), (470, 510), (2e-3, 6e-3), (1e4, 2.5e4),
        (0.1, 0.3, 0.6, 0.0),
    ),
    Family("aluminium", (5e-5, 8.5e-5), (2680, 2800), (870, 920), (6e-3, 12e-3), (1.5e4, 3e4), (0.1, 0.3, 0.6, 0.0)),
)  # fmt: skip


def draw_part(seed: int, *, sound: bool | None = None, pixels: int | None = None) -> Part:
    """A part at random, with none to five defects, heating, losses, frame rate and duration.

    A third of all parts is sound. Every fifth ends within the frame, every fifth is not heated beyond it. The recording
    lasts 1.5 to 3 L^2/alpha; of every seventh part it ends before the back wall is seen.

    Args:
        seed: the same one gives the same part.
        sound: whether it has no defect; drawn if not given.
        pixels: along each side of the frame; 64, and up to 100 for every fifth part, if not given.
    """
    random = np.random.default_rng([count("seed", seed, at_least=0), STREAM])
    family = FAMILIES[random.integers(len(FAMILIES))]
    is_sound = random.random() < SOUND
    larger = random.random() < 0.2
    side = int(random.integers(72, 101)) if larger else 64
    side = side if pixels is None else count("pixels", pixels, at_least=16)
    material = _material(random, family)
    thickness = _uniform(random, family.thickness)
    pixel = thickness * _uniform(random, (0.1, 0.2)) * 64 / side
    time = thickness**2 / material.alpha_z
    fps = _rate(1 / (time * _spread(random, (0.0012, 0.003))))
    seconds = time * (_uniform(random, (0.15, 0.5)) if random.random() < 1 / 7 else _uniform(random, (1.5, 3.0)))
    heat = _heat(random, family, time, side * pixel)
    still = _uniform(random, (5, 15))
    losses = Losses(front=_uniform(random, (6, 16)), back=still, holes=still, sides=still)
    edges = _edges(random, side)
    defects = () if (is_sound if sound is None else sound) else _defects(random, family, thickness, side, pixel, edges)
    return Part(material, thickness, (side, side), pixel, heat, fps, seconds, defects, edges, losses)


def _material(random: np.random.Generator, family: Family) -> Material:
    alpha = _uniform(random, family.alpha)
    y, x = 1.0, 1.0
    if family.ratios:
        ranges = family.ratios[random.integers(len(family.ratios))]
        y = _uniform(random, ranges[0])
        x = y * _uniform(random, (0.95, 1.05)) if ranges[0] == ranges[1] else _uniform(random, ranges[1])
    return Material(
        name=family.name,
        alpha_z=alpha,
        alpha_y=alpha * y,
        alpha_x=alpha * x,
        rho=_uniform(random, family.rho),
        cp=_uniform(random, family.cp),
    )


def _heat(random: np.random.Generator, family: Family, time: float, size: float) -> Heat:
    """A flash lamp; a halogen lamp on every third part that is slow enough."""
    if time > 20 and random.random() < 1 / 3:
        history = LampPulse(_uniform(random, (0.002, 0.006)) * time, _uniform(random, (0.001, 0.002)) * time)
    else:
        history = LampPulse(_uniform(random, (2e-3, 6e-3)), _uniform(random, (0.5e-3, 3e-3)))
    uneven = _uniform(random, (0.0, 0.05) if random.random() < 0.5 else (0.05, 0.3))
    brightest = (_uniform(random, (0.2, 0.8)) * size, _uniform(random, (0.2, 0.8)) * size)
    beyond = random.random() >= 0.2
    return Heat(
        _uniform(random, family.energy), history, uneven, brightest, _uniform(random, (0.4, 0.8)) * size, beyond
    )


def _edges(
    random: np.random.Generator, side: int
) -> tuple[tuple[int | None, int | None], tuple[int | None, int | None]]:
    """Mostly none; on every fifth part one or two sides end within the frame."""
    inside = random.integers(3, max(side // 6, 4), 4)
    which = random.permutation(4)[: random.integers(1, 3)] if random.random() < 0.2 else np.empty(0, int)
    found = [int(inside[i]) if i in which else None for i in range(4)]
    after = [None if f is None else side - f for f in found]
    return (found[0], after[1]), (found[2], after[3])


def _defects(
    random: np.random.Generator,
    family: Family,
    thickness: float,
    side: int,
    pixel: float,
    edges: tuple[tuple[int | None, int | None], tuple[int | None, int | None]],
) -> tuple[Defect, ...]:
    """One to five that are apart from each other, and mostly from the edge of the frame."""
    wanted = random.choice([1, 2, 3, 4, 5], p=[0.3, 0.25, 0.2, 0.15, 0.1])
    found: list[Defect] = []
    bounds = [((a or 0) * pixel, (side if b is None else b) * pixel) for a, b in edges]
    for _ in range(TRIALS):
        if len(found) == wanted:
            break
        defect = _defect(random, family, thickness, side * pixel, pixel, bounds)
        if defect is not None and all(_apart(defect, other, pixel) for other in found):
            found.append(defect)
    return tuple(found)


def _defect(
    random: np.random.Generator,
    family: Family,
    thickness: float,
    size: float,
    pixel: float,
    bounds: list[tuple[float, float]],
) -> Defect | None:
    """One at random; None if it does not fit into the frame."""
    kind = ("film", "gap", "hole", "impact")[random.choice(4, p=family.kinds)]
    depth = thickness * _spread(random, DEEP)
    width = depth * _spread(random, WIDE)
    if not LEAST * pixel <= width <= 0.4 * size:
        return None
    longer = width * _uniform(random, (1.0, 1.6))
    shape = "ellipse" if kind == "impact" or random.random() < 0.6 else "rectangle"
    turned = _uniform(random, (0, math.pi))
    clear = (0.3 if random.random() < 0.1 else 1.0) * max(longer, width) / 2 + 2 * pixel
    if any(high - low <= 2 * clear for low, high in bounds):
        return None
    centre = (_uniform(random, _within(bounds[0], clear)), _uniform(random, _within(bounds[1], clear)))
    outline = Outline(shape, centre, (width, longer), turned)
    if kind == "hole":
        return FlatHole(outline, depth)
    if kind == "film":
        k, heat_capacity = POLYMERS[random.integers(len(POLYMERS))]
        return Film(outline, depth, min(_uniform(random, (20e-6, 150e-6)), 0.1 * thickness), k, heat_capacity)
    if kind == "gap":
        return Gap(outline, depth, _uniform(random, (5e-6, 100e-6)))
    return _impact(random, outline, depth, thickness)


def _impact(random: np.random.Generator, outline: Outline, depth: float, thickness: float) -> Impact:
    """Three to five gaps that grow and turn from ply to ply; the outline is that of the last."""
    gaps = int(random.integers(3, 6))
    depths = np.linspace(min(depth, 0.6 * thickness), 0.9 * thickness, gaps)
    found = []
    for i, at in enumerate(depths):
        scale = 1 - 0.5 * (gaps - 1 - i) / (gaps - 1)
        width = (outline.width[0] * scale, outline.width[1] * scale)
        shape = Outline("ellipse", outline.centre, width, outline.angle + i * math.pi / 4)
        found.append(Gap(shape, float(at), _uniform(random, (10e-6, 50e-6))))
    return Impact(tuple(found))


def _apart(one: Defect, other: Defect, pixel: float) -> bool:
    """Whether heat that flows around one does not meet the other: a depth of the deeper one lies between them."""
    (a, b), (c, d) = one.outline.centre, other.outline.centre
    clear = max(3 * pixel, min(one.depth, other.depth))
    return math.hypot(a - c, b - d) >= one.outline.reach + other.outline.reach + clear


def _within(bounds: tuple[float, float], clear: float) -> tuple[float, float]:
    return bounds[0] + clear, bounds[1] - clear


def _rate(wanted: float) -> float:
    """The nearest rate that cameras have."""
    return float(min(RATES, key=lambda rate: abs(math.log(rate / wanted))))


def _uniform(random: np.random.Generator, between: tuple[float, float]) -> float:
    return float(random.uniform(*between))


def _spread(random: np.random.Generator, between: tuple[float, float]) -> float:
    """Uniform in the logarithm."""
    return math.exp(_uniform(random, (math.log(between[0]), math.log(between[1]))))
