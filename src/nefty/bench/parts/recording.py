"""One part of the test bed, as a suite gives it to its methods and judges them on it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.parts.score import LEVELS, spots_of, spots_of_map, trial_facts
from nefty.classical.contrast import half_maximum
from nefty.core.code_version import code_version_of
from nefty.metrics.judged import Judged
from nefty.synth.parts.recorded import FRAMES, PartRecording

if TYPE_CHECKING:
    from nefty.data.sequence import Sequence
    from nefty.result.reconstruction import Reconstruction

#: Kinds of parts: as drawn, a third of them sound; all sound; none sound.
KINDS: dict[str, bool | None] = {"drawn": None, "sound": True, "flawed": False}


@dataclass(frozen=True)
class TrialPart:
    """How parts are drawn, and where their recordings are kept.

    Args:
        pixels: along each side of the frame; drawn if not given.
        root: folder in which every part is simulated once; a temporary one if empty.
    """

    pixels: int | None = None
    root: str = ""

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> TrialPart:
        """From the plain values of ``dataclasses.asdict``."""
        return TrialPart(**values)

    def folder(self, kind: str, seed: int) -> Path:
        """Where the recording of a part lies; simulated now if it is not there."""
        from nefty.synth.parts.draw import draw_part
        from nefty.synth.parts.recorded import record_part

        root = Path(self.root) if self.root else Path(tempfile.gettempdir()) / "nefty-parts"
        made_by = code_version_of("nefty.synth.parts")[:8]
        folder = root / made_by / f"{kind}-{seed:04d}-{self.pixels or 'any'}"
        if not PartRecording.is_in(folder):
            record_part(draw_part(seed, sound=KINDS[kind], pixels=self.pixels), seed).save(folder)
        return folder

    def given(self, kind: str, seed: int, takes: str) -> Sequence:
        """What ``nefty reconstruct`` and ``nefty classical`` begin with: the file, and what the user says of it.

        Methods that take all frames get them, divided by the gains that the early ones show (``--gain early``), without
        which they see uneven heating; others get what ``nefty.load`` prepares.
        """
        return _given(str(self.folder(kind, seed)), takes == "frames")

    def judge(self, found: Reconstruction, given: Sequence, kind: str, seed: int) -> Judged:
        """Against the truth, by the rule of ``score``; classical methods also at other thresholds."""
        truth = PartRecording.load(self.folder(kind, seed)).truth
        window, shape = given.facts.window, truth.labels.shape
        spots, view = spots_of(found, window, shape), found.own_view
        scan = {} if view is None or view.clear is None else _scanned(view.clear, view.everywhere, given, truth)
        facts = trial_facts(spots, truth)
        mask = np.any([spot.mask for spot in spots], axis=0) if spots else np.zeros(shape, dtype=bool)
        return Judged(
            scores={"iou": facts["iou"], "false": float(facts["false"])},
            facts={**facts, "scan": scan},
            maps={"mask": mask.astype(np.uint8), "true_depth": truth.depth.astype(np.float32)},
        )


def _scanned(clear: np.ndarray, depth: np.ndarray | None, given: Sequence, truth: Any) -> dict[str, Any]:
    """The marks at every threshold of ``LEVELS``, by its text."""
    deep = np.full(clear.shape, np.nan) if depth is None else depth
    window, shape = given.facts.window, truth.labels.shape
    return {
        f"{level:g}": trial_facts(spots_of_map(half_maximum(clear, level), deep, window, shape), truth)
        for level in LEVELS
    }


@lru_cache(maxsize=2)
def _given(folder: str, whole: bool) -> Sequence:
    """The recording as it is taken in; kept for the next methods."""
    from nefty.data.intake.intake import take_in
    from nefty.data.intake.known import Known

    known = Known.of(PartRecording.load(folder).known)
    file = Path(folder) / FRAMES
    if whole:
        taken = take_in(file, known, {"frames": "off", "bin": "off", "gain": "early"}, only_cameras=True)
        return taken.complete(only=("fps", "flash_frame", "ambient"))
    return take_in(file, known).complete()
