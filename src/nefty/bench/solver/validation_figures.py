"""The figures of the paper's appendix I: how a Gaussian source spreads, and what a buried sphere does to it."""

from __future__ import annotations

import numpy as np

from nefty.bench.solver.validation import DEFECT, DEFECT_CONTRAST, SIGMA0, Experiment, Solutions, variances
from nefty.bench.tables.figures import curves, map_grid, measured_and_theory
from nefty.report.pages.page import Section


def validation_sections(experiment: Experiment, found: Solutions) -> list[Section]:
    """All of them, each with how to read it."""
    return [
        _variance(experiment, found),
        _diffusivities(experiment, found),
        _sphere(experiment, found),
        _profiles(experiment, found),
    ]


def _variance(experiment: Experiment, found: Solutions) -> Section:
    times = experiment.times()
    along_y, along_x = variances(found.low, experiment)
    theory = SIGMA0**2 + 2 * experiment.alpha * times
    return Section(
        "Variance",
        "Second moments of the surface temperature along x and y, and the theory sigma0^2 + 2 alpha t.",
        good="Points on the line.",
        figure=measured_and_theory(
            {"along x": (times, along_x), "along y": (times, along_y)}, (times, theory), "time", "variance"
        ),
    )


def _diffusivities(experiment: Experiment, found: Solutions) -> Section:
    high, low = _names(experiment)
    maps = {high: _maps(found.high, experiment), low: _maps(found.low, experiment)}
    return Section(
        "Effect of the diffusivity",
        "Surface temperature of the middle half at matched times; each row has its own colours.",
        good="The higher diffusivity spreads faster; both stay round.",
        figure=map_grid(maps, _titles(experiment), _face(experiment)),
    )


def _sphere(experiment: Experiment, found: Solutions) -> Section:
    _, cy, cx = DEFECT["centre"]
    circle = (cy - experiment.size[1] / 4, cx - experiment.size[2] / 4, DEFECT["radius"])
    frames = {"uniform": found.low, "sphere": found.defect, "difference": found.defect - found.low}
    return Section(
        "A buried sphere",
        f"Uniform material; a sphere of 1/{DEFECT_CONTRAST:g} of the diffusivity under the dashed circle; and the "
        "difference of the two. Each row has its own colours.",
        good="The defect holds the spreading heat back: warmer before it, colder behind, the symmetry broken.",
        figure=map_grid(
            {name: _maps(values, experiment) for name, values in frames.items()},
            _titles(experiment),
            _face(experiment),
            circle=dict.fromkeys(("sphere", "difference"), circle),
        ),
    )


def _profiles(experiment: Experiment, found: Solutions) -> Section:
    x, middle = experiment.grid.centres()[2].ravel(), experiment.shape[1] // 2
    high, low = _names(experiment)
    profiles = {
        "start": (x, experiment.exact(0.0, experiment.alpha)[0][middle]),
        f"{high}, end": (x, found.high[-1][middle]),
        f"{low}, end": (x, found.low[-1][middle]),
    }
    return Section(
        "Profiles",
        "Surface temperature along x through the middle, at the start and at the end.",
        good="One start; the higher diffusivity ends lower and broader.",
        figure=curves(profiles, "x", "temperature", log_x=False, log_y=False),
    )


def _names(experiment: Experiment) -> tuple[str, str]:
    """Of the high and the low diffusivity."""
    return f"alpha = {10 * experiment.alpha:g}", f"alpha = {experiment.alpha:g}"


def _shown(experiment: Experiment) -> list[int]:
    """Indices of the frames in the maps."""
    n = experiment.frames
    return sorted({0, n // 5 - 1, 2 * n // 5 - 1, n - 1} - {-1})


def _titles(experiment: Experiment) -> list[str]:
    return [f"t = {experiment.times()[i]:.3g}" for i in _shown(experiment)]


def _maps(frames: np.ndarray, experiment: Experiment) -> list[np.ndarray]:
    """The middle half (y, x) of the shown frames."""
    ny, nx = experiment.shape[1:]
    middle = (slice(ny // 4, ny - ny // 4), slice(nx // 4, nx - nx // 4))
    return [frames[i][middle] for i in _shown(experiment)]


def _face(experiment: Experiment) -> tuple[float, float]:
    """Edge lengths (y, x) of the middle half."""
    return experiment.size[1] / 2, experiment.size[2] / 2
