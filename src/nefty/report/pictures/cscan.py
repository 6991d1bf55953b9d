"""C-scan style pictures of a reconstruction, as PNG files to put into other documents.

| file | shows |
|---|---|
| ``cscan-depth.png`` | depth to the top of the indications |
| ``cscan-contrast.png`` | thermal contrast in the frame that shows the clearest indication best (detection image) |
| ``cscan-diffusivity.png`` | missing diffusivity, the mean over depth of 1 - alpha/background |
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nefty.core.storage.files import write_atomic
from nefty.report.figures.style import DEPTH, DIFFERENCE, AxisUnits, Scale, axis_title, units_of
from nefty.report.pages.findings import Findings
from nefty.report.pictures.labelled_image import LabelledMap, labelled_image
from nefty.result.display_units import in_display_units
from nefty.result.indications.detection_image import detection_image, front_frames, heating
from nefty.result.indications.sizing import deficit_map
from nefty.result.reconstruction import Reconstruction

NAMES = ("cscan-depth.png", "cscan-contrast.png", "cscan-diffusivity.png")
MISSING = Scale("Viridis", from_zero=True)
#: The colours of the contrast hold this share of the pixels; the rest, such as edges, saturates.
HELD = 99.5


@dataclass(frozen=True, eq=False)
class CScan:
    """A picture.

    Args:
        name: of its file.
        shows: what it is, in words.
        png: the file.
    """

    name: str
    shows: str
    png: bytes


def cscans(findings: Findings, units: AxisUnits) -> list[CScan]:
    """All pictures, of a reconstruction in the units that are shown."""
    return [_depth(findings, units), _contrast(findings, units), _diffusivity(findings, units)]


def write_cscans(rec: Reconstruction, folder: str | os.PathLike[str]) -> list[Path]:
    """Write all pictures into a folder."""
    rec = in_display_units(rec)
    return [write_atomic(Path(folder) / scan.name, scan.png) for scan in cscans(Findings(rec), units_of(rec))]


def _depth(findings: Findings, units: AxisUnits) -> CScan:
    rec = findings.rec
    found = len(findings.defects)
    picture = LabelledMap(
        "Depth to the top of the indications",
        rec.depth_map(),
        rec.grid.size[1:],
        DEPTH,
        axis_title("depth", units.length),
        units.length,
        (0.0, rec.grid.size[0]),
        "grey: no indication" if found else "no indication found",
        _marks(findings),
    )
    return CScan(NAMES[0], "depth to the top of the indications", labelled_image(picture))


def _contrast(findings: Findings, units: AxisUnits) -> CScan:
    rec = findings.rec
    frame = _frame(findings)
    sound = ~findings.footprint if not findings.footprint.all() else np.ones_like(findings.footprint)
    image = detection_image(front_frames(rec.measured)[frame], heating(front_frames(rec.fitted)), sound)
    known = image[sound & np.isfinite(image)]
    image = image - (float(np.median(known)) if known.size else 0.0)
    size = np.abs(image[np.isfinite(image)])
    most = float(np.percentile(size, HELD)) if size.size else 0.0
    when = f"frame at t = {rec.times[frame]:.3g} {units.time}".rstrip()
    picture = LabelledMap(
        "Thermal contrast, as measured",
        image,
        rec.grid.size[1:],
        DIFFERENCE,
        axis_title("contrast", units.temperature),
        units.length,
        (-most, most) if most > 0 else None,
        f"{when}, evened by the model's heating",
        _marks(findings),
    )
    return CScan(NAMES[1], f"thermal contrast in the {when}", labelled_image(picture))


def _diffusivity(findings: Findings, units: AxisUnits) -> CScan:
    rec = findings.rec
    picture = LabelledMap(
        "Missing diffusivity",
        100 * np.maximum(deficit_map(rec.alpha, rec.background), 0),
        rec.grid.size[1:],
        MISSING,
        "mean over depth (%)",
        units.length,
        None,
        "against the background at the same depth",
        _marks(findings),
    )
    return CScan(NAMES[2], "missing diffusivity, mean over depth", labelled_image(picture))


def _frame(findings: Findings) -> int:
    """The frame of the clearest indication; without any, the one half way in logarithmic time."""
    seen = [e for e in findings.evidence.values() if e.frame >= 0]
    if seen:
        return max(seen, key=lambda e: e.snr).frame
    times = findings.rec.times
    late = np.flatnonzero(times > 0)
    if not len(late):
        return 0
    return int(late[np.abs(times[late] - np.sqrt(times[late[0]] * times[-1])).argmin()])


def _marks(findings: Findings) -> list[tuple[str, tuple[float, float]]]:
    return [(str(d.label), (d.centre[1], d.centre[2])) for d in findings.defects]
