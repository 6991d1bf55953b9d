"""A closer look: one indication of an overview, solved again in the camera's own pixels.

The overview has calibrated the whole part; the piece takes that over. It is the indication and a rim around it, as wide
as heat spreads, so that what lies beyond is not felt, and as wide as half the indication at least, so that enough sound
part is in it to tell how much sound places scatter.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from math import ceil, floor, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.errors import InputError
from nefty.data.intake.intake import take_in
from nefty.data.intake.known import Known
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.recipe import Recipe
from nefty.inversion.reconstruct import Watch, reconstruct
from nefty.result.close_up import CloseUp
from nefty.result.reconstruction import Reconstruction

Box = tuple[int, int, int, int]
SOUND_BESIDE = 0.5  # of the indication's size: then three quarters of the piece are beside it


def close_up(
    file: str | os.PathLike[str],
    overview: Reconstruction | str | os.PathLike[str],
    indication: int,
    *,
    recipe: str | Path | Mapping[str, Any] | Recipe | None = "real",
    overrides: Mapping[str, Any] | None = None,
    run: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    watch: Watch | None = None,
    **known: Any,
) -> Reconstruction:
    """Solve one indication of an overview again at full resolution.

        whole = nefty.reconstruct(nefty.load("panel.tif", facts="part.toml"), run="panel-run")
        near = nefty.close_up("panel.tif", "panel-run", 3, facts="part.toml", run="panel-run-region-3")

    Args:
        file: the recording of which the overview is.
        overview: its result, or the folder of its run.
        indication: its number there, from 1.
        recipe: as ``nefty.reconstruct`` takes it; one that calibrates a real part.
        overrides: dotted keys of the recipe and their values.
        run: folder of the closer look.
        fresh: start over.
        watch: told about progress.
        **known: what the file does not say, as ``nefty.load`` takes it; of what is not said here, thickness, pixel,
            material, pulse and frame rate are those of the overview.
    """
    whole = overview if isinstance(overview, Reconstruction) else Reconstruction.load(overview)
    name = "" if isinstance(overview, Reconstruction) else Path(overview).name
    sequence = take_in(Path(file), known_of_piece(whole, indication, Known.of(known))).complete()
    return reconstruct(
        sequence,
        recipe=recipe,
        overrides=overrides,
        overview=whole,
        close_up=about(whole, indication, name),
        run=run,
        fresh=fresh,
        watch=watch,
    )


def about(overview: Reconstruction, indication: int, run: str = "") -> CloseUp:
    """Of what a closer look is, for the report.

    Args:
        overview: of the whole part.
        indication: its number there.
        run: name of the overview's folder.
    """
    _footprint(overview, indication)
    one = overview.indications()[indication - 1]
    return CloseUp(indication, run, overview.facts.window.bin, one.depth_to_top, one.diameter)


def known_of_piece(overview: Reconstruction, indication: int, known: Known) -> Known:
    """What is known of the piece around an indication, for the intake: unbinned, and with the overview's facts.

    Args:
        overview: of the whole part.
        indication: its number there.
        known: what was said; it wins, but for the region and the bins.
    """
    top, bottom, left, right = box_around(overview, indication)
    return with_facts_of(overview, dataclasses.replace(known, roi=(top, bottom, left, right), bin="off"))


def with_facts_of(overview: Reconstruction, known: Known) -> Known:
    """What was said, and of what was not what the overview was told: thickness, pixel, material, pulse, frame rate."""
    facts, window = overview.facts, overview.facts.window
    told: dict[str, Any] = {"thickness": overview.grid.size[0]}
    told["pixel"] = tuple(d / window.bin for d in overview.grid.spacing[1:])
    told["material"] = facts.material
    if known.heating is None and facts.heating is not None and facts.heating.kind == "TopHatPulse":
        told["pulse"] = facts.heating.duration
    if known.times is None:
        told["fps"] = facts.camera.frame_rate
    if not facts.units.in_metres:
        told = {}
    return dataclasses.replace(known, **{name: v for name, v in told.items() if getattr(known, name) is None})


def box_around(overview: Reconstruction, indication: int) -> Box:
    """Rows and columns (y0, y1, x0, x1) of the file's frames: an indication and the rim around it."""
    mask = _footprint(overview, indication)
    window, ends = overview.facts.window, []
    for axis, (first, rim) in enumerate(zip((window.top, window.left), rims(overview), strict=True)):
        pixel = overview.grid.spacing[axis + 1]
        hit = np.flatnonzero(mask.any(axis=1 - axis))
        more = max(rim / pixel, SOUND_BESIDE * (hit[-1] + 1 - hit[0]))
        low, high = max(hit[0] - more, 0.0), min(hit[-1] + 1 + more, mask.shape[axis])
        ends += [first + floor(window.bin * low), first + ceil(window.bin * high)]
    top, bottom, left, right = ends
    return top, bottom, left, right


def rims(overview: Reconstruction) -> tuple[float, float]:
    """How far heat spreads along y and x until the last frame that tells of the volume: sqrt(4 alpha t), and at least
    as far as a sheet is fitted beside what stands out; in the unit of the grid.
    """
    sound = overview.calibrated
    if sound is None:
        raise InputError(
            "the overview was not calibrated by the recipe real, or by an older nefty; reconstruct it again with "
            "--recipe real, --fresh (recipe='real', fresh=True)."
        )
    least = SheetSettings().around * overview.grid.size[0]
    y, x = (max(sqrt(4 * sound.alpha * ratio * float(overview.times[-1])), least) for ratio in sound.along)
    return y, x


def _footprint(overview: Reconstruction, indication: int) -> np.ndarray:
    """Pixels (y, x) of the overview over an indication, or an error that says which there are."""
    labels = overview.segmentation().labels
    found = int(labels.max(initial=0))
    if not 1 <= indication <= found:
        there = "it has none" if not found else f"it has 1 to {found}" if found > 1 else "it has only 1"
        raise InputError(f"the overview has no indication {indication}; {there}.")
    return np.asarray((labels == indication).any(axis=0))
