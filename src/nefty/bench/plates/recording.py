"""One recording of a plate in the published PVC layout, as a suite gives it to its methods and judges them on it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.plates.adaptation import Adaptation, adapted
from nefty.bench.plates.score import hole_facts, holes_of, plate_scores, resized
from nefty.core.errors import InputError
from nefty.data.pvc_layout import BAD_COLUMNS, PvcFile, PvcFolder
from nefty.metrics.front_view import PROJECTIONS, front_view
from nefty.metrics.judged import Judged
from nefty.metrics.projection import Projection
from nefty.physics.boundary import Boundary
from nefty.physics.materials import material
from nefty.physics.pulses import TopHatPulse

if TYPE_CHECKING:
    from nefty.data.sequence import Sequence
    from nefty.result.reconstruction import Reconstruction


@dataclass(frozen=True)
class PlateRecording:
    """A recording in a file, and how it is prepared; see ``nefty.bench.plates.selection.Plates`` for the settings.

    Args:
        root: the folder.
        name: such as ``"R_001"``.
        fingerprint: of the files.
        labels: ``"manual"`` or ``"automated"``.
        pixel: edge length in m, or ``"height"``.
        fps: frames per second, if not the layout's.
        region: rows and columns, ``"auto"`` or ``"off"``.
        bin: pixels along each side that become one.
        frames: number of means over time.
        early: seconds after the flash in which no hole shows, for the gains.
        flash: its duration in s.
        material: name.
        h: losses of front and back in W/m2K, where they begin.
        adaptation: settings of ``Adaptation``.
    """

    root: str
    name: str
    fingerprint: str
    labels: str = "manual"
    pixel: float | str = "height"
    fps: float | None = None
    region: str | tuple[int, ...] = "auto"
    bin: int = 2
    frames: int = 60
    early: float = 0.3
    flash: float = 5e-3
    material: str = "pvc"
    h: tuple[float, ...] = (10.0, 10.0)
    adaptation: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> PlateRecording:
        """From the plain values of ``dataclasses.asdict``."""
        region = values["region"] if isinstance(values["region"], str) else tuple(values["region"])
        return PlateRecording(**{**values, "region": region, "h": tuple(values["h"])})

    def given(self, kind: str, seed: int, takes: str) -> Sequence:
        """What a method is given: frames after the flash, cut, binned, averaged; see ``Method.takes``."""
        return _given(json.dumps(dataclasses.asdict(self), sort_keys=True), takes)

    def prepared(self, takes: str) -> Sequence:
        """The same, made anew."""
        from nefty.data.preparation.choice import preparation
        from nefty.data.preparation.prepare import prepare

        folder, file = self._open()
        choice = preparation(
            roi=self.region,
            bin=self.bin,
            frames="off" if takes == "frames" else self.frames,
            gain="joint" if takes == "means" else "early",
            early=self.early,
        )
        prepared = prepare(folder.load(file, pixel=self.pixel, fps=self.fps), choice)
        part = material(self.material)
        front, back = (part.loss(h) for h in self.h)
        sequence = dataclasses.replace(
            prepared.sequence,
            excitation=TopHatPulse(duration=self.flash),
            boundary=Boundary(lateral="adiabatic", front="robin", back="robin", h_front=front, h_back=back),
            facts=prepared.sequence.facts.replaced(material=part),
        )
        if takes == "unitless":
            sequence, _ = adapted(sequence, Adaptation.model_validate(dict(self.adaptation)), part)
        return dataclasses.replace(sequence, facts=sequence.facts.replaced(defects=None))

    def judge(self, found: Reconstruction, given: Sequence, kind: str, seed: int) -> Judged:
        """Against the label, on its own pixels."""
        from nefty.data.pvc_labels import read_label

        folder, file = self._open()
        window, length, (_, rows, columns) = given.facts.window, given.facts.unit_length, given.shape
        top, left = window.top, window.left
        bottom, right = top + window.bin * rows, left + window.bin * columns
        depth = read_label(file.label)[:, BAD_COLUMNS:][top:bottom, left:right]
        assert given.size is not None
        pixel = given.size[1] * length / depth.shape[0]
        listed = folder.holes(file)
        moved = [{**h, "centre": (h["centre"][0] - top, h["centre"][1] - BAD_COLUMNS - left)} for h in listed or ()]
        holes = holes_of(depth, pixel, moved)
        views = {
            name: _on_label(front_view(found, name, finer=window.bin), length, depth.shape) for name in PROJECTIONS
        }
        ours = plate_scores(views["nefty"], depth, holes, pixel)
        paper = plate_scores(views["paper"], depth, holes, pixel)
        return Judged(
            scores={**ours, **{f"paper_{name}": value for name, value in paper.items()}},
            facts={
                "holes": hole_facts(views["nefty"], holes),
                "pixel": pixel,
                "notes": [note.text for note in given.facts.notes],
            },
            maps={
                "depth": views["nefty"].depth.astype(np.float32),
                "mask": views["nefty"].mask.astype(np.uint8),
                "true_depth": depth.astype(np.float32),
            },
        )

    def _open(self) -> tuple[PvcFolder, PvcFile]:
        folder = PvcFolder.open(self.root, self.labels)
        file = next((file for file in folder.files if file.name == self.name), None)
        if file is None:
            raise InputError(f"{self.name} is no longer in {self.root}, or has no label; put it back.")
        return folder, file


@lru_cache(maxsize=2)
def _given(recording: str, takes: str) -> Sequence:
    """The prepared recording; kept for the next methods, as reading and preparing takes longer than some of them."""
    return PlateRecording.from_dict(json.loads(recording)).prepared(takes)


def _on_label(view: Projection, length: float, shape: tuple[int, ...]) -> Projection:
    """A view on the pixels of the label, depths in m."""
    face = (shape[0], shape[1])
    return Projection(resized(view.mask, face), length * resized(view.depth, face))
