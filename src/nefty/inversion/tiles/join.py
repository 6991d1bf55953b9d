"""From the results of tiles to that of the whole picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from nefty.core.errors import NeftyError
from nefty.core.grid import Grid
from nefty.core.provenance import provenance
from nefty.core.stopping import FINISHED
from nefty.core.words import counted
from nefty.data.facts import Note, NoteKind
from nefty.data.sequence import Sequence
from nefty.inversion.recipe import Recipe
from nefty.inversion.tiles.join_evidence import join_evidence
from nefty.inversion.tiles.join_limits import join_limits
from nefty.inversion.tiles.layout import Tile
from nefty.result.effort import Effort
from nefty.result.frame_evidence import FrameEvidence
from nefty.result.reconstruction import Reconstruction


class Joined:
    """The whole picture, to which one tile after the other is added; memory holds one tile and the whole.

    Where tiles overlap, log(alpha/background), frames and gains are means by the tiles' weights; what was measured, and
    which values count, is told by the tile that answers for the pixel.

    Args:
        sequence: the whole recording, as prepared.
        overview: its result on joined pixels. Pixels that no tile covers are those of the part's surroundings: sound,
            and nothing of them counts.
        recipe: of the whole; that of each look accepts fewer false calls.
    """

    def __init__(self, sequence: Sequence, overview: Reconstruction, recipe: Recipe) -> None:
        self._sequence, self._overview, self._recipe = sequence, overview, recipe
        t, face = len(overview.times), sequence.shape[1:]
        self._ratio = np.zeros((len(overview.background), *face))
        self._measured = np.full((t, *face), np.nan, dtype=np.float32)
        self._fitted = np.zeros((t, *face), dtype=np.float32)
        self._gain, self._weight, self._pixels = np.zeros(face), np.zeros(face), 0
        self._square = np.zeros(t)
        self._tiles: list[Tile] = []
        self._shown: list[FrameEvidence] = []
        self._effort = overview.effort

    def add(self, tile: Tile, found: Reconstruction) -> None:
        """Take in a tile."""
        if len(found.times) != len(self._overview.times) or not np.allclose(found.times, self._overview.times):
            raise NeftyError(
                f"tile {tile.name} was fitted to {len(found.times)} frames, the overview to "
                f"{len(self._overview.times)}; start over with --fresh (fresh=True)."
            )
        assert found.frame_evidence is not None
        weight, whole = tile.weights(), (slice(None), *tile.whole)
        self._ratio[whole] += weight * np.log(found.alpha / found.background[:, None, None])
        self._fitted[whole] += (weight * found.fitted).astype(np.float32)
        self._gain[tile.whole] += weight * (1.0 if found.facts.gain is None else found.facts.gain)
        self._weight[tile.whole] += weight
        self._measured[(slice(None), *tile.core)] = found.measured[(slice(None), *tile.core_inside)]
        pixels = self._measured[0][tile.core].size
        noise = found.noise_of_frames
        self._square += pixels * (0.0 if noise is None else np.square(noise))
        self._pixels += pixels
        self._tiles.append(tile)
        self._shown.append(found.frame_evidence)
        before, cost = self._effort, found.effort
        self._effort = Effort(
            before.preparation + cost.preparation,
            before.optimisation + cost.optimisation,
            before.evaluations + cost.evaluations,
            self._ratio.size,
        )

    def result(self) -> Reconstruction:
        """All of it."""
        sequence, whole = self._sequence, self._overview
        assert sequence.size is not None
        assert whole.frame_evidence is not None
        weight = np.where(self._weight > 0, self._weight, 1.0)
        gain = np.where(self._weight > 0, self._gain / weight, 1.0)
        grid = Grid(self._ratio.shape, sequence.size)
        joined = whole.facts.window.bin // sequence.facts.window.bin
        accepted = self._recipe.evidence.false_calls
        shown = join_evidence(self._tiles, self._shown, whole.frame_evidence, joined, grid.shape[1:], accepted)
        counted = np.asarray(np.isfinite(self._measured).any(axis=0))
        seen = join_limits(self._tiles, self._shown, whole.frame_evidence, joined, counted)
        np.exp(np.divide(self._ratio, weight, out=self._ratio), out=self._ratio)
        facts = sequence.facts.replaced(calibration=whole.facts.calibration, gain=gain, heating=whole.facts.heating)
        kept = [note for note in whole.facts.notes if note.kind is NoteKind.CALIBRATION]
        facts = facts.noted(*kept, Note(NoteKind.OTHER, self._words(joined)))
        return Reconstruction(
            grid=grid,
            alpha=np.multiply(self._ratio, whole.background[:, None, None], out=self._ratio),
            background=whole.background,
            times=whole.times,
            measured=self._measured,
            fitted=np.divide(self._fitted, weight.astype(np.float32), out=self._fitted),
            noise=np.sqrt(self._square / max(self._pixels, 1)),
            recipe=self._recipe.model_dump(mode="json"),
            provenance={**whole.provenance, "input": sequence.digest(), **provenance()},
            stopped=FINISHED,
            effort=self._effort,
            bulk=whole.bulk,
            truth=sequence.truth_on(grid.shape),
            lateral=whole.lateral,
            reach=whole.reach,
            facts=facts,
            frame_evidence=replace(shown, limits=seen),
            calibrated=whole.calibrated,
        )

    def _words(self, joined: int) -> str:
        first = self._tiles[0]
        return (
            f"Solved in {counted(len(self._tiles), 'tile')} with rims of {first.rows.rim} rows and {first.columns.rim} "
            f"columns, as wide as heat spreads, after an overview of cells of {joined} x {joined} pixels that "
            "calibrated the whole part. Each tile is a look of its own, with its share of the false calls; scores "
            "are lowered by as much as that raises its threshold."
        )


def join(
    sequence: Sequence,
    overview: Reconstruction,
    recipe: Recipe,
    tiles: Iterable[Tile],
    folder_of: Callable[[Tile], Path],
) -> Reconstruction:
    """The result of all tiles, each in its folder."""
    whole = Joined(sequence, overview, recipe)
    for tile in tiles:
        whole.add(tile, Reconstruction.load(folder_of(tile)))
    return whole.result()
