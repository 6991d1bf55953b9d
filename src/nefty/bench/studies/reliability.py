"""``nefty bench run reliability``: of cells with a stated probability, how many are truly anomalous?

Parts of the test bed are reconstructed with an ensemble, and all cells are counted in ten bins of the probability that
it states. A cell is truly anomalous if the top of a defect lies in it, or if it lies below that of a hole; depths count
from the front in true millimetres, cells in those that the user's thickness has. Every part is kept in a file of its
own, so that a study that was stopped goes on.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nefty.bench.parts.recording import TrialPart
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.code_version import RECONSTRUCTION, code_version_of
from nefty.core.seeds import parse_seeds
from nefty.core.storage.files import write_atomic
from nefty.core.tell import Tell, say_nothing
from nefty.inversion.reconstruct import reconstruct
from nefty.result.reconstruction import Reconstruction
from nefty.synth.parts.recorded import PartRecording, Truth

BINS = 10
ENOUGH = 1000  # cells, from which on a bin is judged
ASKED = 0.1  # difference of observed and stated that a bin may have
COLUMNS = (
    Column("bin", "stated", str),
    Column("cells", "cells", formats.whole),
    Column("parts", "parts", formats.whole),
    Column("stated", "mean stated", lambda v: f"{v:.3f}"),
    Column("observed", "observed", lambda v: f"{v:.3f}"),
    Column("within", f"within {ASKED:g}", str),
)


@dataclass(frozen=True)
class Counts:
    """Cells of a part by the bin of their stated probability.

    Args:
        cells: how many, (bin,).
        stated: the sum of their probabilities, (bin,).
        anomalous: how many truly are, (bin,).
    """

    cells: tuple[int, ...]
    stated: tuple[float, ...]
    anomalous: tuple[int, ...]

    @staticmethod
    def of(probability: np.ndarray, truth: np.ndarray) -> Counts:
        """Of cells with stated probabilities and the truth, of one shape."""
        p = probability.ravel().astype(np.float64)
        which = np.minimum((BINS * p).astype(int), BINS - 1)
        cells, stated, true = (np.bincount(which, w, BINS) for w in (None, p, truth.ravel().astype(np.float64)))
        return Counts(tuple(int(n) for n in cells), tuple(stated.tolist()), tuple(int(n) for n in true))


def run(
    *,
    kind: str = "drawn",
    seeds: str = "0:48",
    pixels: int = 64,
    members: int = 8,
    root: str = "",
    tell: Tell = say_nothing,
) -> Results:
    """Reconstruct parts with an ensemble, and count.

    Args:
        kind: of the parts: as drawn, a third of them sound; all sound; none sound.
        seeds: of the parts.
        pixels: along each side of their frames.
        members: of each ensemble.
        root: folder in which every part is kept once it is counted; a temporary one if empty.
        tell: hears the parts.
    """
    folder = Path(root or Path(tempfile.gettempdir()) / "nefty-reliability") / code_version_of(*RECONSTRUCTION)[:8]
    found = []
    for seed in parse_seeds(seeds):
        tell("Reliability", f"part {seed}")
        found.append(_kept(folder / f"{kind}-{seed:04d}-{pixels}-{members}.json", kind, seed, pixels, members))
    lead = (
        f"Cells of {len(found)} parts of the test bed by the probability that an ensemble of {members} refits states, "
        f"and how many of them are anomalous. Bins of more than {ENOUGH} cells are judged; cells of a part are not "
        "independent."
    )
    rows = [_row(i, found) for i in range(BINS)]
    settings = {"kind": kind, "seeds": seeds, "pixels": pixels, "members": members}
    tables = [Table("Stated and observed", COLUMNS, rows, name="reliability", contests=())]
    return Results("reliability", "Reliability of the probability of a cell", lead, tables, settings=settings)


def true_cells(found: Reconstruction, truth: Truth) -> np.ndarray:
    """Which cells of a result (z, y, x) are anomalous; see the module."""
    window, (layers, rows, columns) = found.facts.window, found.grid.shape
    middle = window.bin // 2
    y = np.minimum(window.top + middle + window.bin * np.arange(rows), truth.labels.shape[0] - 1)
    x = np.minimum(window.left + middle + window.bin * np.arange(columns), truth.labels.shape[1] - 1)
    labels, depth = truth.labels[np.ix_(y, x)], truth.depth[np.ix_(y, x)]
    top = np.where(labels > 0, np.nan_to_num(depth) / found.grid.spacing[0], layers).astype(int)
    holes = np.isin(labels, [one.label for one in truth.defects if one.kind == "hole"])
    layer = np.arange(layers)[:, None, None]
    return (layer == top) | ((layer > top) & holes)


def _kept(file: Path, kind: str, seed: int, pixels: int, members: int) -> Counts:
    """The counts of a part, from its file if it was counted before."""
    if file.is_file():
        values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return Counts(*(tuple(values[name]) for name in ("cells", "stated", "anomalous")))
    part = TrialPart(pixels=pixels)
    sequence = part.given(kind, seed, "prepared")
    found = reconstruct(sequence, recipe="real", overrides={"ensemble.members": members})
    assert found.probability is not None
    truth = PartRecording.load(part.folder(kind, seed)).truth
    counts = Counts.of(found.probability, true_cells(found, truth))
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(file, json.dumps(vars(counts)))
    return counts


def _row(i: int, found: list[Counts]) -> dict[str, Any]:
    cells = sum(one.cells[i] for one in found)
    stated = sum(one.stated[i] for one in found) / max(cells, 1)
    observed = sum(one.anomalous[i] for one in found) / max(cells, 1)
    judged = "yes" if abs(observed - stated) <= ASKED else "no"
    return {
        "bin": f"{i / BINS:.1f} to {(i + 1) / BINS:.1f}",
        "cells": cells,
        "parts": sum(one.cells[i] > 0 for one in found),
        "stated": stated if cells else None,
        "observed": observed if cells else None,
        "within": judged if cells > ENOUGH else "few cells",
    }
