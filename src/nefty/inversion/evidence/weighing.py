"""How clearly the frames of one recording show a region: the scores of a bank of templates, and what judges them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi

import numpy as np
from scipy import ndimage

from nefty.inversion.evidence.bank import bank
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.matched_filter import MatchedFilter
from nefty.inversion.evidence.null import threshold
from nefty.inversion.evidence.search import Looks, look, zones
from nefty.inversion.evidence.settings import EvidenceSettings
from nefty.physics.slab.weak_sheet import WeakSheet
from nefty.result.frame_evidence import CLEAR, FrameEvidence, RegionEvidence

ROUNDS = 3  # of leaving out what the frames do not need
NEARBY = 1.0  # thicknesses around a place over which the errors of the model are alike
OUTLINE = 0.5  # pixels to which the place of an outline is known

Explain = Callable[[Sequence[int]], np.ndarray]


@dataclass(frozen=True, eq=False)
class SoundPart:
    """What evidence is weighed against.

    Args:
        contrast: of the recording.
        slab: the sound part.
        along: diffusivity along y and x over that through the thickness.
        shallowest: depth above which nothing is said.
    """

    contrast: Contrast
    slab: WeakSheet
    along: tuple[float, float]
    shallowest: float


class Weighing:
    """The scores of regions of one recording.

    Args:
        part: what it is weighed against.
        settings: how.
        sound: pixels (y, x) that tell how much sound places scatter; all if not given.
        filters: of the part, if they are there already; they do not depend on the values of its contrast.
    """

    def __init__(
        self,
        part: SoundPart,
        settings: EvidenceSettings,
        sound: np.ndarray | None = None,
        filters: MatchedFilter | None = None,
    ) -> None:
        slab, contrast = part.slab, part.contrast
        if filters is None:
            along = (slab.alpha * part.along[0], slab.alpha * part.along[1])
            filters = MatchedFilter(contrast, bank(contrast, slab, along, part.shallowest, settings))
        self._filters, templates = filters, filters.templates
        self._raw, self._settings = self._filters(contrast.values), settings
        self._pixel = contrast.pixel[0] * contrast.pixel[1]
        self._nearby = tuple(NEARBY * slab.thickness / width for width in contrast.pixel)
        self._zones = zones(contrast, settings.edge * slab.thickness)
        self.looks: Looks = look(self._raw, contrast, templates, self._zones, sound)
        self.threshold = threshold(settings.false_calls)

    def again(self, part: SoundPart, sound: np.ndarray | None) -> Weighing:
        """The same part with other values of its contrast."""
        return Weighing(part, self._settings, sound, self._filters)

    def after(self, explained: np.ndarray) -> Judge:
        """What judges regions, once all of them are explained.

        Args:
            explained: ln(T/T_sound) of all regions, (t, y, x).
        """
        doubt = self._settings.doubt
        return Judge(self._raw, self._filters, explained, self._zones, self._nearby, doubt, self.threshold)

    def expected(self, shown: np.ndarray, place: tuple[int, int]) -> np.ndarray:
        """Scores that a defect under one place is expected to have, if it were under each place, (template, y, x).

        Args:
            shown: ln(T/T_sound) of the defect, (t, y, x).
            place: row and column of its middle.
        """
        row, column = place
        there, known = self._filters(shown)[:, row, column], self._filters.information
        share = known / np.maximum(known[:, row, column], np.finfo(float).tiny)[:, None, None]
        return there[:, None, None] * share / self.looks.scatter.spread

    def strength(self, which: int, mask: np.ndarray) -> float:
        """R/(thickness/alpha) of a template's disc where it stands out most in a mask (y, x), to first order."""
        known = self._filters.information[which]
        strength = np.divide(self._raw[which], known, out=np.zeros_like(known), where=known > 0)
        pixels = pi / 4 * self.looks.templates[which].diameter ** 2 / self._pixel
        return max(float(strength[mask].max(initial=0.0) / pixels), 0.0)

    def evidence(
        self, labels: np.ndarray, regions: list[RegionEvidence], left_over: np.ndarray | None = None
    ) -> FrameEvidence:
        """As a result keeps it.

        Args:
            labels: numbers of the regions.
            regions: in the order of their numbers.
            left_over: scores of what none of them explains, (template, y, x); all if not given.
        """
        coldest = self.looks.coldest if left_over is None else float(-left_over.min())
        rate = self._settings.false_calls
        return FrameEvidence(labels, tuple(regions), self.threshold, rate, self.looks.map, coldest)


