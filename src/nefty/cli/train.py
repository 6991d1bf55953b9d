"""``nefty train``: a network that turns recordings into volumes, from simulated ones whose volumes are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nefty.cli.output import Report, Stages

PAGE = "training.html"


def run(
    architecture: Annotated[str, typer.Argument(metavar="NETWORK", help="unet or swin-unetr.")],
    data: Annotated[
        list[Path],
        typer.Option("--data", metavar="FOLDER", help="Data set written by nefty simulate --n; repeatable."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the network and its checkpoints; default networks/NETWORK."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Number of passes over the recordings.")] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; repeatable.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=1, help="Pause after this many seconds; the same command resumes.", show_default=False),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or mps.")] = "cpu",
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over, and discard what the folder contains.")] = False,
) -> None:
    """Train a network on simulated recordings; Ctrl-C pauses, the same command resumes.

    Its volumes are results like any other: nefty bench run uses it as a method (unet-full, unet-sound, swin-unetr), and
    nefty reconstruct --network NETWORK starts from its volume.
    """
    from nefty.cli.output import Stages

    stages = Stages(total=3)
    with stages.stage("Load the libraries"):
        from nefty.core.configuration import parse_assignment
        from nefty.core.errors import InputError, unknown_name
        from nefty.core.interrupt import STOPPED
        from nefty.core.storage.files import write_atomic
        from nefty.report.pages.training import training_page
        from nefty.supervised.network import load_network
        from nefty.supervised.settings import ARCHITECTURES, training_settings
        from nefty.supervised.training import INTERRUPTED, train
    if architecture not in ARCHITECTURES:
        raise unknown_name("network", architecture, ARCHITECTURES)
    given = dict(parse_assignment(text) for text in changes or ())
    if "architecture" in given:
        raise InputError("the architecture is the argument NETWORK; leave it out of --set.")
    if epochs is not None:
        given["epochs"] = epochs
    settings = training_settings({"architecture": architecture, **given})
    folder = out or Path("networks") / architecture
    with stages.stage("Train", hint="reading the first recordings") as report:
        told = TrainingProgress(report, stages)
        found = train(data, settings, folder, fresh=fresh, seconds=seconds, device=device, progress=told)
    if not len(found.history.get("loss", ())):
        typer.echo(f"{found.stopped}. No epoch is finished yet in {folder}.")
        raise typer.Exit(STOPPED)
    with stages.stage("Draw the learning curves"):
        page = write_atomic(folder / PAGE, training_page(*load_network(folder)).render())
    best = float(found.history["validation"].min())
    typer.echo(f"{found.stopped}. {len(found.history['loss'])} epochs, validation {best:.3g}.")
    typer.echo(f"Network: {folder / 'result.h5'}, learning curves: {page}")
    if found.stopped == INTERRUPTED:
        raise typer.Exit(STOPPED)


class TrainingProgress:
    """Shows the steps of a training: a bar on a terminal, a line per twentieth in a log.

    Args:
        report: of the stage.
        stages: where lines go.
    """

    def __init__(self, report: Report, stages: Stages) -> None:
        import time

        self.report, self.stages, self.clock = report, stages, time.perf_counter
        self.began, self.first, self.told = time.perf_counter(), 0, -1

    def __call__(self, done: int, total: int, loss: float, validation: float | None) -> None:
        """After each step."""
        from nefty.core.words import duration

        hint = f"loss {loss:.2e}" + ("" if validation is None else f", validation {validation:.2e}")
        if self.stages.live:
            self.report(done / total, hint)
            return
        self.first = self.first or done
        if (part := done * 20 // total) != self.told or done == self.first + 1:
            self.told = part
            each = (self.clock() - self.began) / (done - self.first + 1)
            self.stages.say(f"      step {done} of {total}, {hint}, about {duration(each * (total - done))} left")
