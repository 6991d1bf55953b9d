"""``nefty inspect``: what a recording holds, what is missing for a reconstruction, and what would be assumed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nefty.cli.recording_options import RecordingOptions, takes_recording_options
from nefty.core.terminal_text import filled, paired

if TYPE_CHECKING:
    from nefty.data.intake.intake import Recording
    from nefty.data.preparation.prepared import Prepared


@takes_recording_options
def run(
    file: Annotated[Path, typer.Argument(help="The recording; docs/formats.md lists the formats.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="The page; the file's name with -inspect.html if not given.", dir_okay=False)
    ] = None,
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Write what is known, with what is missing marked, to a .toml beside FILE: the facts file to fill in.",
        ),
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead of the page: the temperature of every pixel in every frame, as .npz, .tif (a page per frame) "
            "or .csv (a folder with a file per frame). Also larger than the memory.",
        ),
    ] = None,
    export_prepared: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The same, of the frames as a reconstruction would use them.")
    ] = None,
    *,
    options: RecordingOptions,
) -> None:
    """Show what a recording holds, what is missing for a reconstruction, and what would be assumed.

    Takes the same options as "nefty reconstruct", and changes nothing; --write makes a facts file.
    """
    if export is not None or export_prepared is not None:
        _export(file, options, export, export_prepared)
        return
    from nefty.cli.output import Patience
    from nefty.core.progress import watched
    from nefty.core.storage.files import write_atomic
    from nefty.data.intake.intake import take_in
    from nefty.data.intake.part_file import own_file
    from nefty.data.intake.part_template import part_template
    from nefty.report.figures.style import AxisUnits
    from nefty.report.pages.inspection import Inspection, inspection_page
    from nefty.report.run_files import open_in_browser

    if write:
        _refuse_to_overwrite(file)
    with Patience() as progress, watched(progress):
        recording = take_in(file, options.known())
        prepared = recording.prepared or _as_it_is(recording)
    lines = _summary(recording, prepared)
    width = 2 + max(len(name) for name, _ in lines)
    typer.echo("\n".join(paired(name, value, width) for name, value in lines))
    typer.echo(f"\n{_verdict(recording, options)}")
    page = inspection_page(
        Inspection(
            file=file.name,
            recording=_front(recording.loaded if recording.prepared is not None else recording.sequence),
            prepared=prepared,
            steps=recording.steps or prepared.steps,
            missing=[str(fact) for fact in recording.missing],
            summary=lines,
            units=AxisUnits("", _time_unit(recording), recording.sequence.facts.units.temperature),
        )
    )
    path = write_atomic(out or Path(f"{file.stem}-inspect.html"), page.render())
    typer.echo(f"\n{path}  open it in a browser")
    if write:
        facts = write_atomic(own_file(file), part_template(recording))
        typer.echo(f"{facts}  fill in what is missing; nefty finds it beside the recording")
    if show:
        open_in_browser(path)


def _export(file: Path, options: RecordingOptions, raw: Path | None, prepared: Path | None) -> None:
    """Write the frames, and say what was written."""
    from nefty.cli.output import Patience
    from nefty.core.progress import watched
    from nefty.data.intake.export import export_frames

    with Patience() as progress, watched(progress):
        for target, ready in ((raw, False), (prepared, True)):
            if target is not None:
                written = export_frames(file, options.known(), target, prepared=ready)
                typer.echo(f"{written.path}  {written.words}")


def _refuse_to_overwrite(file: Path) -> None:
    from nefty.core.errors import InputError
    from nefty.data.intake.part_file import own_file

    if own_file(file).exists():
        raise InputError(f"{own_file(file)} is there already; edit it, or move it away and ask again.")


def _as_it_is(recording: Recording) -> Prepared:
    """What the pictures show of a recording that needs no step."""
    from nefty.data.preparation.choice import NOTHING, preparation
    from nefty.data.preparation.prepare import prepare

    return prepare(_front(recording.sequence), preparation(**NOTHING))


def _front(sequence):
    """The face that is shown, of a recording of both."""
    import dataclasses

    if sequence.observe != "both":
        return sequence
    return dataclasses.replace(sequence, observe="front", frames=sequence.frames[0])


def _summary(recording: Recording, prepared: Prepared) -> list[tuple[str, str]]:
    """Names and values, one line each."""
    import numpy as np

    loaded = recording.loaded
    t, y, x = loaded.shape
    unit = _time_unit(recording)
    lines = [("File", str(recording.file)), *(("Files", text) for text in recording.said)]
    camera = loaded.facts.camera.words()
    lines += [("Camera", camera)] if camera else []
    seen = loaded.facts.scene.words()
    lines += [("Scene", seen)] if seen else []
    both = " on each of two faces" if loaded.observe == "both" else ""
    lines.append(("Frames", f"{t} of {y} x {x} pixels (rows x columns){both}"))
    steps = np.diff(loaded.times)
    if not recording.rate_known:
        lines.append(("Rate", "not known; times below are counted in frames"))
    elif steps.size:
        step = float(np.median(steps))
        even = np.ptp(steps) <= 0.01 * step
        rate = f"{1 / step:.4g} per {unit}" if even else f"{1 / step:.4g} per {unit} in the middle, uneven"
        lines.append(("Rate", f"{rate}, {loaded.times[-1] - loaded.times[0]:.4g} {unit} in all"))
    lines += [(_titled(step.name), step.text + (" [assumed]" if step.assumed else "")) for step in _all(recording)]
    lines += _physics(recording, prepared)
    return lines


def _all(recording: Recording):
    if recording.steps:
        return recording.steps
    from nefty.data.facts import Step

    return [Step("preparation", "None: nefty made this recording, or prepared it before, and it says everything.")]


def _physics(recording: Recording, prepared: Prepared) -> list[tuple[str, str]]:
    """Noise, size and Fourier number."""
    import numpy as np

    sequence = recording.sequence
    lines = []
    sigma, facts = prepared.noise, sequence.facts
    used = prepared.pictures.levels[prepared.pictures.used]
    if sigma and np.isfinite(used).any():
        rise = float(np.nanmax(used))
        unit = facts.units.temperature
        ratio = "" if prepared.step("ambient").assumed else f" of a rise of {rise:.3g} {unit}, 1 in {rise / sigma:.3g}"
        lines.append(("Noise", f"{sigma:.3g} {unit}{ratio}".strip()))
    if sequence.size is not None:
        factor, unit = (1e3, "mm") if facts.units.in_metres else (1.0, "")
        z, y, x = (factor * side for side in sequence.size)
        pixel = factor * sequence.size[1] / sequence.shape[1]
        words = f"{y:.4g} x {x:.4g} {unit}, {z:.4g} {unit} thick; pixels of {pixel:.3g} {unit}"
        lines.append(("Size", " ".join(words.replace(" ,", ",").replace(" ;", ";").split())))
    else:
        sides = {"pixels of {} mm": facts.pixel, "{} mm thick": facts.thickness}
        known = [
            words.format(" x ".join(f"{1e3 * float(v):.4g}" for v in np.ravel(value)))
            for words, value in sides.items()
            if value is not None
        ]
        lines.append(("Size", ", ".join(known) or "not known"))
    if sequence.size is not None and facts.material is not None and recording.rate_known:
        reached = facts.material.alpha_z * sequence.times[-1] / sequence.size[0] ** 2
        enough = "enough for the whole thickness" if reached >= 0.3 else "too short to see the back wall"
        lines.append(("Fourier number", f"{reached:.3g} = alpha t/L^2 at the last frame, {enough}"))
    return lines


def _verdict(recording: Recording, options: RecordingOptions) -> str:
    """What is missing, and the command that reconstructs."""
    words = ["nefty", "reconstruct", str(recording.file), *options.words()]
    command = shlex.join(words) + "".join(f" {fact.option} {fact.example}" for fact in recording.missing)
    if not recording.missing:
        return f"Nothing is missing. To reconstruct:\n{command}"
    lines = [paired(f"  {fact.option}", fact.what, 17) for fact in recording.missing]
    told = filled("Missing; nefty reconstruct would ask for it by name:")
    return "\n".join([told, *lines, filled("To reconstruct, with your values in place of these:"), command])


def _time_unit(recording: Recording) -> str:
    if not recording.rate_known:
        return "frames"
    return recording.loaded.facts.units.time or "time unit"


def _titled(name: str) -> str:
    return name.capitalize()
