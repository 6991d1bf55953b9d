"""``nefty demo``: a part with buried defects, simulated, reconstructed and compared with the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nefty.cli.output import Stages
    from nefty.data.sequence import Sequence

SEED, KIND, NOISE = 57, "layered", 1e-3  # two boxes and a cylinder, each deeper than the one before
RECORDING = "recording.h5"


def run(
    out: Annotated[Path, typer.Option(help="Folder for the results.", file_okay=False)] = Path("demo"),
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything again.")] = False,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the report in the browser.")] = False,
) -> None:
    """Find buried defects in a simulated part."""
    from nefty.cli.output import Stages

    demonstrate(out, fresh=fresh, show=show, stages=Stages(total=8))


def demonstrate(
    out: Path,
    *,
    stages: Stages,
    fresh: bool = False,
    show: bool = False,
    overrides: dict[str, Any] | None = None,
    **simulation: Any,
) -> None:
    """Simulate, reconstruct, report, and say what was found.

    Args:
        out: the folder.
        stages: where progress is shown.
        fresh: do it all again.
        show: open the report.
        overrides: of the recipe.
        **simulation: for ``nefty.simulate``, in place of the paper's grid and frames.
    """
    with stages.stage("Load the libraries"):
        from nefty.cli.findings_text import against_truth, describe
        from nefty.cli.run_reconstruction import run_reconstruction
        from nefty.core.interrupt import STOPPED
        from nefty.core.stopping import StopReason
        from nefty.report.pages.findings import Findings
        from nefty.report.run_files import REPORT, listed, open_in_browser

    with stages.stage("Make the recording", hint="the first time on a machine, compiling takes a while") as report:
        sequence = recording(
            out / RECORDING, fresh=fresh, progress=lambda done, total: report(done / total), **simulation
        )
    rec = run_reconstruction(sequence, out, stages, overrides=overrides, fresh=fresh)
    typer.echo(f"{describe(rec)}\n\n{against_truth(Findings(rec))}\n\n{listed(out)}")
    if rec.stopped.reason is StopReason.INTERRUPTED:
        typer.echo("\nThis is the best result so far; run the same command again to resume.")
        raise typer.Exit(STOPPED)
    if show:
        open_in_browser(out / REPORT)


def recording(path: Path, *, fresh: bool, **simulation: Any) -> Sequence:
    """The demo's recording from its file; simulated and written if it is not there, or is not the demo's."""
    from nefty.core.errors import NeftyError
    from nefty.data.read import read
    from nefty.synth.recording import setup_of, simulate, specimen_of
    from nefty.synth.specimen import draw_specimen

    specimen = draw_specimen(SEED, KIND)
    if path.exists() and not fresh:
        try:
            found = read(path)
            setup = setup_of(found)
            if specimen_of(found) == specimen and setup is not None and setup.camera.noise == NOISE:
                return found
        except NeftyError:
            pass  # half of a file, or another one: made again below
    simulate(specimen, noise=NOISE, **simulation).save(path)
    return read(path)
