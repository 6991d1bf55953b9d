"""``nefty demo``: one flash over one buried defect, simulated, predicted and explained in one page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import numpy as np

    from nefty.cli.output import Stages
    from nefty.core.grid import Grid
    from nefty.physics.heat_model import HeatModel
    from nefty.report.flash_study import FlashStudy

BULK, DEFECT = 0.15, 0.01
CENTRE = (0.4, 3.7, 3.3)  # of the defect, (z, y, x)
RADII = (0.12, 1.1, 1.4)  # half thickness, and half axes of the ellipse along y and x


def run(
    out: Annotated[Path, typer.Option(help="Folder to write to.", file_okay=False)] = Path("demo"),
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = False,
) -> None:
    """Flash a part with a buried defect; explain it in a page."""
    import json

    from nefty.cli.output import Stages
    from nefty.core.files import write_atomic

    stages = Stages(total=5)
    study = simulate(stages)
    with stages.stage("Write the page"):
        from nefty.core.provenance import provenance
        from nefty.report.demo_page import demo_page

        origin = provenance() | _setup(study)
        html = demo_page(study, origin).render()
        summary = json.dumps(study.summary() | {"provenance": origin}, indent=2, ensure_ascii=False)
        page = write_atomic(out / "index.html", html)
        write_atomic(out / "summary.json", summary + "\n")
    facts = study.summary()
    typer.echo(
        f"The solver agrees with the independent simulator to {facts['rmse_part']:.2g} (RMSE; the flash is 100). "
        f"Forward {_ms(facts['seconds']['forward'])}, gradient {_ms(facts['seconds']['gradient'])}.\n"
        f"Page: {page} ({len(html.encode()) / 1e6:.1f} MB); open it in a browser."
    )
    if show:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def simulate(stages: Stages, grid: Grid | None = None, times: np.ndarray | None = None) -> FlashStudy:
    """Simulate, predict and differentiate; by default on the paper's slab, 64 x 64 x 16 cells and 100 frames.

    Args:
        stages: where progress goes; four stages are used.
        grid: other cells, of a slab 1 deep and 10 wide.
        times: other frames.
    """
    with stages.stage("Load the libraries"):
        import numpy as np

        from nefty import GaussianFlash, Grid, HeatModel, simulate_explicit
        from nefty.report.flash_study import FlashStudy

    grid = grid or Grid(shape=(16, 64, 64), size=(1.0, 10.0, 10.0))
    times = 0.05 * np.arange(1, 101) if times is None else times
    flash = GaussianFlash(amplitude=100.0, width=2.5, depth=0.2)
    sound = np.full(grid.shape, BULK)
    part = np.where(_disc(grid), DEFECT, sound)

    with stages.stage("Compile the solver", hint="the first time on a machine takes a while"):
        tiny = Grid(shape=(3, 4, 5), size=(1.0, 10.0, 10.0))
        simulate_explicit(tiny, np.full(tiny.shape, BULK), times[:1], flash)
        _misfit_gradient(HeatModel(tiny, times[:1], flash), np.full(tiny.shape, BULK), np.zeros((1, 4, 5)))

    with stages.stage("Simulate the recording, with and without the defect") as report:
        recording, reference = (
            simulate_explicit(grid, alpha, times, flash, safety=16, progress=lambda i, n, k=k: report((k + i / n) / 2))
            for k, alpha in enumerate((part, sound))
        )

    with stages.stage("Predict, and differentiate the misfit"):
        model = HeatModel(grid, times, initial=flash)
        modelled, forward = _timed(lambda: model(part).numpy())
        gradient, backward = _timed(lambda: _misfit_gradient(model, sound, recording))

    return FlashStudy(
        grid=grid,
        times=times,
        part=part,
        sound=sound,
        recording=recording,
        reference=reference,
        modelled=modelled,
        modelled_sound=model(sound).numpy(),
        gradient=gradient,
        seconds={"forward": forward, "gradient": backward},
    )


def _disc(grid: Grid) -> np.ndarray:
    """Mask of the defect: an elliptic disc."""
    z, y, x = ((c - m) / r for c, m, r in zip(grid.centres(), CENTRE, RADII, strict=True))
    return (abs(z) <= 1) & (y**2 + x**2 <= 1)


def _misfit_gradient(model: HeatModel, alpha: np.ndarray, recording: np.ndarray) -> np.ndarray:
    """d/d alpha of half the sum of squares between the model's frames and the recording."""
    import torch

    unknown = torch.from_numpy(alpha).requires_grad_()
    misfit = 0.5 * ((model(unknown) - torch.from_numpy(recording)) ** 2).sum()
    (gradient,) = torch.autograd.grad(misfit, unknown)
    return gradient.numpy()


def _timed(function: Callable[[], np.ndarray], repeats: int = 5) -> tuple[np.ndarray, float]:
    """The function's value and the shortest of its durations: what it takes when nothing else runs."""
    import time

    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        value = function()
        durations.append(time.perf_counter() - start)
    return value, min(durations)  # pyright: ignore[reportPossiblyUnbound]


def _setup(study: FlashStudy) -> dict[str, str]:
    """What was simulated, for the provenance."""
    nz, ny, nx = study.grid.shape
    lz, ly, lx = study.grid.size
    return {
        "cells (z, y, x)": f"{nz} × {ny} × {nx}",
        "size (z, y, x)": f"{lz:g} × {ly:g} × {lx:g}",
        "frames": f"{len(study.times)}, t = {study.times[0]:g} to {study.times[-1]:g}",
        "flash": "Gaussian, amplitude 100, width 2.5, depth 0.2",
        "diffusivity": f"bulk {BULK:g}, defect {DEFECT:g}",
        "sides": "periodic; front and back adiabatic",
        "simulator": "explicit Euler, float64, harmonic faces, same grid, steps 1/16 of the stability limit",
        "solver": "Chebyshev, float32, harmonic faces",
        "forward": f"{_ms(study.seconds['forward'])}, best of 5",
        "gradient": f"{_ms(study.seconds['gradient'])}, best of 5, simulation included",
    }


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"
