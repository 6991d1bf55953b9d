"""``nefty doctor``: what is installed, does the solver compute the right thing here, and how fast."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nefty.cli.output import Stages
    from nefty.physics.heat_model import HeatModel


@dataclass(frozen=True)
class Check:
    """One property of the solver, measured.

    Args:
        name: the property.
        measured: what came out, or the error that was raised.
        wanted: what it must be.
        passed: whether it is.
    """

    name: str
    measured: str
    wanted: str
    passed: bool


def run(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a machine to read.")] = False,
) -> None:
    """Check this installation: versions, correctness, speed."""
    from nefty.cli.output import Stages

    stages = Stages(total=6, quiet=as_json)
    report = examine(stages)
    if as_json:
        import json

        typer.echo(json.dumps(report | {"checks": [asdict(check) for check in report["checks"]]}, indent=2))
    else:
        _show(report)
    if not report["healthy"]:
        raise typer.Exit(1)


def examine(stages: Stages) -> dict[str, Any]:
    """Everything the doctor knows: ``system``, ``extras``, ``plug-ins``, ``checks``, ``speed``, ``healthy``."""
    from nefty.core.machine import devices, extras, room, threads
    from nefty.core.provenance import host, versions

    checks: list[Check] = []

    def check(name: str, wanted: str, function: Callable[[], tuple[str, bool]]) -> None:
        """A check that raises is a check that failed."""
        try:
            measured, passed = function()
        except Exception as error:
            measured, passed = f"{type(error).__name__}: {error}", False
        checks.append(Check(name, measured, wanted, passed))

    with stages.stage("Load the libraries"):
        check("libraries load", "no error", _load)
    with stages.stage("Compile the solver", hint="the first time on a machine takes a while"):
        check("solver compiles and runs", "finite frames", _compile)
    with stages.stage("Check the derivatives"):
        check("Jᵀ is the transpose of J", "≤ 1e-10", _transpose)
        check("Taylor remainder of the gradient, order", "≥ 1.9", _taylor)
    with stages.stage("Check convergence in time"):
        check("SDIRK2 in time, order", "2.0 ± 0.2", _time_order)
    with stages.stage("Compare with closed forms and between kernels"):
        check("decay of a cosine mode, relative error", "≤ 1e-8", _cosine)
        check("flash on a slab against its series", "≤ 0.5 %", _slab)
        check("numba against torch kernel, relative", "≤ 1e-10", _kernels)
    with stages.stage("Measure the speed"):
        speed = _speed() if all(c.passed for c in checks[:2]) else {}
    return {
        "healthy": all(c.passed for c in checks),
        "system": versions() | host() | devices() | threads() | room(),
        "extras": extras(),
        "plug-ins": _plug_ins(),
        "checks": checks,
        "speed": speed,
    }


def _plug_ins() -> dict[str, str]:
    """What other packages add, and why some of it cannot be used: no fault of nefty's, so the checks go on without."""
    import warnings

    from nefty.bench.tasks.methods import plug_ins as methods
    from nefty.data.formats import plug_ins as readers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table says it
        formats, unread = readers()
        added = methods()
    return {
        **{f"reader {format.name}": "found" for format in formats},
        **{f"method {one.thing.name}": f"found{one.package and f', of {one.package}'}" for one in added.found},
        **{f"readers {name}": f"broken: {why}" for name, why in unread.items()},
        **{f"methods {name}": f"broken: {why}" for name, why in added.broken.items()},
    }


def _load() -> tuple[str, bool]:
    import h5py  # noqa: F401
    import numba  # noqa: F401
    import plotly  # noqa: F401
    import torch  # noqa: F401

    return "all", True


def _compile() -> tuple[str, bool]:
    """Run every kernel once that the checks and the measurement use, in both precisions."""
    import torch

    finite = True
    for dtype in ("float32", "float64"):
        model, alpha, _ = _small(dtype=dtype)
        alpha = alpha.requires_grad_()
        frames = model(alpha)
        frames.sum().backward()
        finite &= bool(torch.isfinite(frames).all())
    model, alpha, direction = _small()
    model.linearize(alpha).jvp(direction)
    _small(integrator="sdirk2")[0](alpha)
    return "finite" if finite else "NaN or infinity", finite


def _transpose() -> tuple[str, bool]:
    import torch

    from nefty.testing import dot_product

    model, alpha, direction = _small()
    at = model.linearize(alpha)
    cotangent = torch.randn(at.frames.shape, generator=torch.Generator().manual_seed(0), dtype=at.frames.dtype)
    error = dot_product(at.jvp, at.vjp, direction, cotangent)
    return f"{error:.1e}", error <= 1e-10


def _taylor() -> tuple[str, bool]:
    from nefty.testing import taylor_order

    model, alpha, direction = _small()
    target = model(alpha * 1.1)

    def misfit(a: Any) -> Any:
        return 0.5 * ((model(a) - target) ** 2).sum()

    at = model.linearize(alpha)
    result = taylor_order(misfit, at.vjp(at.frames - target), alpha, 0.1 * direction)
    return f"{result.order:.2f}", result.passed


def _time_order() -> tuple[str, bool]:
    """SDIRK2 with 2 to 16 steps per frame against the Chebyshev expansion, whose time error is 1e-12."""
    from nefty import SDIRK2, ConjugateGradients, PerFrame
    from nefty.testing import ConvergenceStudy

    model, alpha, _ = _small()
    exact = model(alpha)

    def error(step: float) -> float:
        scheme = SDIRK2(steps=PerFrame(round(1 / step)), solver=ConjugateGradients(tolerance=1e-12))
        return float((_small(integrator=scheme)[0](alpha) - exact).norm())

    order = ConvergenceStudy.run(error, [1 / 2, 1 / 4, 1 / 8, 1 / 16]).orders[-1]
    return f"{order:.2f}", abs(order - 2) <= 0.2


