"""``nefty bench run validation``: the experiments of the paper's appendix I.

A Gaussian source in uniform material stays Gaussian, and its variance grows at the rate 2 alpha along each axis. The
slab is large enough that the source never feels its sides; the front and back mirror it, which the analytic solution
accounts for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import nefty
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.tell import Tell, say_nothing

SIGMA0 = 1.0  # initial standard deviation of the source
AMPLITUDE = 100.0
DEFECT = {"centre": (0.55, 10.0, 11.5), "radius": 0.5}  # (z, y, x)
DEFECT_CONTRAST = 20.0
DEFAULT = "nefty, default (Chebyshev)"

COLUMNS = (
    Column("title", "integrator"),
    Column("slope", "slope of the variance", lambda v: f"{v:.6f}"),
    Column("relative_error", "error of the slope", lambda v: f"{100 * v:.4f} %"),
    Column("rmse", "surface RMSE, analytic", formats.error),
    Column("first_frame", "largest error, first frame", formats.error),
)


@dataclass(frozen=True)
class Experiment:
    """The slab and the frames of appendix I.

    Args:
        shape: cells along (z, y, x).
        size: edge lengths along (z, y, x).
        frames: number of frames.
        dt: time from frame to frame.
        alpha: diffusivity.
        transient: time before which the regression takes no points.
    """

    shape: tuple[int, int, int] = (16, 128, 128)
    size: tuple[float, float, float] = (2.0, 20.0, 20.0)
    frames: int = 100
    dt: float = 0.05
    alpha: float = 0.1
    transient: float = 1.0

    @property
    def grid(self) -> nefty.Grid:
        """The cells."""
        return nefty.Grid(self.shape, self.size)

    def times(self) -> np.ndarray:
        """Times of the frames."""
        return self.dt * np.arange(1, self.frames + 1)

    def exact(self, time: float, alpha: float) -> np.ndarray:
        """The analytic temperature (z, y, x) at the cell centres.

        Each axis has the factor sigma0/sigma exp(-s^2/(2 sigma^2)) with sigma^2 = sigma0^2 + 2 alpha t, summed over
        the mirror images in the faces z = 0 and z = H; the source lies on the front face.
        """
        variance = SIGMA0**2 + 2 * alpha * time
        z, y, x = self.grid.centres()
        depth, height, width = self.size

        def gauss(s: np.ndarray) -> np.ndarray:
            return SIGMA0 / np.sqrt(variance) * np.exp(-(s**2) / (2 * variance))

        images = sum(gauss(z - 2 * n * depth) for n in range(-6, 7))
        return AMPLITUDE * images * gauss(y - height / 2) * gauss(x - width / 2)

    def sphere(self) -> np.ndarray:
        """Diffusivity with the low-diffusivity sphere, (z, y, x)."""
        distance = sum((c - p) ** 2 for c, p in zip(self.grid.centres(), DEFECT["centre"], strict=True))
        inside = np.broadcast_to(distance < DEFECT["radius"] ** 2, self.shape)
        return np.where(inside, self.alpha / DEFECT_CONTRAST, self.alpha)


@dataclass(frozen=True, eq=False)
class Solutions:
    """Frames (t, y, x) of the default solver: in uniform material, at ten times the diffusivity, over a sphere."""

    low: np.ndarray
    high: np.ndarray
    defect: np.ndarray

    @staticmethod
    def of(experiment: Experiment, low: np.ndarray, tell: Tell) -> Solutions:
        """``low`` is known already."""
        solve = integrators()[DEFAULT]
        tell("figures", "high diffusivity")
        high = solve(experiment, np.full(experiment.shape, 10 * experiment.alpha))
        tell("figures", "spherical defect")
        return Solutions(low, high, solve(experiment, experiment.sphere()))


Solve = Callable[[Experiment, np.ndarray], np.ndarray]


def integrators() -> dict[str, Solve]:
    """What is validated: a function of the experiment and a diffusivity (z, y, x) each, to frames (t, y, x)."""
    once = nefty.PerFrame(1)
    settings: dict[str, dict[str, Any]] = {
        DEFAULT: {},
        "nefty, Chebyshev, float64": {"dtype": "float64"},
        "nefty, SDIRK2 + CG": {"integrator": nefty.SDIRK2(steps=once, solver=nefty.ConjugateGradients())},
        "implicit Euler + CG": {"integrator": nefty.ImplicitEuler(steps=once, solver=nefty.ConjugateGradients())},
        "paper's (implicit Euler, 50 Jacobi sweeps)": {
            "integrator": nefty.ImplicitEuler(steps=once, solver=nefty.Jacobi(sweeps=50)),
            "kernel": "torch",
        },
    }
    solves: dict[str, Solve] = {name: _model(choice) for name, choice in settings.items()}
    solves["explicit simulator"] = _explicit
    return solves


def _model(settings: Mapping[str, Any]) -> Solve:
    def solve(experiment: Experiment, alpha: np.ndarray) -> np.ndarray:
        start = experiment.exact(0.0, experiment.alpha)
        model = nefty.HeatModel(experiment.grid, experiment.times(), initial=start, **settings)
        with torch.no_grad():
            return model(torch.from_numpy(alpha).to(model.dtype)).numpy().astype(np.float64)

    return solve


def _explicit(experiment: Experiment, alpha: np.ndarray) -> np.ndarray:
    start = experiment.exact(0.0, experiment.alpha)
    return nefty.simulate_explicit(experiment.grid, alpha, experiment.times(), start)


def variances(frames: np.ndarray, experiment: Experiment) -> tuple[np.ndarray, np.ndarray]:
    """Temperature-weighted second moments of the surface about its centroid, along y and x, of every frame."""
    _, y, x = (c.squeeze() for c in experiment.grid.centres())
    found = []
    for coordinate, other in ((y, 2), (x, 1)):
        weight = frames.sum(axis=other)
        mean = weight @ coordinate / weight.sum(axis=1)
        found.append(weight @ coordinate**2 / weight.sum(axis=1) - mean**2)
    return found[0], found[1]


def slope(frames: np.ndarray, experiment: Experiment) -> float:
    """d(variance)/dt by linear regression after the transient, mean of y and x."""
    times = experiment.times()
    late = times > experiment.transient
    slopes = [np.polyfit(times[late], v[late], 1)[0] for v in variances(frames, experiment)]
    return float(np.mean(slopes))


def run(experiment: Experiment | None = None, *, tell: Tell = say_nothing) -> Results:
    """The Gaussian diffusion-rate experiment for every integrator, and the figures of appendix I.

    Args:
        experiment: slab and frames; a large one if not given.
        tell: hears the stages.
    """
    from nefty.bench.solver.validation_figures import validation_sections

    experiment = experiment or Experiment()
    uniform = np.full(experiment.shape, experiment.alpha)
    exact = np.stack([experiment.exact(t, experiment.alpha)[0] for t in experiment.times()])
    rows, first = [], None
    for name, solve in integrators().items():
        tell("Gaussian diffusion rate", name)
        frames = solve(experiment, uniform)
        first = frames if first is None else first
        rows.append(_row(name, frames, exact, experiment))
    assert first is not None
    return Results(
        name="validation",
        title="Validation of the simulator",
        lead=f"The Gaussian diffusion-rate experiment of the paper's appendix I: alpha = {experiment.alpha:g}, theory "
        f"2 alpha = {2 * experiment.alpha:g}, regression after t = {experiment.transient:g}.",
        tables=[Table("Growth of the variance", COLUMNS, rows)],
        notes=[
            "The paper reports a slope of 0.1997 and an error of 0.16 %.",
            "Surface RMSE is against the analytic solution at the centres of the front cells, so it holds the error "
            "of the grid too.",
        ],
        settings={"experiment": experiment.__dict__, "sigma0": SIGMA0, "defect": DEFECT},
        sections=validation_sections(experiment, Solutions.of(experiment, first, tell)),
    )


def _row(name: str, frames: np.ndarray, exact: np.ndarray, experiment: Experiment) -> dict[str, Any]:
    found, theory = slope(frames, experiment), 2 * experiment.alpha
    return {
        "title": name,
        "slope": found,
        "relative_error": abs(found - theory) / theory,
        "rmse": float(np.sqrt(np.mean((frames - exact) ** 2))),
        "first_frame": float(np.abs(frames[0] - exact[0]).max()),
    }
