"""``nefty simulate``: the recording of a drawn specimen, to try the other verbs on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    seed: Annotated[int, typer.Option(min=0, help="Of the specimen; the same seed gives the same one.")] = 0,
    kind: Annotated[str, typer.Option(help="homogeneous, layered, sound or sound-layered.")] = "layered",
    noise: Annotated[float, typer.Option(help="Standard deviation as a share of the peak; 0.001 is 0.1 %.")] = 0.001,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.h5", help="The file; KIND-SEED.h5 if not given.", dir_okay=False)
    ] = None,
) -> None:
    """Simulate the recording of a part with buried defects."""
    from nefty.cli.output import Stages

    stages = Stages(total=2)
    with stages.stage("Load the libraries"):
        from nefty.core.errors import InputError
        from nefty.synth.recording import simulate
        from nefty.synth.specimen import draw_specimen

    file = out or Path(f"{kind}-{seed}.h5")
    if file.suffix.lower() not in (".h5", ".hdf5"):
        raise InputError(f"--out {file} must end in .h5.")
    specimen = draw_specimen(seed, kind)
    with stages.stage("Simulate") as report:
        sequence = simulate(specimen, noise=noise, progress=lambda done, total: report(done / total))
        sequence.save(file)
    typer.echo(f"{sequence}\n{len(specimen.defects)} defects, noise {100 * noise:g} % of the peak. Written: {file}")
    typer.echo(f"Next: nefty reconstruct {file}")
