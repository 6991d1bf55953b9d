"""``nefty reconstruct``: from a recording to a volume, its defects and a report, in a folder that can be resumed."""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nefty.cli.bench import Scheduler, Workers
from nefty.cli.recording_options import RecordingOptions, takes_recording_options
from nefty.core.terminal_text import filled

if TYPE_CHECKING:
    import numpy as np

    from nefty.cli.output import Stages
    from nefty.core.cluster.place import Place
    from nefty.data.intake.known import Known
    from nefty.data.sequence import Sequence
    from nefty.result.close_up import CloseUp
    from nefty.result.reconstruction import Reconstruction


@takes_recording_options
def run(
    file: Annotated[
        Path | None, typer.Argument(help="The recording; docs/formats.md lists the formats.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run; default: beside the file, its name with -run.", file_okay=False),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            help="fast, neural, paper, real, warm, or a .toml file. Default: real for a camera's recording, warm with "
            "--network, otherwise fast.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change a value of the recipe, such as model.layers=24; repeatable."
        ),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="NETWORK",
            help="Start from the volume of a trained network (file or folder of nefty train), with the recipe warm.",
            show_default=False,
        ),
    ] = None,
    false_calls: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Accepted number of false indications in a sound part, on average; default 0.05, at most 10. With "
            "fewer false calls, more faint defects are missed.",
            show_default=False,
        ),
    ] = None,
    sure: Annotated[
        str | None,
        typer.Option(
            metavar="MEMBERS",
            help="Number of refits with different noise and facts, which show how certain each cell and indication is, "
            "such as 8 or 32; off for none. More can be added to a finished run.",
            show_default=False,
        ),
    ] = None,
    region: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Look closer: solve indication N of an earlier run of FILE again, at full camera resolution, with the "
            "calibration of that run. The folder is that run's name with -region-N.",
            show_default=False,
        ),
    ] = None,
    overview: Annotated[
        Path | None,
        typer.Option(help="With --region: folder of the earlier run; default: FILE's name with -run."),
    ] = None,
    tiles: Annotated[
        bool | None,
        typer.Option(
            "--tiles/--no-tiles",
            help="Solve the whole part at full camera resolution, in tiles on worker processes; automatic if --bin "
            "leaves too many pixels for one piece. --no-tiles always solves it in one piece.",
            show_default=False,
        ),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over, and discard what the folder contains.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option(help="Stop after this many seconds, with the best result so far.", show_default=False),
    ] = None,
    show_recipe: Annotated[
        bool, typer.Option("--show-recipe", help="Print the complete recipe as TOML, and exit.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    *,
    options: RecordingOptions,
) -> None:
    """Reconstruct the inside of a part from a recording.

    A camera's file needs facts that it does not contain, such as
    --material cfrp --thickness "1.3 mm" --pixel "0.2 mm"; "nefty inspect FILE" says which.
    The same command resumes a run that was interrupted, and shows one that is finished.
    Pixels of large pictures are averaged, and a message says so; --region N looks closer at indication N of that run,
    --tiles solves the whole part at full camera resolution.
    """
    from nefty.cli.output import Stages
    from nefty.cli.recipe_text import recipe_text
    from nefty.core.configuration import parse_assignment
    from nefty.core.interrupt import STOPPED
    from nefty.core.stopping import StopReason
    from nefty.inversion.recipe import default_recipe, load_recipe

    overrides = dict(parse_assignment(text) for text in settings or ())
    if seconds is not None:
        overrides["stop.seconds"] = seconds
    if false_calls is not None:
        overrides["evidence.false_calls"] = checked_false_calls(false_calls)
    if sure is not None:
        overrides["ensemble.members"] = checked_members(sure)
    weighs = overrides.get("evidence.regions") != "none"
    if recipe is not None or show_recipe:
        resolved = load_recipe(recipe or default_recipe(started=network is not None), overrides)
        weighs = resolved.evidence.regions != "none"
        if show_recipe:
            typer.echo(recipe_text(resolved))
            return
    if false_calls is not None and not weighs:
        raise typer.BadParameter("this recipe weighs no evidence, so it has no threshold.", param_hint="--false-calls")
    if file is None:
        raise typer.BadParameter("give the recording to reconstruct, such as plate.h5.", param_hint="FILE")
    if overview is not None and region is None:
        raise typer.BadParameter("say which indication of it to solve again: --region 3.", param_hint="--overview")
    if tiles and (region is not None or network is not None):
        raise typer.BadParameter("it does not go with --region or --network.", param_hint="--tiles")
    if tiles and overrides.get("ensemble.members"):
        raise typer.BadParameter(
            "it does not go with --tiles; refit one indication with --region.", param_hint="--sure"
        )
    piece = None if region is None else Piece.of(overview or beside(file), region)
    folder = out or (beside(file) if piece is None else piece.folder)

    from nefty.cli.findings_text import describe
    from nefty.cli.run_reconstruction import MORE_STAGES, run_reconstruction
    from nefty.report.run_files import REPORT, listed, open_in_browser

    stages = Stages(total=MORE_STAGES + weighs + (network is not None) + bool(overrides.get("ensemble.members")))
    known = options.known()
    if tiles and known.bin is None:
        known = dataclasses.replace(known, bin="off")
    sequence = _read(file, known if piece is None else piece.known(known), stages)
    place = None
    if tiles or (tiles is None and piece is None and network is None):
        place = _place_for_tiles(sequence, recipe, overrides, stages, asked=bool(tiles), at=(scheduler, workers))
    volume = None if network is None else _network_volume(sequence, network, stages)
    rec = run_reconstruction(
        sequence,
        folder,
        stages,
        recipe=recipe,
        overrides=overrides,
        start=volume,
        overview=None if piece is None else piece.overview,
        close_up=None if piece is None else piece.about,
        place=place,
        fresh=fresh,
    )
    typer.echo(f"{describe(rec)}\n\n{listed(folder)}")
    if rec.stopped.cut_short:
        given = {"--out": out, "--recipe": recipe, "--network": network, "--false-calls": false_calls}
        given |= {"--sure": sure, "--region": region, "--overview": overview}
        words = ["nefty", "reconstruct", str(file)]
        words += [word for name, value in given.items() if value is not None for word in (name, str(value))]
        words += [word for text in settings or () for word in ("--set", text)]
        so_far = filled(f"This is the best result so far: {rec.stopped.text}. To resume:")
        typer.echo(f"\n{so_far}\n{shlex.join([*words, *options.words()])}")
    unsure = rec.ensemble is None or not rec.ensemble.whole
    if not rec.stopped.cut_short and place is None and overrides.get("ensemble.members") and unsure:
        have = 0 if rec.ensemble is None else rec.ensemble.members
        said = f"{have} of {overrides['ensemble.members']} refits are done; run the same command again to resume."
        typer.echo(f"\n{filled(said)}")
        raise typer.Exit(STOPPED)
    if show:
        open_in_browser(folder / REPORT)
    if rec.stopped.reason is StopReason.INTERRUPTED:
        raise typer.Exit(STOPPED)


def _place_for_tiles(
    sequence: Sequence,
    recipe: str | None,
    overrides: dict[str, Any],
    stages: Stages,
    *,
    asked: bool,
    at: tuple[str | None, int | None],
) -> Place | None:
    """Where tiles are solved, if the part is solved in tiles: because they were asked for, or it is large; the reason
    is said.
    """
    from nefty.cli.run_reconstruction import STAGES_OF_TILES
    from nefty.core.cluster.place import Place
    from nefty.inversion.recipe import default_recipe, load_recipe
    from nefty.inversion.tiles.run import why_tiles

    name = recipe or default_recipe(in_metres=sequence.facts.units.in_metres)
    reason = why_tiles(sequence, load_recipe(name, overrides))
    if not (asked or reason):
        return None
    if not asked:
        stages.say(filled(f"{reason}. --no-tiles solves it in one piece."))
    stages.total = STAGES_OF_TILES
    scheduler, workers = at
    return Place(scheduler, workers=workers)


@dataclass(frozen=True)
class Piece:
    """What ``--region`` asks for.

    Args:
        overview: the earlier run's result.
        about: which of its indications, for the report.
        folder: of the closer look, if none is named.
    """

    overview: Reconstruction
    about: CloseUp
    folder: Path

    @staticmethod
    def of(run: Path, indication: int) -> Piece:
        """An indication of the run in a folder."""
        from nefty.inversion.tiles.close_up import about
        from nefty.report.run_files import load_result

        found, named = load_result(run), run.resolve()
        return Piece(found, about(found, indication, named.name), run.with_name(f"{named.name}-region-{indication}"))

    def known(self, said: Known) -> Known:
        """What is known of the piece."""
        from nefty.inversion.tiles.close_up import known_of_piece

        for name in ("roi", "bin"):
            if getattr(said, name) is not None:
                raise typer.BadParameter(
                    "--region chooses the rectangle itself, and leaves the camera's pixels as they are; leave it out.",
                    param_hint=f"--{name}",
                )
        return known_of_piece(self.overview, self.about.indication, said)


def beside(file: Path) -> Path:
    """The folder of a run where none is named: beside the recording, its name with ``-run``."""
    named = file if file.name not in ("", "..") else file.resolve()
    return named.with_name(f"{named.stem}-run")


def checked_false_calls(number: float) -> float:
    """The number, or an error that says what it may be."""
    from nefty.inversion.evidence.settings import MOST_FALSE_CALLS

    if not 0 < number <= MOST_FALSE_CALLS:
        raise typer.BadParameter(
            f"{number:g} must be above 0 and at most {MOST_FALSE_CALLS}: how many false indications you accept in a "
            "sound part, on average, such as 0.05.",
            param_hint="--false-calls",
        )
    return number


def checked_members(text: str) -> int:
    """The number of refits, 0 for ``"off"``; or an error that says what it may be."""
    from nefty.inversion.ensemble.settings import MOST_MEMBERS

    number = 0 if text == "off" else int(text) if text.isdigit() else -1
    if number == 1 or not 0 <= number <= MOST_MEMBERS:
        raise typer.BadParameter(
            f"{text!r} must be off, or a number of refits from 2 to {MOST_MEMBERS}, such as 8 or 32.",
            param_hint="--sure",
        )
    return number


def _read(file: Path, known: Known, stages: Stages) -> Sequence:
    """The recording, prepared; what was assumed is said."""
    from nefty.cli.output import Patience
    from nefty.core.progress import watched
    from nefty.data.intake.intake import take_in

    with (
        stages.stage("Read the recording", hint="and load the libraries") as report,
        Patience(report if stages.live else None) as progress,
        watched(progress),
    ):
        taken = take_in(file, known)
        sequence = taken.complete()
    for text in taken.said:
        stages.say(filled(text))
    for step in taken.assumed:
        stages.say(filled(f"Assumed, {step.name}: {step.text}"))
    if sequence.facts.window.bin > 1 and (pixels := sequence.facts.stepped("pixels")) is not None:
        stages.say(filled(pixels.sentence))
    return sequence


def _network_volume(sequence: Sequence, network: str, stages: Stages) -> np.ndarray:
    from nefty.supervised.predict import volume
    from nefty.supervised.shelf import shelved_network

    with stages.stage("Ask the network"):
        return volume(sequence.after_flash(), shelved_network(network)[0])
