"""``nefty evaluate``: a reconstruction against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import numpy as np


def run(
    result: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or its result.h5.")],
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Diffusivity (z, y, x) as .npy, or a recording that knows it; else the run's."
        ),
    ] = None,
    threshold: Annotated[float, typer.Option(help="Diffusivity below which a cell is defect.")] = 0.03,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a machine to read.")] = False,
) -> None:
    """Score a reconstruction against the truth."""
    from nefty.cli.run_files import load_result
    from nefty.core.errors import InputError
    from nefty.metrics.score import evaluate

    rec = load_result(result)
    known = rec.truth if truth is None else _truth(truth)
    if known is None:
        raise InputError(f"{result} does not know the truth on its cells; give it: --truth FILE.npy.")
    score = evaluate(rec, known, threshold=threshold)
    if not as_json:
        typer.echo(str(score))
        return
    import json
    import math

    values = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in score.as_dict().items()}
    typer.echo(json.dumps(values, indent=2))


def _truth(path: Path) -> np.ndarray:
    from nefty.cli.run_files import load_array
    from nefty.core.errors import InputError
    from nefty.data.load import load

    if path.suffix.lower() == ".npy":
        return load_array(path, "truth")
    found = load(path).truth
    if found is None:
        raise InputError(f"the recording {path} does not know the truth; give an array (z, y, x) as .npy.")
    return found
