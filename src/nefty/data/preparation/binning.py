"""Fewer, larger pixels: means of n x n."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from nefty.core.errors import InputError
from nefty.data.facts import Step
from nefty.data.preparation.prepared import counted
from nefty.data.sequence import Sequence
from nefty.physics.pulses import LASTING

MOST = 160 * 128  # pixels: about 128 x 128, and no coarser than it must be for a picture of 320 x 256
WHOLE = 2  # cells across: so wide a defect covers one cell wholly, wherever it lies; of a narrower one all are mixtures
PRESENT = 0.5  # the share of values that a mean needs


def choose_bin(choice: str | int, shape: tuple[int, int], pixel: float | None, wanted: float | None) -> int:
    """How many pixels along each side make one.

    Args:
        choice: ``Preparation.bin``.
        shape: of the frames, (y, x).
        pixel: their present size, where it is known.
        wanted: the size to come to, about; goes before an automatic choice.
    """
    if wanted is not None:
        if pixel is None:
            raise InputError(f"pixel={wanted:g} cannot be reached: the size of the recording's pixels is not known.")
        n = max(1, round(wanted / pixel))
    elif isinstance(choice, int):
        n = choice
    else:
        n = 1 if choice == "off" else min(max(1, int(np.ceil(np.sqrt(shape[0] * shape[1] / MOST)))), *shape)
    if n > min(shape):
        raise InputError(f"bin={n} is larger than the frames of {shape[0]} x {shape[1]} pixels (y, x); choose less.")
    return n


def binned(frame: np.ndarray, n: int) -> np.ndarray:
    """Means (y/n, x/n) over n x n pixels of a frame whose sides n divides; missing where half of them are."""
    if n == 1:
        return frame
    y, x = frame.shape[-2] // n, frame.shape[-1] // n
    blocks = np.moveaxis(frame.reshape(*frame.shape[:-2], y, n, x, n), -3, -2).reshape(*frame.shape[:-2], y, x, n * n)
    total = blocks.sum(axis=-1)
    if np.isfinite(total).all():
        return total / (n * n)
    here = np.isfinite(blocks)
    count = here.sum(axis=-1)
    total = np.where(here, blocks, 0.0).sum(axis=-1)
    return np.where(count > PRESENT * n * n, total / np.maximum(count, 1), np.nan)


def binned_rest(sequence: Sequence, n: int) -> Sequence:
    """What a recording says pixel by pixel besides its frames, for larger pixels: profile, mask, truth of the face.

    Args:
        sequence: with one frame, whose sides n divides.
        n: pixels along each side.
    """
    if n == 1:
        return sequence
    face = sequence.shape[1:]
    facts = sequence.facts.replaced(window=sequence.facts.window.binned(n))
    changed: dict[str, Any] = {"frames": binned(sequence.frames.astype(np.float64), n)}
    if sequence.mask is not None:
        changed["mask"] = binned(sequence.mask.astype(np.float64), n) > PRESENT
    pulse = sequence.excitation
    profile = np.asarray(pulse.profile) if isinstance(pulse, LASTING) and pulse.profile is not None else None
    if isinstance(pulse, LASTING) and profile is not None and profile.shape == face:
        changed["excitation"] = dataclasses.replace(pulse, profile=binned(profile.astype(np.float64), n))
    elif isinstance(pulse, np.ndarray) and pulse.shape[1:] == face:
        changed["excitation"] = binned(pulse, n)
    known = facts.defects
    if known is not None and known.mask is not None and known.mask.shape == face:
        mask = binned(known.mask.astype(np.float64), n) > PRESENT
        facts = facts.replaced(defects=dataclasses.replace(known, mask=mask))
    if facts.pixel is not None:
        facts = facts.replaced(pixel=(n * facts.pixel[0], n * facts.pixel[1]))
    return dataclasses.replace(sequence, **changed, facts=facts)


def cost_of_joining(n: int, cell: float | None, unit: str) -> str:
    """What is lost where n x n pixels of the camera are one cell, in plain words.

    Args:
        n: pixels along each side.
        cell: length of a cell; ``None`` if it is not known.
        unit: the word for its unit.
    """
    one, least = f"{n} x {n} pixels of the camera are joined to one cell", f"{WHOLE * n} pixels of the camera"
    if cell is not None:
        one, least = f"{one} of {cell:.3g} {unit}".rstrip(), f"about {WHOLE * cell:.3g} {unit}".rstrip()
    return (
        f"{one}: a defect smaller than {least} ({WHOLE} cells) may be missed, since it need not fill any cell. "
        "--region N (nefty.close_up) looks closer at indication N, --tiles (nefty.reconstruct_tiles) at the whole part."
    )


def _cell(sequence: Sequence, n: int) -> tuple[float | None, str]:
    """Length of the longer side of a cell of n x n pixels, if it is known, and the word for its unit."""
    sides = list(sequence.facts.pixel or ())
    if sequence.size is not None:
        sides = [side / count for side, count in zip(sequence.size[1:], sequence.shape[1:], strict=True)]
    factor, unit = (1e3, "mm") if sequence.facts.units.in_metres else (1.0, sequence.facts.units.length)
    return (factor * n * max(sides) if sides else None), unit


def pixels_step(
    sequence: Sequence, region: tuple[int, int, int, int], choice: str | int, wanted: float | None
) -> tuple[Sequence, int, tuple[int, int, int, int], Step]:
    """A recording but for its frames, cut and binned; by how much; the region that fills whole means; what to say.

    Args:
        sequence: the recording.
        region: rows and columns (y0, y1, x0, x1).
        choice: ``Preparation.bin``.
        wanted: ``Preparation.pixel``.
    """
    top, bottom, left, right = region
    pixel = None if sequence.size is None else sequence.size[1] / sequence.shape[1]
    n = choose_bin(choice, (bottom - top, right - left), pixel, wanted)
    rows, columns = (bottom - top) // n, (right - left) // n
    box = (top, top + rows * n, left, left + columns * n)
    last = next(frame for frame in sequence.frames[::-1] if np.isfinite(frame).any())
    rest = dataclasses.replace(sequence, frames=last[None], times=np.ones(1), noise=None)
    text = f"{rows} x {columns} (rows x columns)" + (", as they are." if n == 1 else f", means over {n} x {n}.")
    if n > 1:
        text += f" {cost_of_joining(n, *_cell(sequence, n))}"
    if box != region:
        text += f" {counted(bottom - box[1], 'row')} and {counted(right - box[3], 'column')} at the end fill no mean."
    try:
        rest = rest.region(box[:2], box[2:])
    except InputError:
        if rest.truth is None:
            raise
        rest = dataclasses.replace(rest, truth=None).region(box[:2], box[2:])
        text += " The truth has cells that the region cuts, and was left out."
    rest = binned_rest(rest, n)
    return rest, n, box, Step("pixels", text, {"bin": n, "rows": rows, "columns": columns})
