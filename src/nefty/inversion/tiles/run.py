"""``nefty.reconstruct_tiles``: a part too large to be solved in one piece, as tasks on worker processes."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Iterator, Mapping
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.cluster.place import Place, connected
from nefty.core.cluster.settle import settle
from nefty.core.cluster.worker import mark
from nefty.core.code_version import RECONSTRUCTION, code_version_of
from nefty.core.errors import InputError, NeftyError
from nefty.core.interrupt import Interrupt
from nefty.core.storage.hdf5 import digest
from nefty.core.storage.progress_file import ProgressFile
from nefty.core.storage.run_folder import RunFolder, is_finished
from nefty.data.preparation.binning import MOST as ONE_PIECE
from nefty.data.preparation.binning import binned, choose_bin, pixels_step
from nefty.data.sequence import Sequence
from nefty.inversion.recipe import Recipe, load_recipe
from nefty.inversion.reconstruct import Watch, deciding, with_record
from nefty.inversion.tiles.close_up import rims
from nefty.inversion.tiles.join import join
from nefty.inversion.tiles.join_evidence import shared
from nefty.inversion.tiles.layout import MOST, Tile, layout
from nefty.inversion.tiles.work import OVERVIEW, RECORDING, TILES, work_on
from nefty.result.reconstruction import Reconstruction

LARGE = 2 * ONE_PIECE  # pixels, from which on one piece would take more than 3 GB
SEEN = 0.02  # share of a tile that must be part


def why_tiles(sequence: Sequence, recipe: Recipe) -> str:
    """Why a recording is solved in tiles, in words; empty if it is not."""
    _, rows, columns = sequence.shape
    if rows * columns <= LARGE or not _can_be_joined(recipe):
        return ""
    return (
        f"{rows} x {columns} pixels are more than the {LARGE} that are solved in one piece: the part is calibrated as "
        "a whole, and solved in tiles"
    )


def reconstruct_tiles(
    sequence: Sequence,
    recipe: str | Path | Mapping[str, Any] | Recipe = "real",
    *,
    run: str | os.PathLike[str],
    overrides: Mapping[str, Any] | None = None,
    place: Place | None = None,
    retries: int = 1,
    pixels: int = MOST,
    fresh: bool = False,
    watch: Watch | None = None,
) -> Reconstruction:
    """Reconstruct a large part in tiles, and join them.

        whole = nefty.load("panel.tif", facts="part.toml", bin="off")
        rec = nefty.reconstruct_tiles(whole, run="panel-run")

    First an overview of joined pixels calibrates the part. Then each tile, with a rim as wide as heat spreads, is
    solved with that calibration, one task each. What is done stays: the same call goes on after Ctrl-C or a crash.

    Args:
        sequence: the whole recording, as prepared, in the pixels that it shall be solved in.
        recipe: as ``nefty.reconstruct`` takes it; one that calibrates a real part and weighs sheets.
        run: a folder on a disk that all workers see, for the overview, the tiles and the result.
        overrides: dotted keys of the recipe and their values.
        place: where to run; as many processes of this machine as there are cores, if not given.
        retries: further attempts after an error of a worker.
        pixels: of a tile with its rims, at most; they decide the memory of a worker.
        fresh: start over.
        watch: told about progress.

    Raises:
        NeftyError: a tile could not be solved.
        KeyboardInterrupt: Ctrl-C has ended it; what is done stays.
    """
    chosen, watch = load_recipe(recipe, overrides), watch or Watch()
    _refuse_unfit(sequence, chosen)
    sequence = sequence.after_flash()
    config = {**deciding(sequence, chosen), "pixels of a tile": pixels}
    with RunFolder.open(run, config, sequence.digest(), fresh=fresh) as folder:
        if folder.finished:
            return with_record(Reconstruction.load(folder.path), sequence, folder)
        if not folder.resumed:
            for name in (OVERVIEW, TILES):
                shutil.rmtree(folder.path / name, ignore_errors=True)
        told = watch.also(ProgressFile(folder.path))
        found = _solved(sequence, chosen, folder, place or Place(), retries, pixels, told)
        found.save(folder.path)
        folder.finish(tiles=len(list((folder.path / TILES).iterdir())))
        return found


def _can_be_joined(recipe: Recipe) -> bool:
    """Whether pieces take over one calibration, and show sheets that can be joined."""
    return recipe.calibration.background == "part" and recipe.evidence.regions == "sheets"


def _refuse_unfit(sequence: Sequence, recipe: Recipe) -> None:
    if not _can_be_joined(recipe):
        raise InputError(
            f"recipe {recipe.name!r} cannot be solved in tiles, which take over one calibration and join sheets; use "
            "real (calibration.background=part, evidence.regions=sheets)."
        )
    if recipe.stop.seconds is not None:
        raise InputError(
            "--seconds (stop.seconds) does not go with tiles; stop them with Ctrl-C, and the same command goes on, or "
            "solve the part in one piece with --no-tiles (nefty.reconstruct)."
        )
    if sequence.size is None or sequence.observe != "front":
        raise InputError("tiles need a recording of the front face whose size is known; give pixel and thickness.")


def _solved(
    sequence: Sequence, recipe: Recipe, folder: RunFolder, place: Place, retries: int, pixels: int, watch: Watch
) -> Reconstruction:
    """Overview, tiles, and all of it."""
    root = folder.path
    watch.stage("Cut the recording")
    small = _joined_pixels(sequence, choose_bin("auto", sequence.shape[1:], None, None))
    _write(small, root / OVERVIEW)
    with Interrupt() as interrupt:
        watch.stage("Solve the overview")
        for _ in _settled([OVERVIEW], shared(recipe, 2), root, place, retries, interrupt):
            pass
        whole = Reconstruction.load(root / OVERVIEW)
        folder.checkpoint({"overview": digest(whole.alpha)})  # from now on there is work in the folder
        tiles = _tiles_of(sequence, whole, pixels)
        for tile in tiles:
            _write(sequence, root / TILES / tile.name, tile)
        watch.stage("Solve the tiles")
        names = [f"{TILES}/{tile.name}" for tile in tiles]
        for done, name in enumerate(
            _settled(names, shared(recipe, 2 * len(tiles)), root, place, retries, interrupt), 1
        ):
            watch.progress("tiles", done, len(tiles), _misfit(root / name))
    watch.stage("Join the tiles")
    return join(sequence, whole, recipe, tiles, lambda tile: root / TILES / tile.name)


def _misfit(folder: Path) -> float:
    return float(Reconstruction.load(folder).misfit or np.nan)


def _tiles_of(sequence: Sequence, whole: Reconstruction, pixels: int) -> list[Tile]:
    """Tiles that show something of the part, by what the overview counts."""
    assert sequence.size is not None
    steps = [side / n for side, n in zip(sequence.size[1:], sequence.shape[1:], strict=True)]
    y, x = (ceil(rim / step) for rim, step in zip(rims(whole), steps, strict=True))
    joined = whole.facts.window.bin // sequence.facts.window.bin
    seen = np.isfinite(whole.measured).any(axis=0).repeat(joined, axis=0).repeat(joined, axis=1)
    found = layout((sequence.shape[1], sequence.shape[2]), (y, x), pixels)
    return [tile for tile in found if seen[tile.whole].mean() > SEEN]


def _joined_pixels(sequence: Sequence, n: int) -> Sequence:
    """The recording with means over n x n pixels."""
    _, rows, columns = sequence.shape
    if n == 1:
        return sequence
    rest, _, (top, bottom, left, right), _ = pixels_step(
        sequence.with_facts(sequence.facts.replaced(gain=None)), (0, rows, 0, columns), n, None
    )
    frames = np.stack([binned(frame[top:bottom, left:right].astype(np.float64), n) for frame in sequence.frames])
    noise = None if sequence.noise is None else sequence.noise / n
    return dataclasses.replace(rest, frames=frames.astype(sequence.frames.dtype), times=sequence.times, noise=noise)


def _write(sequence: Sequence, folder: Path, tile: Tile | None = None) -> None:
    """The recording of a piece, beside its run, where it is not there yet."""
    if (folder / RECORDING).exists() or is_finished(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    (sequence if tile is None else sequence.region(*tile.whole)).save(folder / RECORDING)


def _settled(
    names: list[str], recipe: Recipe, root: Path, place: Place, retries: int, interrupt: Interrupt
) -> Iterator[str]:
    """Solve the pieces that are not solved yet; yields the name of each when it is."""
    left = [name for name in names if not is_finished(root / name)]
    yield from (name for name in names if name not in left)
    if not left:
        return
    marker, code, values = mark(root), code_version_of(*RECONSTRUCTION), recipe.model_dump(mode="json")
    keys = {digest(str(root.absolute()), name)[:32]: name for name in left}  # a scheduler has many
    tasks = {key: (str(root.absolute()), name, values, marker, code) for key, name in keys.items()}
    with connected(place, len(left)) as client:
        done = 0
        for one in settle(client, work_on, tasks, retries=retries, interrupt=interrupt):
            if one.reason is not None:
                raise NeftyError(
                    f"{keys[one.key]} could not be solved: {one.reason} What is done stays; the same command goes on."
                )
            done += 1
            yield keys[one.key]
    if done < len(left):
        ready = len(names) - len(left) + done
        raise KeyboardInterrupt(f"{ready} of {len(names)} pieces are done; the same command goes on.")
