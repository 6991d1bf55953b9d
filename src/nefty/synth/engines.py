"""The simulators that data can come from, by name."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nefty.core.errors import InputError, MissingExtraError
from nefty.core.grid import Grid
from nefty.data.sequence import Excitation
from nefty.physics.boundary import Boundary
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import TopHatPulse
from nefty.synth.explicit import simulate_explicit


@dataclass(frozen=True)
class Engine:
    """A simulator and what it does unless told otherwise.

    Args:
        face_mean: diffusivity between two cells.
        safety: of the rule for substeps; 2 is the paper's.
        refine: cells per cell of the grid, along each axis.
        package: library it needs beyond nefty's own, by the name one imports.
        distributions: whose versions go into the record.
    """

    face_mean: str = "harmonic"
    safety: float = 16.0
    refine: int = 1
    package: str | None = None
    distributions: tuple[str, ...] = ()

    def refuse_missing(self) -> None:
        """Raise if its library is not there."""
        if self.package is not None and importlib.util.find_spec(self.package) is None:
            raise MissingExtraError("the engine PhiFlow is not installed: pip install nefty[phiflow]")


_PHIFLOW = ("phiflow", "phiml")
ENGINES = {
    "explicit": Engine(),
    "explicit-fine": Engine(refine=2),
    "phiflow": Engine("min", safety=2.0, package="phi", distributions=_PHIFLOW),
    "phiflow-harmonic": Engine("harmonic", safety=2.0, package="phi", distributions=_PHIFLOW),
}


def run_engine(
    name: str,
    grid: Grid,
    alpha: np.ndarray,
    times: np.ndarray,
    excitation: Excitation,
    boundary: Boundary,
    *,
    face_mean: str,
    anisotropy: tuple[float, float],
    observe: str,
    refine: int,
    safety: float,
    progress: Callable[[int, int], object] | None = None,
) -> np.ndarray:
    """Frames by the engine called ``name``; the arguments are those of ``simulate_explicit``.

    PhiFlow has adiabatic faces, isotropic parts, flashes and the grid itself, and refuses the rest.
    """
    engine = ENGINES[name]
    engine.refuse_missing()
    if isinstance(excitation, HeatingCurve):
        raise InputError("the simulators of specimens know flashes and even pulses; give TopHatPulse(duration=...).")
    if engine.package is None:
        return simulate_explicit(
            grid,
            alpha,
            times,
            excitation,
            boundary,
            face_mean=face_mean,
            anisotropy=anisotropy,
            observe=observe,
            refine=refine,
            safety=safety,
            progress=progress,
        )
    beyond = {
        f"face_mean={face_mean!r}": face_mean != engine.face_mean,
        "a Robin face": "robin" in (boundary.front, boundary.back),
        f"anisotropy={anisotropy}": anisotropy != (1.0, 1.0),
        f"refine={refine}": refine != 1,
        "a pulse that lasts": isinstance(excitation, TopHatPulse),
    }
    for what in (what for what, given in beyond.items() if given):
        raise InputError(f'engine={name!r} cannot do {what}; use engine="{_able(engine, face_mean)}".')
    initial = _at_the_start(excitation, grid)
    from nefty.synth.phiflow_engine import simulate_phiflow

    return simulate_phiflow(
        grid,
        alpha,
        times,
        initial,
        lateral=boundary.lateral,
        face_mean=face_mean,
        observe=observe,
        safety=safety,
        progress=progress,
    )


def _able(engine: Engine, face_mean: str) -> str:
    """The name of an engine that can do what this one cannot."""
    others = [n for n, e in ENGINES.items() if e.package and e.face_mean == face_mean]
    return others[0] if face_mean != engine.face_mean and others else "explicit"


def _at_the_start(excitation: Excitation, grid: Grid) -> np.ndarray:
    """Temperature of each cell (z, y, x) at t = 0."""
    if not isinstance(excitation, np.ndarray):
        return excitation.amplitude * excitation.shape(grid)
    if excitation.shape != grid.shape:
        raise InputError(f"the excitation has shape {excitation.shape}, the grid {grid.shape}; give one value a cell.")
    return excitation