class Judge:
    """How much each region adds to what all others explain.

    The scale is what stays unexplained when all regions are: camera noise and model error as this very recording shows
    them, at all places of the frame, and around the region itself where that is more: beside a strong defect the model
    errs most. It is at least so large that the coldest place does not stand out: insulation makes no place colder, so
    what is as cold as an indication would be warm is the error of the model, and that is as likely to be warm
    elsewhere.

    Args:
        raw: what the templates show of the frames, (template, y, x).
        filters: of the bank.
        explained: ln(T/T_sound) of all regions, (t, y, x).
        zones: of pixels (y, x) whose scatter is alike.
        nearby: pixels along y and x over which the errors of the model are alike.
        doubt: share of what other regions explain that may be wrong.
        threshold: a score from which on a region stands out.
    """

    def __init__(
        self,
        raw: np.ndarray,
        filters: MatchedFilter,
        explained: np.ndarray,
        zones: list[np.ndarray],
        nearby: tuple[float, ...],
        doubt: float,
        threshold: float,
    ) -> None:
        self._raw, self._filters, self._doubt = raw, filters, doubt
        self._seen = filters.information > 0
        self._left = raw - filters(explained)
        self._middle, self._spread = np.zeros_like(raw), np.ones_like(raw)
        for which, left in enumerate(self._left):
            for zone in zones:
                own = zone & self._seen[which]
                if own.any():
                    middle = float(np.median(left[own]))
                    self._middle[which][zone] = middle
                    self._spread[which][zone] = max(float(np.sqrt(np.mean((left[own] - middle) ** 2))), 1.0)
        about = raw - self._left
        cold = np.where(self._seen, (self._middle - self._left) / np.hypot(self._spread, _doubted(about, doubt)), 0.0)
        self._error = np.maximum(cold.max(axis=(1, 2), keepdims=True) / threshold, 1.0)
        self._spread = np.maximum(self._spread, _around(self._left - self._middle, self._seen, nearby))

    def __call__(self, mask: np.ndarray, others: np.ndarray) -> tuple[float, bool]:
        """Of a region: what a template shows of it over what stays unexplained, and whether more does without it.

        What the others explain is known to a share only, so near a strong one a weak one has to stand out more.

        Args:
            mask: its pixels, (y, x).
            others: ln(T/T_sound) of all but this one, (t, y, x).
        """
        about = self._filters(others)
        without = self._raw - about
        score = (without - self._middle) / (np.hypot(self._spread, _doubted(about, self._doubt)) * self._error)
        more = float((without[self._seen] ** 2).sum()) > float((self._left[self._seen] ** 2).sum())
        return float(np.where(self._seen, score, 0.0)[:, mask].max(initial=0.0)), more

    def left_over(self, looks: Looks) -> np.ndarray:
        """Scores of what no region explains by the scatter of sound places, (template, y, x); at most what was seen."""
        about, scatter = self._raw - self._left, looks.scatter
        score = (self._left - scatter.middle) / np.hypot(scatter.spread, _doubted(about, self._doubt))
        within = np.clip(score, np.minimum(looks.scores, 0.0), np.maximum(looks.scores, 0.0))
        return np.where(self._seen, within, 0.0)


def _doubted(about: np.ndarray, share: float) -> np.ndarray:
    """By how much what regions explain may be wrong, (template, y, x): a share of it, and what a shifted outline makes.

    Args:
        about: what the templates show of it, (template, y, x).
        share: of it.
    """
    along_y, along_x = np.gradient(about, axis=(1, 2))
    return np.sqrt((share * about) ** 2 + OUTLINE**2 * (along_y**2 + along_x**2))


def _around(values: np.ndarray, seen: np.ndarray, nearby: tuple[float, ...]) -> np.ndarray:
    """Root mean square of values (template, y, x) around each place, of those that are seen."""
    widths = (0.0, *nearby)
    square = ndimage.gaussian_filter(np.where(seen, values**2, 0.0), widths, mode="constant")
    share = ndimage.gaussian_filter(seen.astype(np.float64), widths, mode="constant")
    return np.sqrt(np.divide(square, share, out=np.zeros_like(square), where=seen & (share > 0)))


def judged(weighing: Weighing, masks: Sequence[np.ndarray], explain: Explain) -> tuple[list[float], Judge]:
    """The score of each region, and what judges when all of them are explained.

    First all regions are explained. One without which less stays unexplained is not needed: it is left out, since it
    spoils the scale of the others, and those are judged again. A region that is not beyond doubt is judged once more
    with only those explained that are: an error of the model that was fitted as several weak regions stays an error in
    the scale.

    Args:
        weighing: of the recording.
        masks: of the regions, (y, x).
        explain: ln(T/T_sound), (t, y, x), of the regions with those numbers only.
    """
    scores = np.zeros(len(masks))
    kept = list(range(len(masks)))
    everything = judge = weighing.after(explain(kept))
    for _ in range(ROUNDS):
        needed = []
        for i in kept:
            scores[i], is_needed = judge(masks[i], explain(_without(kept, i)))
            needed += [i] if is_needed else []
        if len(needed) == len(kept):
            break
        kept = needed
        judge = weighing.after(explain(kept))
    called = [i for i in kept if scores[i] >= weighing.threshold]
    clear = [i for i in called if scores[i] >= CLEAR * weighing.threshold]
    for i in called:
        if i not in clear and len(called) > len(clear) + 1:
            judge = weighing.after(explain(sorted([*clear, i])))
            scores[i] = min(scores[i], judge(masks[i], explain(_without(kept, i)))[0])
    return scores.tolist(), everything


def _without(kept: Sequence[int], which: int) -> list[int]:
    return [i for i in kept if i != which]