def _cosine() -> tuple[str, bool]:
    import numpy as np

    from nefty import Grid, HeatModel
    from nefty.testing import cosine_mode, discrete_decay_rate

    grid, numbers, times = Grid((8, 12, 16), (1.0, 3.0, 4.0)), (1, 1, 2), np.linspace(0.1, 2, 20)
    mode = cosine_mode(grid, numbers)
    frames = HeatModel(grid, times, mode, dtype="float64")(np.full(grid.shape, 0.15)).numpy()
    exact = mode[0] * np.exp(-discrete_decay_rate(grid, numbers, 0.15) * times)[:, None, None]
    error = float(np.abs(frames - exact).max() / np.abs(exact).max())
    return f"{error:.1e}", error <= 1e-8


def _slab() -> tuple[str, bool]:
    """The mean of the front layer of cells against the series for a uniform flash, from t = 0.25 on."""
    import numpy as np

    from nefty import Grid, HeatModel, UniformFlash
    from nefty.testing import Slab

    grid, times = Grid((32, 2, 2), (1.0, 1.0, 1.0)), np.linspace(0.25, 5, 20)
    model = HeatModel(grid, times, UniformFlash(amplitude=100.0, depth=0.2), dtype="float64")
    frames = model(np.full(grid.shape, 0.15)).numpy()
    exact = Slab(alpha=0.15, thickness=1.0, layers=32).gaussian_flash(times, depth=0.2, amplitude=100.0)
    error = float(np.abs(frames[:, 0, 0] / exact[:, 0] - 1).max())
    return f"{100 * error:.2g} %", error <= 0.005


def _kernels() -> tuple[str, bool]:
    model, alpha, _ = _small(kernel="numba")
    ours = model(alpha)
    other = _small(kernel="torch")[0](alpha)
    error = float((ours - other).norm() / ours.norm())
    return f"{error:.1e}", error <= 1e-10


def _speed() -> dict[str, float]:
    """Seconds of one forward and one gradient at 64 x 64 x 16 cells and 100 frames, best of five."""
    import numpy as np
    import torch

    from nefty import GaussianFlash, Grid, HeatModel

    grid = Grid((16, 64, 64), (1.0, 10.0, 10.0))
    model = HeatModel(grid, 0.05 * np.arange(1, 101), GaussianFlash())
    alpha = torch.full(grid.shape, 0.15)
    alpha[5:8, 20:30, 20:30] = 0.01

    def gradient() -> None:
        a = alpha.clone().requires_grad_()
        model(a).square().sum().backward()

    gradient()
    return {"forward": _best(lambda: model(alpha)), "gradient": _best(gradient)}


def _best(function: Callable[[], Any], repeats: int = 5) -> float:
    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        durations.append(time.perf_counter() - start)
    return min(durations)


def _small(**options: Any) -> tuple[HeatModel, Any, Any]:
    """A model on a few cells in float64, a random diffusivity for it, and a random direction."""
    import numpy as np
    import torch

    from nefty import GaussianFlash, Grid, HeatModel

    grid = Grid((6, 8, 10), (1.0, 4.0, 5.0))
    flash = GaussianFlash(amplitude=1.0, width=1.5, depth=0.3)
    options.setdefault("dtype", "float64")
    model = HeatModel(grid, np.linspace(0.1, 1, 10), flash, **options)
    random = np.random.default_rng(0)
    alpha = torch.from_numpy(random.uniform(0.05, 0.3, grid.shape)).to(model.dtype)
    return model, alpha, torch.from_numpy(random.standard_normal(grid.shape)).to(model.dtype) * alpha


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from nefty.core.words import duration

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 110

    def table(title: str, *columns: str) -> Table:
        made = Table(title, *columns, box=None, pad_edge=False, header_style="bold")
        made.columns[0].no_wrap = True
        return made

    system = table("System", "")
    for name, value in report["system"].items():
        system.add_row(f"  {name}", escape(value))
    for name, packages in report["extras"].items():
        missing = [package for package, version in packages.items() if version == "absent"]
        state = "installed" if not missing else escape(f"{', '.join(missing)} absent: pip install 'nefty[{name}]'")
        system.add_row(f"  extra {name}", state)
    for name, state in report["plug-ins"].items():
        system.add_row(f"  plug-in {name}", escape(state))
    checks = table("Checks", "measured", "wanted")
    for check in report["checks"]:
        mark = "[green]✓[/]" if check.passed else "[bold red]✗[/]"
        checks.add_row(f"  {mark} {check.name}", escape(check.measured), check.wanted)
    console.print(system, "", checks)
    if report["speed"]:
        forward, gradient = (duration(report["speed"][key]) for key in ("forward", "gradient"))
        console.print("\n[bold]Speed[/] at 64 × 64 × 16 cells and 100 frames, best of 5")
        console.print(f"  one forward {forward}, one gradient {gradient} (forward included)")
    bad = [check.name for check in report["checks"] if not check.passed]
    if bad:
        console.print(
            f"\n[bold red]Not well:[/] {len(bad)} of {len(report['checks'])} checks failed. Reinstall nefty in a "
            "fresh environment; if that does not help, report this output."
        )
    else:
        console.print(f"\n[bold green]All well:[/] {len(report['checks'])} of {len(report['checks'])} checks passed.")
