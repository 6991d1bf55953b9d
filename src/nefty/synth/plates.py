"""Plates with flat-bottom holes, like those of the PVC benchmark (Wei, Osman, Valeske, Maldague 2023), and recordings
of them.

A hole is drilled from the back and ends at a known depth below the inspected face. It is air at ambient, whose walls
lose heat like the back face. The recording is what a camera saw: a short flash, heat loss on both faces, uneven gain,
noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from nefty.core.checks import count, number, one_of
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import METRE, Facts, Hole, KnownDefects, Note, NoteKind, Origin, Simulation, Source, Units
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.materials import material
from nefty.physics.pulses import TopHatPulse
from nefty.synth.camera import Camera
from nefty.synth.explicit import simulate_explicit

HOLES = ("round", "rectangular")
SIZE = (5e-3, 0.1, 0.1)  # m, (z, y, x)
DEPTHS = (0.5e-3, 1.0e-3, 1.5e-3, 2.0e-3, 2.5e-3)  # m, those that the benchmark's labels can say
WIDTHS = (2e-3, 10e-3)  # m
CLEARANCE = 6e-3  # m, between holes and to the sides
TRIALS = 2000
CELL = (1e-4, 4e-4)  # m, of the simulation: along z; along y and x
PER_DECADE = 30  # simulated times, between which splines in log t are exact to 1e-5
SAFETY = 1.5  # of the explicit steps
STREAM = 50  # seeds of plates, apart from those of specimens


@dataclass(frozen=True)
class Plate:
    """A plate with holes; SI units.

    Args:
        holes: that do not overlap.
        alpha: diffusivity of the material in m2/s.
        h_front: heat loss of the front over rho c, in m/s.
        h_back: of the back and the holes' walls.
        size: (z, y, x) in m.
    """

    holes: tuple[Hole, ...]
    alpha: float
    h_front: float
    h_back: float
    size: tuple[float, float, float] = SIZE

    def depth_map(self, shape: tuple[int, int]) -> np.ndarray:
        """Depth of the hole under the centre of each of (y, x) pixels, in m; NaN where there is none."""
        y, x = ((np.arange(n) + 0.5) * s / n for n, s in zip(shape, self.size[1:], strict=True))
        depth = np.full(shape, np.nan)
        for hole in self.holes:
            depth[hole.covers(y[:, None], x)] = hole.depth
        return depth


def draw_plate(seed: int, kind: str = "round", holes: int = 12) -> Plate:
    """A PVC plate with holes of 2 to 10 mm at 0.5 to 2.5 mm, at random.

    Diffusivity within 10 % of the table's, losses of 5 to 15 W/m2K on the front and 8 to 25 on the back.

    Args:
        seed: the same one gives the same plate.
        kind: of the holes, ``"round"`` or ``"rectangular"``.
        holes: how many, where there is room.
    """
    one_of("kind", kind, HOLES)
    random = np.random.default_rng([count("seed", seed, at_least=0), STREAM, HOLES.index(kind)])
    pvc = material("pvc")
    alpha = pvc.alpha_z * random.uniform(0.9, 1.1)
    h_front, h_back = pvc.loss(random.uniform(5, 15)), pvc.loss(random.uniform(8, 25))
    placed: list[Hole] = []
    for _ in range(TRIALS):
        if len(placed) == count("holes", holes):
            break
        widths = random.uniform(*WIDTHS, 2)
        width = (widths[0], widths[0]) if kind == "round" else (widths[0], widths[1])
        margin = [w / 2 + CLEARANCE for w in width]
        centre = [float(random.uniform(m, s - m)) for m, s in zip(margin, SIZE[1:], strict=True)]
        depth = DEPTHS[len(placed) % len(DEPTHS)]
        hole = Hole(kind, (centre[0], centre[1]), (float(width[0]), float(width[1])), depth)
        if all(_apart(hole, other) for other in placed):
            placed.append(hole)
    return Plate(tuple(placed), alpha, h_front, h_back)


def record_plate(
    plate: Plate,
    *,
    seed: int = 0,
    pixels: tuple[int, int] = (200, 200),
    fps: float = 10.0,
    seconds: float = 181.0,
    flash: float = 5e-3,
    rise: float = 10.0,
    camera: Camera | None = None,
    before: int = 10,
    cell: tuple[float, float] = CELL,
    progress: Callable[[int, int], object] | None = None,
) -> Sequence:
    """What a camera records of a plate after a flash, by the independent simulator.

    The plate is simulated on cells of its own, not those of the pixels, and seen at its surface. Frames show the mean
    over a pixel; ``facts.defects`` holds the holes and the true depth (y, x) in m, ``facts.origin.simulation`` the true
    gain.

    Args:
        plate: what is recorded.
        seed: of noise and gain.
        pixels: (y, x).
        fps: frames per second; the first comes one period after the flash.
        seconds: how long, after the flash.
        flash: its duration in s.
        rise: of the sound surface in the first frame, in K.
        camera: noise of 30 mK and gains of 3 % over 2 cm if not given.
        before: frames before the flash.
        cell: of the simulation, along z and along y and x, in m.
        progress: called with (done, in all).
    """
    camera = camera or Camera(sigma=0.03, gain=0.03, gain_length=0.02)
    number("fps", fps, above=0)
    number("seconds", seconds, above=1 / fps)
    times = np.arange(1, math.floor(seconds * fps) + 1) / fps
    boundary = Boundary(lateral="adiabatic", front="robin", back="robin", h_front=plate.h_front, h_back=plate.h_back)
    knots, seen = _surface_at_knots(plate, times, TopHatPulse(amplitude=1.0, duration=flash), boundary, cell, progress)
    seen = np.stack([_resampled(frame, pixels) for frame in seen])
    depth = plate.depth_map(pixels)
    sound = np.isnan(depth)
    if not sound.any():
        raise InputError("the holes leave no sound pixel; draw fewer.")
    seen *= rise / float(np.median(seen[0][sound]))
    frames = np.zeros((before + len(times), *pixels))
    frames[before:] = CubicSpline(np.log(knots), seen)(np.log(times))
    pixel = (plate.size[1] / pixels[0], plate.size[2] / pixels[1])
    gain = camera.gains((), pixels, pixel, (seed,))[0] if camera.gain else np.ones(pixels)
    frames, sigma = camera.film(frames, pixel, (seed,))
    return Sequence(
        frames=frames.astype(np.float32),
        times=np.concatenate([(np.arange(-before, 0) + 0.5) / fps, times]),
        size=plate.size,
        excitation=TopHatPulse(duration=flash),
        boundary=boundary,
        noise=sigma or None,
        facts=_known(plate, depth, gain, sigma, cell),
    )


def _surface_at_knots(
    plate: Plate,
    times: np.ndarray,
    pulse: TopHatPulse,
    boundary: Boundary,
    cell: tuple[float, float],
    progress: Callable[[int, int], object] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """A few times that span those of the frames, and the surface's rise (t, y, x) then, on the simulation's cells."""
    shape = tuple(max(round(s / c), 1) for s, c in zip(plate.size, (cell[0], cell[1], cell[1]), strict=True))
    grid = Grid((shape[0], shape[1], shape[2]), plate.size)
    knots = np.geomspace(times[0], times[-1], max(4, round(PER_DECADE * math.log10(times[-1] / times[0]))))
    seen = simulate_explicit(
        grid,
        np.full(grid.shape, plate.alpha),
        knots,
        pulse,
        boundary,
        observe="surface",
        safety=SAFETY,
        air=_air(plate, grid),
        progress=progress,
    )
    return knots, seen


def _known(plate: Plate, depth: np.ndarray, gain: np.ndarray, sigma: float, cell: tuple[float, float]) -> Facts:
    """What the recording says of the plate and of itself."""
    made = Simulation(
        record={"plate": {"alpha": plate.alpha, "h_front": plate.h_front, "h_back": plate.h_back}},
        noise_sigma=sigma,
        gain=gain,
    )
    text = f"Simulated on cells of {cell[0] * 1e3:g} x {cell[1] * 1e3:g} mm, seen at the surface."
    return Facts(
        units=Units(length=METRE, time="s", temperature="K"),
        material=material("pvc"),
        defects=KnownDefects(mask=~np.isnan(depth), depth=depth, holes=plate.holes),
        origin=Origin(source=Source.SIMULATION, name="nefty.synth.plates", simulation=made),
        notes=(Note(NoteKind.OTHER, text),),
    )


def _air(plate: Plate, grid: Grid) -> np.ndarray:
    """Cells whose centre lies in a hole."""
    below = plate.depth_map((grid.shape[1], grid.shape[2]))
    with np.errstate(invalid="ignore"):
        return grid.centres()[0] > below


def _resampled(frame: np.ndarray, pixels: tuple[int, int]) -> np.ndarray:
    """Means of a frame over other pixels: the integral, linear within a cell, taken at the new edges."""
    for axis, new in enumerate(pixels):
        old = frame.shape[axis]
        total = np.concatenate([np.zeros_like(frame.take([0], axis)), np.cumsum(frame, axis=axis)], axis=axis)
        edges = np.linspace(0, old, new + 1)
        left = np.minimum(edges.astype(int), old - 1)
        share = np.expand_dims(edges - left, 1 - axis)
        at = total.take(left, axis) * (1 - share) + total.take(left + 1, axis) * share
        frame = np.diff(at, axis=axis) * (new / old)
    return frame


def _apart(one: Hole, other: Hole) -> bool:
    """Whether the rectangles around two holes have the clearance between them, along y or x."""
    return any(
        abs(a - b) >= (u + v) / 2 + CLEARANCE
        for a, b, u, v in zip(one.centre, other.centre, one.width, other.width, strict=True)
    )
