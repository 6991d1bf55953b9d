"""What a report shows of a reconstruction: its indications, the true defects, and which belongs to which.

The report says *indication* for what was found and *defect* for what is known to be there: what an indication means is
for the inspector to assess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.ndimage import distance_transform_edt

from nefty.core.words import counted, decimals, quantity, span
from nefty.metrics.pairing import paired, true_part
from nefty.report.figures.style import AxisUnits
from nefty.report.pages.page import Table
from nefty.result.frame_pixels import FramePixels, frame_pixels
from nefty.result.indications.evidence import IndicationEvidence
from nefty.result.indications.indication import Indication
from nefty.result.reconstruction import Reconstruction
from nefty.result.verdict import Level

#: In a cell that holds no number.
NOTHING = "–"
#: Columns of the table that evidence fills, and the unit of the second where lengths have one.
WEIGHED = ("evidence (σ)", "R", "as air, polymer (µm)")
RESISTANCE = " (m²K/W)"
#: The first words where nothing may be concluded.
NOTHING_CLAIMED = {
    Level.UNFINISHED: "Not finished",
    Level.TOO_NOISY: "Too noisy to judge",
    Level.NOT_INSPECTED: "Most was not inspected",
}


@dataclass(frozen=True, eq=False)
class Findings:
    """A reconstruction with everything that the figures need, each computed once."""

    rec: Reconstruction

    @cached_property
    def defects(self) -> list[Indication]:
        """What was found."""
        return self.rec.defects()

    @cached_property
    def evidence(self) -> dict[int, IndicationEvidence]:
        """Pixel, band of the depth, FWHM and SNR of each, by its label."""
        return {evidence.label: evidence for evidence in self.rec.evidence()}

    @cached_property
    def pixels(self) -> FramePixels:
        """From places on the grid to pixels of the frames as they were read."""
        return frame_pixels(self.rec.grid, self.rec.facts.window)

    @cached_property
    def noise(self) -> np.ndarray | None:
        """Standard deviation of a value in each frame, (t,); ``None`` if it is not known or zero."""
        known = None if self.rec.noise is None else np.asarray(self.rec.noise, dtype=np.float64)
        return None if known is None or not known.all() else np.broadcast_to(known, self.rec.times.shape)

    def noise_words(self, unit: str) -> str:
        """The noise with its unit; a range where the frames differ."""
        return "" if self.noise is None else span(float(self.noise.min()), float(self.noise.max()), unit)

    @cached_property
    def mask(self) -> np.ndarray:
        """Cells of indications, (z, y, x)."""
        return np.asarray(self.rec.segmentation().mask)

    @cached_property
    def footprint(self) -> np.ndarray:
        """Pixels with an indication under them, (y, x)."""
        return np.asarray(self.mask.any(axis=0))

    @cached_property
    def ratio(self) -> np.ndarray:
        """Diffusivity over that of the background at the same depth, (z, y, x)."""
        return self.rec.alpha / self.rec.background[:, None, None]

    @cached_property
    def truth(self) -> Findings | None:
        """The same of the true part, found by the same rule; ``None`` if it is not known on this grid."""
        true = true_part(self.rec)
        return None if true is None else Findings(true)

    @cached_property
    def pairs(self) -> list[tuple[Indication | None, Indication | None]]:
        """Indications and true defects that belong together; ``None`` where one has no counterpart."""
        true = self.truth.defects if self.truth is not None else []
        return paired(self.defects, true)

    @cached_property
    def faces(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Name, measured and fitted frames (t, y, x) of each recorded face."""
        if self.rec.measured.ndim == 3:
            return [("the recorded face", self.rec.measured, self.rec.fitted)]
        return [
            (name, *frames) for name, *frames in zip(("front", "back"), self.rec.measured, self.rec.fitted, strict=True)
        ]

    @cached_property
    def points(self) -> list[tuple[str, tuple[int, int]]]:
        """Pixels (y, x) to compare decays at: over the largest indications, and one over sound material."""
        seen = np.asarray(np.isfinite(self.rec.measured).any(axis=tuple(range(self.rec.measured.ndim - 2))))
        spacing = self.rec.grid.spacing[1:]
        found = [
            (f"indication {d.label}", _nearest(seen, *(int(c / s) for c, s in zip(d.centre[1:], spacing, strict=True))))
            for d in self.defects[:5]
        ]
        sound = self._sound_pixel(seen)
        return [*found, ("sound material", sound)] if sound is not None else found

    def _sound_pixel(self, seen: np.ndarray) -> tuple[int, int] | None:
        """A well heated pixel far from all indications and from the sides: the best product of warmth and distances."""
        warmth = np.nan_to_num(np.abs(self.rec.fitted.reshape(-1, *self.rec.fitted.shape[-3:])[0, 0]))
        distance = distance_transform_edt(~self.footprint) if self.footprint.any() else np.ones(warmth.shape)
        merit = np.where(seen, warmth * np.asarray(distance) * _inside(warmth.shape), 0.0)
        if not merit.max() > 0:
            return None
        y, x = np.unravel_index(int(merit.argmax()), merit.shape)
        return int(y), int(x)


