"""Recordings of drawn specimens, by a simulator that is not the solver, as a camera sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Listing
from typing import Any

import numpy as np

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.core.provenance import LIBRARIES, versions
from nefty.data.facts import Facts, Origin, Simulation, Source
from nefty.data.sequence import Excitation, Sequence
from nefty.physics.boundary import Boundary
from nefty.synth.camera import Camera
from nefty.synth.engines import ENGINES, run_engine
from nefty.synth.setup import PAPER_FLASH, PAPER_SIDES, PAPER_TIMES, Setup
from nefty.synth.specimen import PAPER_GRID, Specimen

Progress = Callable[[int, int], object]
SIMULATED = "simulated"  # what a record says of its origin


def simulate(
    specimen: Specimen,
    *,
    noise: float = 0.0,
    seed: int = 0,
    camera: Camera | None = None,
    grid: Grid = PAPER_GRID,
    times: Listing[float] | np.ndarray = PAPER_TIMES,
    excitation: Excitation = PAPER_FLASH,
    boundary: Boundary = PAPER_SIDES,
    observe: str = "front",
    engine: str = "explicit",
    refine: int | None = None,
    safety: float | None = None,
    face_mean: str | None = None,
    anisotropy: tuple[float, float] = (1.0, 1.0),
    dtype: str = "float64",
    progress: Progress | None = None,
) -> Sequence:
    """Simulate the recording of a specimen; by default the paper's slab, flash and frames.

    Args:
        specimen: what is recorded.
        noise: standard deviation of white Gaussian noise, as a share of the highest noise-free value: 0.001 is 0.1 %.
        seed: of noise and gains, together with the specimen's.
        camera: what else the camera does, ``nefty.Camera(noise=0.001, gain=0.03)``; instead of ``noise``.
        grid: one pixel per column of cells; the truth is given on it.
        times: of the frames after the flash.
        excitation: the flash or pulse, or the temperature at t = 0 on ``grid``.
        boundary: the sides.
        observe: ``"front"``, ``"back"`` or ``"both"``.
        engine: ``"explicit"``, ``"explicit-fine"``, ``"phiflow"`` or ``"phiflow-harmonic"``; see ``Setup``, and for the
            next three.
        refine: cells per cell of the grid along each axis.
        safety: factor of the rule for substeps.
        face_mean: diffusivity between two cells.
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        dtype: of the frames, ``"float64"`` or ``"float32"``.
        progress: called with (frames done, frames in all).

    Returns:
        The frames with everything that made them: in ``truth`` the diffusivity, in ``facts.origin.simulation`` the
        record that ``resimulate`` makes them again from, and the noise, which is left open in ``noise`` as it is in a
        real recording. ``face_mean`` is the model's, ``setup_of(recording).data_face_mean`` that of the data.
    """
    noise = number("noise", noise, at_least=0)
    if noise and camera is not None:
        raise InputError(f"noise={noise:g} and a camera were given; say Camera(noise={noise:g}, ...).")
    setup = Setup(
        grid=grid,
        times=times,
        excitation=excitation,
        boundary=boundary,
        observe=observe,
        engine=engine,
        refine=refine,
        safety=safety,
        face_mean=face_mean,
        anisotropy=anisotropy,
        camera=Camera(noise=noise) if camera is None else camera,
        seed=seed,
        dtype=dtype,
    )
    return record_specimen(specimen, setup, progress)


def record_specimen(specimen: Specimen, setup: Setup, progress: Progress | None = None) -> Sequence:
    """Simulate the recording of a specimen in a setup; see ``simulate``."""
    if not isinstance(specimen, Specimen):
        raise InputError(f"specimen={specimen!r} must be a Specimen, such as nefty.draw_specimen(seed=0).")
    record = record_of(specimen, setup)
    grid, times = setup.grid, np.asarray(setup.times)
    refine, safety = record["refine"], record["safety"]
    frames = run_engine(
        setup.engine,
        grid,
        specimen.alpha(grid.refined(refine)),
        times,
        setup.excitation,
        setup.boundary,
        face_mean=setup.data_face_mean,
        anisotropy=setup.anisotropy,
        observe=setup.observe,
        refine=refine,
        safety=safety,
        progress=progress,
    )
    frames, sigma = setup.camera.film(frames, grid.spacing[1:], (setup.seed, specimen.seed or 0))
    return Sequence(
        frames=frames.astype(setup.dtype, copy=False),
        times=times,
        size=grid.size,
        excitation=setup.excitation,
        boundary=setup.boundary,
        anisotropy=setup.anisotropy,
        face_mean=setup.model_face_mean,
        observe=setup.observe,
        truth=specimen.alpha(grid),
        facts=Facts(
            origin=Origin(
                source=Source.SIMULATION,
                name=SIMULATED,
                simulation=Simulation(
                    record=record,
                    noise_sigma=sigma,
                    versions=versions((*LIBRARIES, *ENGINES[setup.engine].distributions)),
                ),
            )
        ),
    )


def record_of(specimen: Specimen, setup: Setup) -> dict[str, Any]:
    """What ``resimulate`` needs, as plain values and at most one array."""
    return {"source": SIMULATED, "specimen": specimen.record(), **setup.record()}


def specimen_of(recording: Sequence) -> Specimen | None:
    """The specimen that a recording was simulated of; ``None`` if nefty did not draw it."""
    simulation = recording.facts.origin.simulation
    return None if simulation is None else _specimen(simulation.record)


def setup_of(recording: Sequence) -> Setup | None:
    """How a recording was simulated; ``None`` if nefty did not."""
    simulation = recording.facts.origin.simulation
    return None if simulation is None or "specimen" not in simulation.record else Setup.from_record(simulation.record)


def _specimen(record: Mapping[str, Any]) -> Specimen | None:
    return Specimen.from_record(record["specimen"]) if "specimen" in record else None


def resimulate(recording: Sequence | Mapping[str, Any], progress: Progress | None = None) -> Sequence:
    """Make a simulated recording again, from its record alone.

    With the same versions of the libraries on the same processor, frames, times and truth are equal bit by bit.

    Args:
        recording: a simulated recording, as it was or cut and masked since, or its record.
        progress: called with (frames done, frames in all).
    """
    record: Any = recording
    if isinstance(recording, Sequence):
        simulation = recording.facts.origin.simulation
        record = None if simulation is None else simulation.record
    if not isinstance(record, Mapping) or record.get("source") != SIMULATED:
        raise InputError("this is not a recording that nefty has simulated, so there is no record to make it from.")
    setup = Setup.from_record(record)
    return record_specimen(Specimen.from_record(record.get("specimen", {})), setup, progress)
