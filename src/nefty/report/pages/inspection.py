"""The page of ``nefty inspect``: what a recording holds, what was found in it, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nefty.core.provenance import provenance
from nefty.core.words import quantity
from nefty.data.facts import Step
from nefty.data.preparation.prepared import Prepared
from nefty.data.sequence import Sequence as Recording
from nefty.report.figures.curves import Curve
from nefty.report.figures.decay import decay_figure
from nefty.report.figures.frames import level_figure, window_figure
from nefty.report.figures.front_maps import DepthMap, depth_maps
from nefty.report.figures.images import coarseness
from nefty.report.figures.style import DIFFERENCE, TEMPERATURE, AxisUnits, Scale, axis_title
from nefty.report.pages.page import Fact, Notice, Page, Section, Table

COUNT = Scale("Viridis", from_zero=True)


@dataclass(frozen=True, eq=False)
class Inspection:
    """What there is to show.

    Args:
        file: its name.
        recording: as it was read, of one face.
        prepared: what the preparation makes of it.
        steps: all that was done, in order.
        missing: what a reconstruction would ask for, in words.
        summary: names and values, as printed.
        units: words for time and temperature.
    """

    file: str
    recording: Recording
    prepared: Prepared
    steps: Sequence[Step]
    missing: Sequence[str]
    summary: Sequence[tuple[str, str]]
    units: AxisUnits


def inspection_page(seen: Inspection) -> Page:
    """Build the page; pixels are numbered as in the file, for the options that name them."""
    return Page(
        title=f"{seen.file}: what the recording contains",
        lead="The file was not changed. The steps below are those that nefty reconstruct does first; each can be set "
        "by an option. Pixels and frames are numbered from 0, as in the file.",
        notice=_notice(seen),
        facts=_facts(seen),
        sections=[
            _steps(seen),
            _pictures(seen),
            _levels(seen),
            *_decays(seen),
            *_windows(seen),
            _faults(seen),
            *_gain(seen),
        ],
        provenance={name: str(value) for name, value in provenance().items()},
        details={"Summary": "\n".join(f"{name}: {value}" for name, value in seen.summary)},
    )


def _facts(seen: Inspection) -> list[Fact]:
    t, y, x = seen.recording.shape
    prepared = seen.prepared
    flash, frame = prepared.step("flash"), prepared.flash_frame
    facts = [Fact("Frames", str(t), f"of {y} × {x} pixels (rows × columns)")]
    facts.append(Fact("Flash", "not found" if flash.assumed else "before all" if frame is None else f"frame {frame}"))
    if prepared.noise:
        rise = float(np.nanmax(prepared.pictures.levels[prepared.pictures.used]))
        ratio = "" if prepared.step("ambient").assumed else f"rise over noise: {rise / prepared.noise:.3g}"
        facts.append(Fact("Noise", quantity(prepared.noise, seen.units.temperature), ratio))
    frames, rows, columns = prepared.sequence.shape
    facts.append(Fact("Prepared", f"{frames} frames", f"of {rows} × {columns} pixels"))
    facts.append(Fact("Missing", str(len(seen.missing)) if seen.missing else "nothing", "for a reconstruction"))
    return facts


def _notice(seen: Inspection) -> Notice:
    assumed = " ".join(f"{step.name.capitalize()}: {step.text}" for step in seen.steps if step.assumed)
    also = f" It would assume: {assumed}" if assumed else ""
    if seen.missing:
        return Notice("A reconstruction would ask for more", f"Missing: {'; '.join(seen.missing)}.{also}", "caution")
    return Notice("Nothing is missing for a reconstruction", also.strip() or "Nothing would be assumed.")


def _steps(seen: Inspection) -> Section:
    rows = [(step.name.capitalize() + (" (assumed)" if step.assumed else ""), step.text) for step in seen.steps]
    return Section(
        "What was found, step by step",
        "Each step, with what was found in the recording or given.",
        table=Table(("Step", "What was found and done"), rows),
    )


def _pictures(seen: Inspection) -> Section:
    recording, found = seen.recording, seen.prepared.pictures
    frames, used = recording.frames, found.used
    early = int(np.count_nonzero(found.times < 0))
    chosen = [(0, "First frame")] if early else []
    hottest = int(used[np.argmax(np.nan_to_num(found.levels[used], nan=-np.inf))])
    chosen += [(hottest, "Hottest frame that is used"), (int(used[-1]), "Last frame")]
    now, before = (s.facts.origin.ambient or 0.0 for s in (seen.prepared.sequence, recording))
    ambient = now - before
    base = np.median(frames[:early], axis=0) if early else ambient
    part = np.zeros(recording.shape[1:], bool)
    top, bottom, left, right = found.suggested or found.region
    part[top:bottom, left:right] = True
    step = coarseness((recording.shape[1], recording.shape[2]))
    outline = None if part.all() else part[::step, ::step]
    label = axis_title("rise", seen.units.temperature)
    maps = []
    for number, title in chosen:
        image = (frames[number] - base)[::step, ::step].astype(np.float64)
        maps.append(DepthMap(f"{title} ({number})", image, TEMPERATURE, label, _range(image), outline))
    return Section(
        "The frames",
        "Temperature rise above the frames before the flash, or above the ambient value if there are none. A line "
        "marks the part, if a cold background shows its outline, or the chosen region.",
        "Even light over the part at first; later the defects, as warm blurs.",
        "A picture that hardly differs from the first: no flash, or the wrong frame. Stripes: a damaged file, or axes "
        "in another order.",
        "Give --flash-frame, --axes, --roi.",
        figure=depth_maps(maps, _face(recording), _in_pixels(seen.units)),
    )


def _levels(seen: Inspection) -> Section:
    found = seen.prepared.pictures
    flash = seen.prepared.flash_frame
    return Section(
        "Frame by frame",
        "The mean of every frame, without its extremes. The dotted line is the frame in which the flash occurs.",
        "Flat, a jump, and a smooth fall.",
        "Outlying frames that are not marked as corrupt; a fall before the dotted line.",
        "Give --corrupt with their numbers, --flash-frame.",
        figure=level_figure(found.levels, found.used, found.corrupt, flash, seen.units),
    )


def _decays(seen: Inspection) -> list[Section]:
    sequence, found = seen.prepared.sequence, seen.prepared.pictures
    frames = sequence.frames.astype(np.float64)
    typical = np.array([np.median(f[np.isfinite(f)]) for f in frames])
    if not (typical > 0).any():
        return []
    curves = [Curve("median of all pixels", typical)]
    curves += [Curve(label, frames[:, y, x]) for label, (y, x) in _places(frames, found.region, sequence.shape[1:])]
    return [
        Section(
            "How it cools",
            "A thick part cools along a line of slope −1/2 until the heat meets its back or a defect; from then on the "
            "curve lies above the line. Prepared frames: averaged in time, and in space where pixels were binned.",
            "The median follows the dashed line at first, then bends up at the time L²/(π alpha) of the thickness L.",
            "No part of the curve follows the line: the flash is in another frame, ambient is wrong, or the camera "
            "was saturated.",
            "Give --flash-frame, --ambient, --start.",
            figure=decay_figure(sequence.times, curves, seen.units),
        )
    ]


def _places(
    frames: np.ndarray, region: tuple[int, int, int, int], face: tuple[int, ...]
) -> list[tuple[str, tuple[int, int]]]:
    """The middle, and the pixels that are warmest and coolest late, for their own beginning."""
    bins = (region[1] - region[0]) // face[0]
    late, early = np.mean(frames[-max(1, len(frames) // 5) :], axis=0), np.mean(frames[:3], axis=0)
    ratio = np.where(np.isfinite(late) & (early > 0), late / np.where(early > 0, early, 1.0), np.nan)
    places = {"middle": (face[0] // 2, face[1] // 2)}
    if np.isfinite(ratio).any():
        known = np.where(np.isfinite(ratio), ratio, np.nanmedian(ratio))
        for label, at in (("warmest late", np.argmax(known)), ("coolest late", np.argmin(known))):
            y, x = np.unravel_index(int(at), known.shape)
            places[label] = (int(y), int(x))
    return [
        (f"{label}: row {region[0] + bins * y}, column {region[2] + bins * x}", (y, x))
        for label, (y, x) in places.items()
        if np.isfinite(frames[:, y, x]).any()
    ]


def _windows(seen: Inspection) -> list[Section]:
    found, sequence = seen.prepared.pictures, seen.prepared.sequence
    chosen = found.selection
    if chosen is None or sequence.noise is None or chosen.times.size < 3 or chosen.counts.max() == 1:
        return []
    return [
        Section(
            "Which frames become one",
            "Above, how many frames each mean is made of; point at a dot for the first. Below, the noise that is left.",
            "Single frames at first, more and more later, and noise that falls with the square root of their number.",
            "Noise that does not fall: it is correlated over several frames, and averaging helps less.",
            "Give --frames for more or fewer of them.",
            figure=window_figure(chosen.times, chosen.counts, chosen.noise, found.used[chosen.edges[:-1]], seen.units),
        )
    ]


def _faults(seen: Inspection) -> Section:
    found = seen.prepared.pictures
    step = coarseness((found.dead.shape[0], found.dead.shape[1]))
    saturated = _highest(found.saturated.astype(np.float64), step)
    dead = _highest(found.dead.astype(np.float64), step)
    maps = [
        DepthMap("Saturated", np.where(saturated > 0, saturated, np.nan), COUNT, "frames"),
        DepthMap("Dead", np.where(dead > 0, dead, np.nan), COUNT, "", (0.0, 1.0)),
    ]
    return Section(
        "Pixels that are not used",
        f"Left, in how many frames a pixel is at the top of the camera's range ({int((found.saturated > 0).sum())} "
        f"pixels); right, pixels that never change, stand alone or are very noisy ({int(found.dead.sum())}).",
        "Both empty, or nearly.",
        "A large saturated area: the first frames after the flash are lost there. Dead pixels in clusters.",
        "Shorter integration time, weaker flash. Set --saturation or --dead if this picture is wrong.",
        figure=depth_maps(maps, _face(seen.recording), _in_pixels(seen.units)),
    )


def _gain(seen: Inspection) -> list[Section]:
    found = seen.prepared.pictures
    gain = 100 * (found.gain.astype(np.float64) - 1)
    here = gain[np.isfinite(gain)]
    if not here.size or not np.ptp(here) > 0:
        return []
    most = max(float(np.percentile(np.abs(here), 98)), 1e-3)
    step = coarseness((gain.shape[0], gain.shape[1]))
    top, bottom, left, right = found.region
    size = (float(bottom - top), float(right - left))
    panel = DepthMap("Gain − 1", gain[::step, ::step], DIFFERENCE, "%", (-most, most))
    return [
        Section(
            "Uneven flash and emissivity",
            "How much warmer each pixel is in the first frames, before any defect shows, than the mean of all. A first "
            "estimate: the inversion estimates the gain together with the volume.",
            "A few per cent, smooth (the lamps) or speckled (the surface).",
            "Tens of per cent: part of the picture was hardly heated.",
            "Choose the part with --roi, paint the surface, move the lamps.",
            figure=depth_maps([panel], size, _in_pixels(seen.units)),
        )
    ]


def _face(recording: Recording) -> tuple[float, float]:
    return float(recording.shape[1]), float(recording.shape[2])


def _in_pixels(units: AxisUnits) -> AxisUnits:
    return AxisUnits("pixel", units.time, units.temperature, units.diffusivity)


def _range(image: np.ndarray) -> tuple[float, float]:
    """Colour limits that single hot or dead pixels do not set."""
    here = image[np.isfinite(image)]
    if not here.size:
        return 0.0, 1.0
    low, high = (float(end) for end in np.percentile(here, [1, 99]))
    return low, high if high > low else low + 1.0


def _highest(values: np.ndarray, step: int) -> np.ndarray:
    """The highest of every ``step`` x ``step`` pixels, so that single ones stay visible."""
    y, x = -(-values.shape[0] // step), -(-values.shape[1] // step)
    padded = np.zeros((y * step, x * step))
    padded[: values.shape[0], : values.shape[1]] = values
    return padded.reshape(y, step, x, step).max(axis=(1, 3))