def depth_interval(findings: Findings, units: AxisUnits) -> str:
    """Between which depths the tops of all indications lie, by the interval that the result has for each; empty if
    there is none.
    """
    ends = [(one.depth_low, one.depth_high) for one in findings.evidence.values()]
    known = [(low, high) for low, high in ends if math.isfinite(low) and math.isfinite(high)]
    if not known:
        return ""
    lowest, highest = min(low for low, _ in known), max(high for _, high in known)
    return f"between {lowest:.3g} and {quantity(highest, units.length)}"


def headline(findings: Findings, units: AxisUnits) -> str:
    """The first sentence, for title and terminal: what was found, or why nothing is claimed."""
    rec, found = findings.rec, findings.defects
    level, words = rec.verdict().level, counted(len(found), "indication")
    if not level.judges:
        return NOTHING_CLAIMED[level] + (f"; {words} so far, of which nothing is claimed" if found else "")
    if not found and rec.frame_evidence is not None and rec.frame_evidence.unresolved is not None:
        return "Something stands out that was not resolved: the part is not clear"
    if not found:
        return "No indication found"
    tops = [d.depth_to_top for d in found]
    deep = f"{span(min(tops), max(tops), units.length)} of {quantity(rec.grid.size[0], units.length)}"
    return f"{words.capitalize()} found, depth to the top {deep}"


def defect_table(findings: Findings, units: AxisUnits) -> Table:
    """One row per indication, the true defect below it in a quieter voice.

    Lengths show a tenth of a cell. An indication without counterpart is called so, where the truth is known.
    """
    weighed, sure = _weighed_columns(findings), any(math.isfinite(e.level) for e in findings.evidence.values())
    refitted = findings.rec.ensemble is not None
    words = (units.length, units.length and f"{units.length}²", units.temperature, units.time)
    length, area, temperature, time = (f" ({word})" if word else "" for word in words)
    headings = [f"{word}{RESISTANCE if word == 'R' and length else ''}" for word in WEIGHED[:weighed]]
    columns = ("", f"centre x, y{length}", "pixel row, column", *headings[:1], f"depth to top{length}")
    columns += (
        f"{'90 % interval' if sure else 'its band'}{length}",
        *([f"diameter, 90 %{length}"] if sure else []),
        *([f"ensemble: depth, ⌀{length}, R"] if refitted else []),
        f"thickness{length}",
        *headings[1:],
        f"FWHM{length}",
        f"area{area}",
        "contrast",
        f"ΔT{temperature}",
    )
    columns += (f"SNR (dB), at t{time}",)
    rows: list[tuple[str, ...]] = []
    quiet: list[int] = []
    for found, true in findings.pairs:
        if found is not None:
            lone = ", not in the truth" if findings.truth is not None and true is None else ""
            rim = ", at the rim of what was inspected" if findings.evidence[found.label].at_rim else ""
            rows.append(_row(f"{found.label}{lone}{rim}", found, findings, weighed, sure, refitted))
        if true is not None and findings.truth is not None:
            quiet.append(len(rows))
            name = "truth" if found is not None else "truth, missed"
            rows.append(_row(name, true, findings.truth, weighed, sure, refitted, known=True))
    return Table(columns, rows, quiet, one_line=True)


