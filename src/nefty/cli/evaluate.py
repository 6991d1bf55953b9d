"""``nefty evaluate``: a reconstruction against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import numpy as np

    from nefty.result.reconstruction import Reconstruction


def run(
    result: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or its result.h5.")],
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="True diffusivity (z, y, x) as .npy, or a recording that contains it; default: the run's.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Diffusivity below which a cell is defect, in mm2/s for a run in metres. Default: half of the "
            "background's, or 0.03 if the run has no units.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a machine to read.")] = False,
) -> None:
    """Score a reconstruction against the truth."""
    from nefty.core.errors import InputError
    from nefty.metrics.score import evaluate
    from nefty.report.run_files import load_result
    from nefty.result.display_units import display_units, in_display_units

    rec = load_result(result)
    known = rec.truth if truth is None else _truth(truth)
    if known is None:
        raise InputError(f"{result} does not know the truth on its cells; give it: --truth FILE.npy.")
    shown = display_units(rec.facts.units)
    rec, known = in_display_units(rec), shown.diffusivity(known)
    score = evaluate(rec, known, **_scale(rec, known, threshold))
    if not as_json:
        typer.echo(str(score))
        if rec.unit("length"):
            typer.echo(f"lengths in {shown.length.plain}, diffusivities in {shown.diffusivity.plain or 'its square'}")
        return
    import json
    import math

    values = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in score.as_dict().items()}
    typer.echo(json.dumps(values, indent=2))


def _scale(rec: Reconstruction, truth: np.ndarray, threshold: float | None) -> dict[str, Any]:
    """Threshold and range of the diffusivity: the paper's for runs without units, those of the part for others."""
    from nefty.metrics.volume import THRESHOLD

    if not rec.unit("length"):
        return {"threshold": THRESHOLD if threshold is None else threshold}
    low, high = float(rec.background.min()), max(float(rec.background.max()), float(truth.max()))
    return {"threshold": low / 2 if threshold is None else threshold, "bounds": (0.0, high)}


def _truth(path: Path) -> np.ndarray:
    from nefty.core.errors import InputError
    from nefty.core.storage.arrays import load_array
    from nefty.data.read import read

    if path.suffix.lower() == ".npy":
        return load_array(path, "truth")
    found = read(path).truth
    if found is None:
        raise InputError(f"the recording {path} does not know the truth; give an array (z, y, x) as .npy.")
    return found
