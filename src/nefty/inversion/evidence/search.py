"""Where a template shows more than it does at other places of the same recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.data.noise import MAD_TO_SIGMA
from nefty.inversion.evidence.bank import Template
from nefty.inversion.evidence.contrast import Contrast

OUTLYING = 4.0  # standard scores from which on a place does not tell of the scatter
ROUNDS = 3  # of scatter and outlying places, each from the other
FEWEST_PLACES = 40  # pixels that tell a scatter
WIDER = 4.0  # see ``_limited``
NARROW = 4  # one in so many templates is a narrow one


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
        scatter: over the frame.
        templates: of the bank.
    """

    scores: np.ndarray
    scatter: Scatter
    templates: list[Template]

    @property
    def map(self) -> np.ndarray:
        """The largest score at each pixel, (y, x)."""
        return self.scores.max(axis=0)

    @property
    def depth(self) -> np.ndarray:
        """Depth of the template that scores most at each pixel, (y, x)."""
        return np.array([t.depth for t in self.templates])[self.scores.argmax(axis=0)]

    @property
    def coldest(self) -> float:
        """The largest of the scores of the sign that no defect has, over all places and templates."""
        return float(-self.scores.min())


def look(
    raw: np.ndarray,
    contrast: Contrast,
    templates: list[Template],
    zones: list[np.ndarray],
    sound: np.ndarray | None = None,
) -> Looks:
    """Standardise what every template shows at every place.

    Args:
        raw: scores of the templates, (template, y, x); 0 where a place is not looked at.
        contrast: of the recording.
        templates: of the bank.
        zones: of pixels (y, x) whose scatter is alike.
        sound: pixels (y, x) that tell the scatter; all if not given.
    """
    trusted = np.ones(contrast.counted.shape, dtype=bool) if sound is None else sound
    frame = min(n * d for n, d in zip(contrast.counted.shape, contrast.pixel, strict=True))
    spans = np.array([2 * t.reach / frame for t in templates])
    scatter = _limited(Scatter(*np.stack([_scatter(score, zones, trusted) for score in raw], axis=1)), spans)
    standard = np.where(raw != 0, (raw - scatter.middle) / scatter.spread, 0.0)
    return Looks(standard, scatter, templates)


def _limited(scatter: Scatter, spans: np.ndarray) -> Scatter:
    """That of wide templates, limited by that of narrow ones.

    A frame has only a few places for a wide template, and one large defect takes most of them: it would be its own
    scatter. Of narrow ones there are hundreds. On sound parts of the test bed the scatter of 99 in 100 templates is
    below 1 + (WIDER * span)^2 times that of the narrow ones.

    Args:
        scatter: as all places show it.
        spans: over which each template is felt, in sides of the frame, (template,).
    """
    most = 1 + (WIDER * spans) ** 2
    narrow = np.argsort(spans)[: max(len(spans) // NARROW, 1)]
    typical = np.median(scatter.spread[narrow] / most[narrow, None, None], axis=0)
    spread = np.minimum(scatter.spread, np.maximum(typical, 1.0) * most[:, None, None])
    return Scatter(np.clip(scatter.middle, -spread, spread), spread)


def zones(contrast: Contrast, edge: float) -> list[np.ndarray]:
    """The inside of the frame, and the strip along its edge, so wide, where both are large enough."""
    inside = np.pad(contrast.counted, 1)
    distance = np.asarray(ndimage.distance_transform_edt(inside, sampling=contrast.pixel))[1:-1, 1:-1]
    strip = contrast.counted & (distance <= edge)
    middle = contrast.counted & ~strip
    if min(strip.sum(), middle.sum()) < FEWEST_PLACES:
        return [contrast.counted]
    return [middle, strip]


def _scatter(score: np.ndarray, zones: list[np.ndarray], trusted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median and standard deviation of a template's raw scores at sound places, each (y, x), alike within a zone."""
    middles, spreads = np.zeros_like(score), np.ones_like(score)
    for zone in zones:
        telling = zone & trusted if (zone & trusted).sum() >= FEWEST_PLACES else zone
        kept, middle, spread = score[telling], 0.0, 1.0
        for _ in range(ROUNDS):
            middle = float(np.median(kept))
            spread = max(MAD_TO_SIGMA * float(np.median(np.abs(kept - middle))), 1.0)
            inside = score[telling & (np.abs(score - middle) < OUTLYING * spread)]
            kept = inside if inside.size >= FEWEST_PLACES else kept
        middles[zone], spreads[zone] = middle, spread
    return middles, spreads
