"""Simulated recordings of a suite: specimens whose volume is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.core.grid import Grid
from nefty.metrics.front_view import front_view
from nefty.metrics.judged import Judged

if TYPE_CHECKING:
    from nefty.data.sequence import Sequence
    from nefty.result.reconstruction import Reconstruction
    from nefty.synth.specimen import Defect, Specimen

SLAB = (1.0, 10.0, 10.0)  # edge lengths (z, y, x) of the paper's slab
SPAN = 5.0  # time of its last frame


@dataclass(frozen=True)
class Simulated:
    """How specimens are drawn and recorded by the independent simulator.

    Args:
        engine: simulator.
        noise: standard deviation of camera noise, as a share of the peak.
        gain: standard deviation of the pixels' gains.
        safety: of the explicit time step; the engine's if not given.
        shape: cells (z, y, x).
        frames: number of frames, equally spaced, the last at t = 5.
        defects: how many, in place of a drawn number.
        ranges: of what is drawn, in place of those of ``nefty.synth.specimen.Ranges``.
    """

    engine: str = "explicit"
    noise: float = 0.0
    gain: float = 0.0
    safety: float | None = None
    shape: tuple[int, int, int] = (16, 64, 64)
    frames: int = 100
    defects: int | None = None
    ranges: Mapping[str, Any] = field(default_factory=dict)

    def specimen(self, kind: str, seed: int) -> Specimen:
        """The specimen of a seed."""
        from nefty.synth.specimen import Ranges, draw_specimen

        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in self.ranges.items()}
        return draw_specimen(seed, kind, size=SLAB, defects=self.defects, ranges=Ranges(**values))

    def sequence(self, kind: str, seed: int, *, clean: bool = False) -> Sequence:
        """Its recording; ``clean`` without noise and with equal gains."""
        from nefty.synth.camera import Camera
        from nefty.synth.recording import simulate

        return simulate(
            self.specimen(kind, seed),
            camera=Camera() if clean else Camera(noise=self.noise, gain=self.gain),
            seed=seed,
            engine=self.engine,
            safety=self.safety,
            grid=Grid(self.shape, SLAB),
            times=SPAN / self.frames * np.arange(1, self.frames + 1),
        )

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Simulated:
        """From the plain values of ``dataclasses.asdict``."""
        return Simulated(**{**values, "shape": tuple(values["shape"])})

    def given(self, kind: str, seed: int, takes: str) -> Sequence:
        """What a method is given, whatever it takes."""
        return self.sequence(kind, seed)

    def judge(self, found: Reconstruction, given: Sequence, kind: str, seed: int) -> Judged:
        """Against the true volume."""
        from nefty.bench.parts.score import spots_of, trial_facts
        from nefty.bench.parts.specimen_truth import truth_of_specimen
        from nefty.metrics.pairing import paired_with_truth
        from nefty.metrics.score import evaluate
        from nefty.metrics.spectrum import radial_spectrum
        from nefty.metrics.surface import frames_score, surface_score

        assert given.truth is not None
        specimen = self.specimen(kind, seed)
        clean = self.sequence(kind, seed, clean=True) if self.noise > 0 or self.gain > 0 else given
        again = surface_score(found.alpha, given, clean.frames, refine=1)
        surface = frames_score(found.fitted, clean.frames, given.mask) if found.own_surface else again
        paired = paired_with_truth(found)
        pairs = [(f, t) for f, t in paired if f is not None and t is not None]
        spectra = [radial_spectrum(volume, given.truth, found.grid.size) for volume in (found.alpha, given.truth)]
        told = truth_of_specimen(specimen, Grid(self.shape, SLAB))
        marks = {**evaluate(found, given.truth).as_dict(), **_own_marks(found, given.truth)}
        return Judged(
            scores={
                **{k: v for k, v in marks.items() if _is_mark(v)},
                "surface_mse": surface.mse,
                "surface_psnr": surface.psnr if math.isfinite(surface.psnr) else None,
                "simulated_psnr": again.psnr if math.isfinite(again.psnr) else None,
            },
            facts={
                "defects": len(specimen.defects),
                "strata": len(specimen.bulk),
                "defects_found": len(pairs),
                "false_indications": sum(t is None for _, t in paired),
                "top_errors": [abs(f.depth_to_top - t.depth_to_top) / found.grid.spacing[0] for f, t in pairs],
                "geometry_errors": [
                    abs(f.depth_to_top - _nearest(specimen, t.centre).top) / found.grid.spacing[0] for f, t in pairs
                ],
                "bulk_error": None if found.bulk is None else found.bulk / specimen.bulk[0] - 1,
                "trial": trial_facts(spots_of(found, given.facts.window, self.shape[1:]), told),
            },
            spectrum={"frequency": spectra[0].frequencies, "found": spectra[0].power, "true": spectra[1].power},
        )


def _nearest(specimen: Specimen, centre: tuple[float, float, float]) -> Defect:
    """The defect whose axis is nearest to a centre (z, y, x)."""
    return min(specimen.defects, key=lambda d: math.hypot(d.centre[1] - centre[1], d.centre[2] - centre[2]))


def _own_marks(found: Reconstruction, truth: np.ndarray) -> dict[str, Any]:
    """Marks of a method's own mask and depth map, instead of those of the volume that was lifted from it."""
    from nefty.metrics.projection import Projection, projection_score
    from nefty.metrics.volume import depth_to_top

    if found.own_view is None:
        return {}
    true = Projection.of_depth(depth_to_top(truth, found.grid.size[0]))
    marks = projection_score(front_view(found), true).as_dict()
    return {"mask_iou": marks.pop("iou"), "mask_dice": marks.pop("dice"), **marks}


def _is_mark(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isfinite(value))
