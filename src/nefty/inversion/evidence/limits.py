"""What would have been seen: round defects put into this very recording, and how clearly each would stand out.

A disc of a resistance R at a depth, under one place, is run through the heat model of the sound part. What the bank's
filters show of it, over the scatter that they have in this recording, is its expected score S. A score scatters by 1
around it, so the disc is found with the probability P if S = threshold + z_P. At other places it shows in proportion
to what the filters know there (edges, masked pixels) and to the heat that came (uneven flash).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import ndimage
from scipy.stats import norm

from nefty.data.facts import Facts
from nefty.inversion.evidence.bank import NARROWEST, WIDEST
from nefty.inversion.evidence.settings import EvidenceSettings
from nefty.inversion.evidence.sheets import MOST, Sheet, SheetFit
from nefty.inversion.evidence.weighing import SoundPart, Weighing
from nefty.result.indications.by_evidence import AIR, POLYMER
from nefty.result.limits import PROBABILITY, Limits

WIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)  # of the discs, over their depth; between them the score is a power of the diameter
PLENTY = 3.0  # times the score that is needed, beyond which wider discs are not tried
FINE = 8  # points of a pixel, along each side, that tell how much of it a disc covers


@dataclass(frozen=True)
class Reference:
    """A kind of defect that is asked about.

    Args:
        name: in words.
        resistance: R, thickness over diffusivity times the part's heat capacity over its own, time/length.
    """

    name: str
    resistance: float


def references(facts: Facts) -> tuple[Reference, ...]:
    """Defects to ask about: an air gap and a polymer film, or what lets no heat through if the material is unknown."""
    part, metres = facts.material, facts.units.metres
    if part is None or metres is None or part.rho is None or part.cp is None or part.k is None:
        return (Reference("a gap that lets no heat through", np.inf),)
    heat = part.rho * part.cp * metres
    found = [Reference("an air gap of 50 um", 50e-6 * (1 / AIR - 1 / part.k) * heat)]
    if part.k > POLYMER:
        found.append(Reference("a polymer film of 100 um", 100e-6 * (1 / POLYMER - 1 / part.k) * heat))
    return tuple(found)


def limits(
    part: SoundPart,
    weighing: Weighing,
    asked: Sequence[Reference],
    settings: EvidenceSettings,
    brightness: np.ndarray | None = None,
) -> Limits:
    """The smallest discs that this recording shows.

    Args:
        part: what evidence is weighed against.
        weighing: of the recording.
        asked: kinds of defects.
        settings: which depths, and the fit of sheets.
        brightness: heat that each pixel (y, x) got, over that of a typical one; even if not given.
    """
    contrast, slab = part.contrast, part.slab
    frame = min(n * d for n, d in zip(contrast.counted.shape, contrast.pixel, strict=True))
    depths = np.array([d for d in slab.thickness * np.array(settings.depths) if d >= part.shallowest])
    dim = np.ones(contrast.counted.shape) if brightness is None else np.clip(brightness, 0.0, 1.0)
    place, needed = _middle(contrast.counted), weighing.threshold + float(norm.ppf(PROBABILITY))
    maps = np.full((len(asked), len(depths), *contrast.counted.shape), np.nan)
    for k, depth in enumerate(depths):
        widths = [w * depth for w in WIDTHS if NARROWEST * max(contrast.pixel) <= w * depth <= WIDEST * frame]
        for kind, one in enumerate(asked):
            insulation = MOST if np.isinf(one.resistance) else one.resistance / (one.resistance + depth / slab.alpha)
            known = []
            for width in widths:
                shown = disc_contrast(part, settings, place, depth, width, min(insulation, MOST))
                known.append(np.where(contrast.counted, dim * weighing.expected(shown, place).max(axis=0), 0.0))
                if np.median(known[-1][contrast.counted]) > PLENTY * needed:
                    break
            if known:
                maps[kind, k] = _smallest(np.array(widths[: len(known)]), np.stack(known), needed)
    finest = float(np.sqrt(4 / np.pi * settings.sheet.smallest * contrast.pixel[0] * contrast.pixel[1]))
    maps = np.maximum(maps, finest)  # what covers fewer pixels is no region, however clearly it shows
    maps[:, :, ~contrast.counted] = np.nan
    typical = np.where(np.isnan(maps), np.inf, maps)[:, :, contrast.counted]
    diameters = np.median(typical, axis=-1)
    largest = min(WIDTHS[-1] * float(depths.max()), WIDEST * frame) if len(depths) else 0.0
    return Limits(
        names=tuple(one.name for one in asked),
        depths=depths,
        diameters=np.where(np.isfinite(diameters), diameters, np.nan),
        maps=maps,
        largest=largest,
    )


def disc_contrast(
    part: SoundPart,
    settings: EvidenceSettings,
    place: tuple[int, int],
    depth: float,
    diameter: float,
    insulation: float,
) -> np.ndarray:
    """ln(T/T_sound) of a disc under one place, (t, y, x), through the heat model of the sound part.

    Args:
        part: the sound part and its recording.
        settings: layers of the cells.
        place: row and column of the disc's centre.
        depth: of the disc.
        diameter: of the disc.
        insulation: c = R/(R + depth/alpha), 0 to 1.
    """
    contrast, slab = part.contrast, part.slab
    reach = diameter / 2 + settings.sheet.around * slab.thickness
    window = tuple(
        slice(max(at - int(np.ceil(reach / d)), 0), min(at + int(np.ceil(reach / d)) + 1, n))
        for at, d, n in zip(place, contrast.pixel, contrast.counted.shape, strict=True)
    )
    rows, columns = window
    near = contrast.part(np.ones(len(contrast.times), dtype=bool), (rows, columns))
    cover = _cover(near.counted.shape, (place[0] - rows.start, place[1] - columns.start), contrast.pixel, diameter)
    deep = np.full(cover.shape, depth)
    nothing = np.zeros_like(cover)
    sheet = Sheet(cover > 0, insulation * cover, deep, deep, nothing, [], nothing)
    shown = np.zeros(contrast.values.shape)
    shown[:, rows, columns] = SheetFit(near, slab, part.along, settings.sheet).explained(sheet)
    return shown


def _cover(shape: tuple[int, ...], place: tuple[int, int], pixel: tuple[float, float], diameter: float) -> np.ndarray:
    """Share of each pixel (y, x) that a disc covers."""
    points = [(np.arange(n * FINE) + 0.5) / FINE - 0.5 for n in shape]
    y, x = ((p - at) * d for p, at, d in zip(points, place, pixel, strict=True))
    inside = np.hypot(y[:, None], x[None, :]) <= diameter / 2
    return inside.reshape(shape[0], FINE, shape[1], FINE).mean(axis=(1, 3))


def _middle(counted: np.ndarray) -> tuple[int, int]:
    """The pixel that lies furthest from the edge and from pixels that do not count."""
    distance = np.asarray(ndimage.distance_transform_edt(np.pad(counted, 1)))[1:-1, 1:-1]
    row, column = np.unravel_index(int(distance.argmax()), distance.shape)
    return int(row), int(column)


def _smallest(widths: np.ndarray, scores: np.ndarray, needed: float) -> np.ndarray:
    """Diameter (y, x) at which the score, (width, y, x), reaches what is needed; NaN where none does.

    Below the first width the score goes on as between the first two, or like the area if there is only one.
    """
    scores = np.maximum.accumulate(np.maximum(scores, 1e-9), axis=0)
    logs, target = np.log(scores), np.log(needed)
    found = np.full(scores.shape[1:], np.nan)
    first = logs[0] >= target
    rise = (logs[1] - logs[0]) / np.log(widths[1] / widths[0]) if len(widths) > 1 else np.full(found.shape, 2.0)
    below = np.log(widths[0]) + (target - logs[0]) / np.maximum(rise, 1.0)
    found[first] = np.exp(below[first])
    for low in range(len(widths) - 1):
        between = (logs[low] < target) & (logs[low + 1] >= target)
        share = (target - logs[low]) / np.maximum(logs[low + 1] - logs[low], 1e-9)
        at = (1 - share) * np.log(widths[low]) + share * np.log(widths[low + 1])
        found[between] = np.exp(at[between])
    return found
