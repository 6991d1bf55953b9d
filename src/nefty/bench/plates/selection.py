"""Plates in files as the data of a suite: which recordings of a folder, and how they are prepared."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from nefty.bench.plates.adaptation import Adaptation
from nefty.bench.plates.recording import PlateRecording
from nefty.core.checks import one_of
from nefty.core.configuration import Part
from nefty.core.errors import InputError
from nefty.core.seeds import parse_seeds
from nefty.core.units import quantity
from nefty.data.pvc_layout import KINDS, PvcFile, PvcFolder
from nefty.physics.materials import material

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
LARGEST_PIXEL = 0.01  # m


def _metres(given: Any) -> Any:
    """``"0.4 mm"`` as metres; numbers are metres already, and refused where they cannot be meant so."""
    if isinstance(given, str):
        return given if given == "height" else quantity(given, "length", "pixel", above=0)
    if isinstance(given, (int, float)) and given >= LARGEST_PIXEL:
        raise ValueError(f'{given:g} m is no pixel of a plate of 0.1 m; write a unit, such as "{given:g} mm"')
    return given


class Plates(Part):
    """Recordings in the layout of the published PVC benchmark; see ``nefty.data.pvc_layout``.

    title: for tables. root: the folder; on the command line --root. labels: which of the two. split: "all", or a part
    of the usual one. kinds: of holes. numbers: only these NNN of the names, such as "1:5". most: at most so many
    recordings. pixel: its edge length, such as "0.39 mm"; "height" assumes that the 100 mm of the plate fill the height
    of the picture, unless generated.json says more. fps: frames per second, if not the layout's 10. region: rows and
    columns (y0, y1, x0, x1) of the plate, after the first column was dropped; "auto" finds what the flash warmed.
    bin: pixels along each side that become one. frames: means over time that are left for volumes. early: seconds after
    the flash in which no hole shows, by which gains are divided out. flash: its duration in s. material: of the plate.
    h: losses of front and back in W/m2K that a method in SI units begins with. adaptation: the paper's three.
    """

    title: str = "PVC plates"
    root: str = ""
    labels: Literal["manual", "automated"] = "manual"
    split: Literal["all", "train", "validation", "test"] = "all"
    kinds: tuple[Literal["rectangular", "round"], ...] = Field(default=("rectangular", "round"), min_length=1)
    numbers: str | None = None
    most: Count | None = None
    pixel: Annotated[Positive | Literal["height"], BeforeValidator(_metres)] = "height"
    fps: Positive | None = None
    region: Literal["auto", "off"] | tuple[int, int, int, int] = "auto"
    bin: Count = 2
    frames: Count = 60
    early: Positive = 0.3
    flash: Positive = 5e-3
    material: str = "pvc"
    h: tuple[Positive, Positive] = (10.0, 10.0)
    adaptation: Adaptation = Adaptation()

    def check(self) -> None:
        """Refuse what can be seen to be wrong before anything runs."""
        material(self.material)
        if self.numbers is not None:
            parse_seeds(self.numbers)
        if self.root:
            self.files()

    def files(self) -> list[PvcFile]:
        """The chosen recordings."""
        if not self.root:
            raise InputError(
                "the recordings of these plates are not shipped; give --root FOLDER, which holds data/R_001.mat and "
                "labels/manual_mask/R_001.png, and --generate 10 to write simulated ones there first (docs/pvc.md)."
            )
        folder = PvcFolder.open(self.root, self.labels)
        wanted = None if self.numbers is None else set(parse_seeds(self.numbers))
        found = [
            file
            for file in folder.split(self.split)
            if file.kind in self.kinds and (wanted is None or file.number in wanted)
        ][: self.most]
        if not found:
            raise InputError(
                f"{self.root} has {len(folder.files)} recordings, and none of them is of split={self.split!r}, "
                f"kinds={list(self.kinds)} and numbers={self.numbers!r}; choose less narrowly."
            )
        return found

    def specimens(self, numbers: str | None = None) -> list[tuple[str, int]]:
        """Kind and number of every recording, of some numbers only where they are given."""
        wanted = None if numbers is None else set(parse_seeds(numbers))
        return [(file.kind, file.number) for file in self.files() if wanted is None or file.number in wanted]

    def recording(self, kind: str, number: int) -> PlateRecording:
        """One of them, as a task holds it."""
        one_of("kind", kind, KINDS.values())
        file = next(file for file in self.files() if (file.kind, file.number) == (kind, number))
        shared = PlateRecording.__dataclass_fields__.keys() & type(self).model_fields.keys() - {"root", "adaptation"}
        return PlateRecording(
            root=self.root,
            name=file.name,
            fingerprint=file.fingerprint(),
            adaptation=self.adaptation.model_dump(mode="json"),
            **{name: getattr(self, name) for name in shared},
        )
