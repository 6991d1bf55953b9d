"""``nefty classical``: a classical thermography method on a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nefty.cli.recording_options import RecordingOptions, takes_recording_options
from nefty.core.terminal_text import filled

if TYPE_CHECKING:
    import numpy as np

    from nefty.data.sequence import Sequence

MAPS, PAGE = "maps.npz", "report.html"


@takes_recording_options
def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="METHOD",
            help="tsr, tsr-paper, ppt, ppt-paper, vwc-svd, vwc-admm, peak-slope, pct or dtt.",
            show_default=False,
        ),
    ],
    recording: Annotated[
        Path, typer.Argument(metavar="FILE", help="The recording; see docs/formats.md.", show_default=False)
    ],
    sound: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Mask (y, x) of a region without defects, as .npy.", show_default=False),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="OPTION=VALUE", help="An option of the method, such as order=7; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the maps and a page; by default nothing is written."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    *,
    options: RecordingOptions,
) -> None:
    """Find depths or contrasts pixel by pixel with a classical method, for comparison.

    Depths need the diffusivity: --alpha, or --material. All frames and pixels are used unless --frames or --bin says
    otherwise.
    """
    from nefty.classical.techniques import technique
    from nefty.cli.output import Patience
    from nefty.core.errors import InputError
    from nefty.core.progress import watched
    from nefty.data.intake.intake import take_in

    if show and out is None:
        raise InputError("--open shows the page that is written; give --out FOLDER too.")
    chosen = technique(name)
    settings = _settings(changes or ())
    if sound is not None:
        settings["sound"] = _mask(sound)
    with Patience() as progress, watched(progress):
        taken = take_in(recording, options.known(), {"frames": "off", "bin": "off"}, only_cameras=True)
    for text in taken.said:
        typer.echo(filled(text), err=True)
    sequence = taken.complete(only=("fps", "flash_frame", "ambient"))
    alpha = _diffusivity(options.alpha, sequence)
    result = chosen.run(sequence, alpha, **settings)
    lines = _summary(chosen, result)
    if alpha is not None and chosen.where.startswith("ppt:"):
        lines.append(_calibrated(sequence, alpha, result))
    typer.echo("\n".join([f"{chosen.title}: {recording}", *lines]))
    if out is None:
        return
    from nefty.core.storage.files import write_atomic
    from nefty.report.pages.classical import classical_page
    from nefty.report.run_files import open_in_browser

    given = {"alpha": alpha, **{key: value for key, value in settings.items() if key != "sound"}}
    page = classical_page(chosen, result, sequence, str(recording), lines, given)
    for path in (write_atomic(out / MAPS, _npz(result)), write_atomic(out / PAGE, page.render())):
        typer.echo(f"written: {path}")
    if show:
        open_in_browser(out / PAGE)


def _diffusivity(given: str | None, sequence: Sequence) -> float | None:
    """Through the thickness, in length^2/time of the recording; a number without unit is in those.

    That of the material, if none was given.
    """
    from nefty.core.units import quantity

    if given is None:
        material = sequence.facts.material
        return None if material is None else material.alpha_z
    try:
        return float(given)
    except ValueError:
        return quantity(given, "diffusivity", "--alpha", above=0)


def _settings(changes: Any) -> dict[str, Any]:
    """Names and values of ``name=value``: JSON where it is, else text."""
    import json

    from nefty.core.errors import InputError

    found: dict[str, Any] = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals or not name:
            raise InputError(f"--set {change}: give an option and its value, such as --set order=7.")
        try:
            found[name.strip().replace("-", "_")] = json.loads(text)
        except json.JSONDecodeError:
            found[name.strip().replace("-", "_")] = text
    return found


def _mask(path: Path) -> np.ndarray:
    from nefty.core.storage.arrays import load_array

    return load_array(path, "mask of the sound region") > 0


def _summary(chosen: Any, result: Any) -> list[str]:
    """Median and range of every map, and how many pixels have a value; how the depth was found."""
    import numpy as np

    lines = []
    maps = result.maps()
    width = max(map(len, maps))
    for label, image in maps.items():
        values = image[np.isfinite(image)]
        share = f"{100 * values.size / image.size:.3g} % of the pixels"
        if values.size:
            low, middle, high = np.percentile(values, (0, 50, 100))
            lines.append(f"  {label:<{width}}  median {middle:.4g}, {low:.4g} to {high:.4g}, in {share}")
        else:
            lines.append(f"  {label:<{width}}  found in no pixel")
    if chosen.depth:
        lines.append(f"  depth = {result.estimate().note}")
    return lines


def _calibrated(sequence: Any, alpha: float, result: Any) -> str:
    """The constant that the exact slab asks for, at the median depth that was found."""
    import numpy as np

    from nefty.classical.decays import Decays
    from nefty.classical.ppt import calibrate
    from nefty.core.errors import InputError

    depths = result.depth[np.isfinite(result.depth)]
    if not depths.size:
        return "  no depth to calibrate the constant at"
    depth = float(np.median(depths))
    size = sequence.size
    try:
        found = calibrate(
            Decays.of(sequence).times,
            alpha,
            depth,
            thickness=None if size is None or size[0] <= depth else size[0],
            rule=result.rule,
            frequencies=None if result.rule == "blind" else result.frequencies,
            taper=result.taper,
            until=result.until,
        )
    except InputError as error:
        return f"  the constant cannot be calibrated: {error}"
    return (
        f"  the exact slab of depth {found.depth:.3g}, sampled like this, asks for the constant {found.constant:.3g}; "
        f"the literature's is {found.literature}"
    )


def _npz(result: Any) -> bytes:
    """All arrays of a result, by name."""
    import dataclasses
    import io

    import numpy as np

    values = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    arrays: dict[str, Any] = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()
