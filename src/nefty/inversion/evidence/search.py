"""Candidates: places of the frame where a template shows more than it does elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.data.noise import MAD_TO_SIGMA
from nefty.inversion.evidence.bank import Template
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.matched_filter import matched_filter

OUTLYING = 4.0  # standard scores from which on a place does not tell of the scatter
ROUNDS = 3  # of scatter and outlying places, each from the other
FEWEST_PLACES = 40  # pixels that tell a scatter
OWN = 0.5  # share of a candidate's score down to which the pixels around it are its own


@dataclass(frozen=True)
class Candidate:
    """A disc that may lie in the part; lengths in the recording's unit.

    Args:
        row: pixel of its centre.
        column: pixel of its centre.
        depth: of the template that fits best.
        diameter: of that template.
        strength: R/(thickness/alpha), to first order.
        score: how many standard deviations it stands out from the other places.
    """

    row: int
    column: int
    depth: float
    diameter: float
    strength: float
    score: float


@dataclass(frozen=True, eq=False)
class Scatter:
    """How much each template shows at sound places of this very recording.

    Args:
        middle: its median, (template, y, x).
        spread: its standard deviation, (template, y, x).
    """

    middle: np.ndarray
    spread: np.ndarray


@dataclass(frozen=True, eq=False)
class Looks:
    """How much every template stands out at every place.

    Args:
        scores: (template, y, x), standardised by the scatter over the frame.
        strengths: R/(thickness/alpha), (template, y, x).
        scatter: over the frame.
        templates: of the bank.
        pixel: its height and width.
    """

    scores: np.ndarray
    strengths: np.ndarray
    scatter: Scatter
    templates: list[Template]
    pixel: tuple[float, float]

    @property
    def map(self) -> np.ndarray:
        """The largest score at each pixel, (y, x)."""
        return self.scores.max(axis=0)

    @property
    def coldest(self) -> float:
        """The largest of the scores of the sign that no defect has, over all places and templates."""
        return float(-self.scores.min())

    def candidates(self, least: float) -> list[Candidate]:
        """Places that stand out by at least so much, the clearest first; pixels around each belong to it."""
        found, best = [], self.map.copy()
        while best.max() >= least:
            row, column = (int(i) for i in np.unravel_index(best.argmax(), best.shape))
            which, score = int(self.scores[:, row, column].argmax()), float(best[row, column])
            template = self.templates[which]
            found.append(
                Candidate(
                    row, column, template.depth, template.diameter, float(self.strengths[which, row, column]), score
                )
            )
            own, _ = ndimage.label(self.map >= OWN * score)
            best[np.asarray(own) == np.asarray(own)[row, column]] = -np.inf
            y, x = np.ogrid[: best.shape[0], : best.shape[1]]
            away = np.hypot((y - row) * self.pixel[0], (x - column) * self.pixel[1])
            best[away <= template.diameter / 2 + max(self.pixel)] = -np.inf
        return found


def look(contrast: Contrast, templates: list[Template], edge: float) -> Looks:
    """Look for every template at every place.

    Args:
        contrast: of the recording.
        templates: of the bank.
        edge: width of the strip along the frame's edge whose scatter is its own.
    """
    scores, strengths = matched_filter(contrast, templates)
    zones = _zones(contrast, edge)
    scatter = Scatter(*np.stack([_scatter(score, zones) for score in scores], axis=1))
    standard = np.where(contrast.counted, (scores - scatter.middle) / scatter.spread, 0.0)
    return Looks(standard, strengths, scatter, templates, contrast.pixel)


def _zones(contrast: Contrast, edge: float) -> list[np.ndarray]:
    """The inside of the frame, and the strip along its edge where both are large enough."""
    inside = np.pad(contrast.counted, 1)
    distance = np.asarray(ndimage.distance_transform_edt(inside, sampling=contrast.pixel))[1:-1, 1:-1]
    strip = contrast.counted & (distance <= edge)
    middle = contrast.counted & ~strip
    if min(strip.sum(), middle.sum()) < FEWEST_PLACES:
        return [contrast.counted]
    return [middle, strip]


def _scatter(score: np.ndarray, zones: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Median and standard deviation of a template's raw scores at sound places, each (y, x), alike within a zone."""
    middles, spreads = np.zeros_like(score), np.ones_like(score)
    for zone in zones:
        kept, middle, spread = score[zone], 0.0, 1.0
        for _ in range(ROUNDS):
            middle = float(np.median(kept))
            spread = max(MAD_TO_SIGMA * float(np.median(np.abs(kept - middle))), 1.0)
            inside = score[zone & (np.abs(score - middle) < OUTLYING * spread)]
            kept = inside if inside.size >= FEWEST_PLACES else kept
        middles[zone], spreads[zone] = middle, spread
    return middles, spreads
