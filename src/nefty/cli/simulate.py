"""``nefty simulate``: the recording of a drawn specimen, or a data set of many, to try the other verbs on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nefty.cli.output import Stages
    from nefty.synth.setup import Setup


def run(
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the specimen; the same seed gives the same specimen. Default 0.")
    ] = None,
    kind: Annotated[str, typer.Option(help="homogeneous, layered, sound or sound-layered.")] = "layered",
    noise: Annotated[
        float, typer.Option(help="Standard deviation of the noise as a fraction of the peak; 0.001 is 0.1 %.")
    ] = 0.001,
    gain: Annotated[float, typer.Option(help="Standard deviation of the pixel gains; 0.03 is 3 %.")] = 0.0,
    engine: Annotated[
        str, typer.Option(help="explicit, explicit-fine (half the cell size), phiflow or phiflow-harmonic.")
    ] = "explicit",
    shape: Annotated[tuple[int, int, int], typer.Option(metavar="Z Y X", help="Number of cells.")] = (16, 64, 64),
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="The file, default KIND-SEED.h5; with --n the folder, default KIND-data."),
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Write a data set of N recordings.", show_default=False)
    ] = None,
    first_seed: Annotated[
        int | None, typer.Option(min=0, help="With --n: seed of the first specimen; default 0.", show_default=False)
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="With --n: number of processes; default: all cores.")
    ] = None,
) -> None:
    """Simulate the recording of a part with buried defects, or with --n a data set of many.

    The same command resumes a data set that was interrupted; a larger --n extends it.
    """
    from nefty.cli.output import Stages
    from nefty.core.errors import InputError

    if n is None and (first_seed is not None or processes is not None):
        raise InputError("--first-seed and --processes are for data sets; give --n too, or --seed alone.")
    if n is not None and seed is not None:
        raise InputError(f"--seed {seed} is for one recording; with --n use --first-seed {seed}.")
    stages = Stages(total=2)
    with stages.stage("Load the libraries"):
        from nefty.core.grid import Grid
        from nefty.synth.camera import Camera
        from nefty.synth.setup import Setup
        from nefty.synth.specimen import PAPER_GRID

    setup = Setup(
        grid=Grid(shape, PAPER_GRID.size),
        engine=engine,
        camera=Camera(noise=noise, gain=gain),
        dtype="float64" if n is None else "float32",
    )
    if n is None:
        _one(seed or 0, kind, setup, out, stages)
    else:
        first = first_seed or 0
        _many(range(first, first + n), kind, setup, out, processes, stages)


def _one(seed: int, kind: str, setup: Setup, out: Path | None, stages: Stages) -> None:
    """Write one file."""
    from nefty.core.errors import InputError
    from nefty.synth.recording import record_specimen
    from nefty.synth.specimen import draw_specimen

    file = out or Path(f"{kind}-{seed}.h5")
    if file.suffix.lower() not in (".h5", ".hdf5") or file.is_dir():
        raise InputError(f"--out {file} must be a file that ends in .h5; a folder needs --n.")
    specimen = draw_specimen(seed, kind)
    with stages.stage("Simulate") as report:
        sequence = record_specimen(specimen, setup, lambda done, total: report(done / total))
        sequence.save(file)
    typer.echo(f"{sequence}\n{len(specimen.defects)} defects, {_disturbed(setup)}. Written: {file}")
    typer.echo(f"Next: nefty reconstruct {file}")


def _many(seeds: range, kind: str, setup: Setup, out: Path | None, processes: int | None, stages: Stages) -> None:
    """Write a folder of files and their index."""
    from nefty.core.interrupt import STOPPED
    from nefty.core.words import duration
    from nefty.synth.data_set import DataPlan, read_index
    from nefty.synth.data_writer import write_data_set

    folder = out or Path(f"{kind}-data")
    plan = DataPlan(kind, setup=setup)
    try:
        with stages.stage("Simulate", hint=f"0 of {len(seeds)}") as report:
            data = write_data_set(
                folder,
                seeds,
                plan,
                processes=processes,
                progress=lambda done, total: report(done / total, f"{done} of {total}"),
            )
    except KeyboardInterrupt:
        there = len(read_index(folder) or ())
        typer.echo(f"{there} of {len(seeds)} recordings are in {folder}. Run the same command again to resume.")
        raise typer.Exit(STOPPED) from None
    size = sum((folder / entry.name).stat().st_size for entry in data.entries)
    taken = duration(sum(entry.seconds for entry in data.entries) / len(data))
    typer.echo(f"{data}, {size / 1e6:.4g} MB, {_disturbed(setup)}, {taken} of simulation each.")
    typer.echo(f"Next: nefty reconstruct {folder / data.entries[0].name}, or nefty.DataSet.open({str(folder)!r}).")


def _disturbed(setup: Setup) -> str:
    noise, gain = setup.camera.noise, setup.camera.gain
    return f"noise {100 * noise:g} % of the peak" + (f", gains of {100 * gain:g} %" if gain else "")