def _row(
    name: str, defect: Indication, findings: Findings, weighed: int, sure: bool, refitted: bool, *, known: bool = False
) -> tuple[str, ...]:
    """The cells of a row.

    Args:
        name: in the first column.
        defect: of the row.
        findings: that it is one of.
        weighed: how many columns of ``WEIGHED`` there are.
        sure: whether there is a column for the interval of the diameter.
        refitted: whether there is one for the spread over an ensemble.
        known: of the truth, which has neither a band nor a signal nor evidence.
    """
    spacing, evidence = findings.rec.grid.spacing, findings.evidence[defect.label]
    deep, wide = decimals(spacing[0]), decimals(min(spacing[1:]))
    _, y, x = defect.centre
    back = ", to the back face" if defect.reaches_back else ""
    widths = (evidence.fwhm_long, evidence.fwhm_short)
    return (
        name,
        f"{x:.{wide}f}, {y:.{wide}f}",
        f"{evidence.row}, {evidence.column}",
        *_weighed(defect, evidence)[:weighed][:1],
        f"{defect.depth_to_top:.{deep}f}",
        NOTHING if known else f"{evidence.depth_low:.{deep}f} to {evidence.depth_high:.{deep}f}",
        *([_interval(evidence.diameter_low, evidence.diameter_high, wide)] if sure else []),
        *([NOTHING if known else _spread(findings.rec, defect.label, deep, wide)] if refitted else []),
        f"{_known(defect.thickness, deep)}{back}",
        *_weighed(defect, evidence)[1:weighed],
        NOTHING if all(map(math.isnan, widths)) else " × ".join(_known(w, wide) for w in widths),
        f"{defect.area:.3g}",
        f"{100 * defect.contrast:.0f} %",
        NOTHING if known or math.isnan(evidence.thermal_contrast) else f"{evidence.thermal_contrast:+.2g}",
        NOTHING if known or evidence.frame < 0 else f"{_decibels(evidence.snr)}, {evidence.time:.3g}",
    )


def _weighed_columns(findings: Findings) -> int:
    """How many of ``WEIGHED`` the table has: none without evidence, the first alone where no resistance is known, two
    where that has no unit.
    """
    known = [(d.evidence, d.resistance, d.gap_air) for d in findings.defects if math.isfinite(d.evidence)]
    return next((n for n in (3, 2, 1) if any(math.isfinite(row[n - 1]) for row in known)), 0)


def _interval(low: float, high: float, digits: int) -> str:
    return NOTHING if math.isnan(low) else f"{low:.{digits}f} to {high:.{digits}f}"


def _spread(rec: Reconstruction, label: int, deep: int, wide: int) -> str:
    """``"± 0.02, ± 0.3, ± 8 %"``: depth, diameter and resistance of an indication over the refits."""
    if rec.ensemble is None or label > rec.ensemble.depth.shape[1]:
        return NOTHING
    one = rec.ensemble.of(label)
    words = [NOTHING if math.isnan(v) else f"± {v:.{n}f}" for v, n in ((one.depth, deep), (one.diameter, wide))]
    return ", ".join([*words, NOTHING if math.isnan(one.resistance) else f"± {100 * one.resistance:.0f} %"])


def _weighed(defect: Indication, evidence: IndicationEvidence) -> tuple[str, ...]:
    """The cells of ``WEIGHED``."""
    values = (defect.evidence, defect.resistance, 1e6 * defect.gap_air, 1e6 * defect.gap_polymer)
    score, resistance, air, polymer = (f"{value:.3g}" if math.isfinite(value) else NOTHING for value in values)
    if math.isfinite(evidence.resistance_low):
        resistance += f" ({evidence.resistance_low:.2g} to {evidence.resistance_high:.2g})"
    return score, resistance, NOTHING if air == polymer == NOTHING else f"{air}, {polymer}"


def _known(value: float, digits: int) -> str:
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


def _decibels(snr: float) -> str:
    return f"{snr:.0f}" if math.isfinite(snr) else ("∞" if snr > 0 else "−∞")


def _inside(shape: tuple[int, ...]) -> np.ndarray:
    """1 in an image, down to 0 towards its sides, over a tenth of it."""
    rows, columns = (np.minimum(np.arange(1, n + 1), np.arange(n, 0, -1)) / (0.1 * n + 1) for n in shape)
    return np.minimum(np.minimum(rows[:, None], columns), 1.0)


def _nearest(seen: np.ndarray, y: int, x: int) -> tuple[int, int]:
    """The pixel that counts and is nearest to (y, x)."""
    if not seen.any():
        return min(y, seen.shape[0] - 1), min(x, seen.shape[1] - 1)
    places = np.argwhere(seen)
    v, u = places[np.square(places - [y, x]).sum(axis=1).argmin()]
    return int(v), int(u)
