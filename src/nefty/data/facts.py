"""What is known of a recording besides its frames: typed facts, which travel with it into the reconstruction.

| fact | holds |
|---|---|
| ``units`` | the words for lengths, times, temperatures |
| ``material`` | what the part is made of, and who said so |
| ``camera`` | camera, lens, frame rate |
| ``scene`` | emissivity, reflected temperature, air and distance |
| ``heating`` | the kind of flash or pulse, for the report of a result |
| ``steps``, ``window`` | what was done to the frames; which pixels of the file they are |
| ``defects`` | what is known to be in the part |
| ``calibration``, ``gain`` | what was found from the recording itself |
| ``origin`` | file or simulation |
| ``notes`` | in words, what was done and what was taken for granted |
| ``extra`` | plain values that are only shown |

Nothing reads ``extra`` to decide anything. ``nefty.data.facts_file`` writes facts to files and reads them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from nefty.core.checks import count, number
from nefty.data.radiometry import Scene
from nefty.data.record.record import InspectionRecord
from nefty.physics.materials import Material

METRE = "m"
#: Metres of a length of 1, by the word for the unit.
IN_METRES = {METRE: 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6}


@dataclass(frozen=True)
class Units:
    """Words for the units of a recording's numbers; empty where they are not known or the numbers have none.

    Args:
        length: of sizes and depths, ``"m"`` for a recording in SI.
        time: of the frames.
        temperature: of the values, ``"K"``, ``"C"`` or ``"counts"``.
        diffusivity: if it is not the square of the length over the time.
    """

    length: str = ""
    time: str = ""
    temperature: str = ""
    diffusivity: str = ""

    @property
    def in_metres(self) -> bool:
        """Whether lengths are metres: then the recording is of a real part, or like one."""
        return self.length == METRE

    @property
    def metres(self) -> float | None:
        """How many metres a length of 1 is; ``None`` if that is not known."""
        return IN_METRES.get(self.length)


@dataclass(frozen=True)
class CameraFacts:
    """The camera, as its file names it.

    Args:
        model: its name.
        lens: the lens.
        integration_time: of a frame, in s.
        frame_rate: in Hz, before frames were averaged.
        serial: number of the camera.
        recorded: when, by the camera's clock, as ``"2014-01-15 13:11:13"``.
    """

    model: str = ""
    lens: str = ""
    integration_time: float | None = None
    frame_rate: float | None = None
    serial: str = ""
    recorded: str = ""

    def words(self) -> str:
        """Camera and lens, such as ``"Jade, 50 mm"``; empty if neither is known."""
        return ", ".join(word for word in (self.model, self.lens) if word)


@dataclass(frozen=True)
class Heating:
    """How the part was heated, for people to read.

    Args:
        kind: name of the class, such as ``"TopHatPulse"``, or the file's own words.
        duration: in the unit of the times, of a pulse.
    """

    kind: str
    duration: float | None = None


class NoteKind(Enum):
    """What a note is about."""

    TIMES = "times"
    FLASH = "flash"
    AMBIENT = "ambient"
    VALUES = "values"
    CONVERSION = "conversion"
    SIZE = "size"
    FILE = "file"
    REGION = "region"
    LEFT_OUT = "left out"
    STEP = "step"
    CALIBRATION = "calibration"
    FACTS = "facts"
    OTHER = "other"


@dataclass(frozen=True)
class Note:
    """A sentence about what was done.

    Args:
        kind: what it is about.
        text: the sentence.
        assumed: whether something was taken for granted that neither the file nor the user said.
    """

    kind: NoteKind
    text: str
    assumed: bool = False


@dataclass(frozen=True)
class Step:
    """One step of the preparation.

    Args:
        name: such as ``"dead pixels"``.
        text: what was found and done, in plain words.
        values: the numbers behind it, as plain values; shown and compared, never read.
        assumed: whether something was taken for granted that neither the file nor the user said.
    """

    name: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    assumed: bool = False

    @property
    def sentence(self) -> str:
        """``"Flash: Frame 11, as given."``."""
        return f"{self.name.capitalize()}: {self.text}"

    def note(self) -> Note:
        """The step as a note."""
        return Note(NoteKind.STEP, self.sentence, self.assumed)


@dataclass(frozen=True)
class Window:
    """Which pixels of the file's frames a recording shows.

    Args:
        top: row of the file's frames, from 0, in which it begins.
        left: column in which it begins.
        bin: pixels of the file along each side that are one of its own.
    """

    top: int = 0
    left: int = 0
    bin: int = 1

    def __post_init__(self) -> None:
        count("the first row of the window", self.top, at_least=0)
        count("the first column of the window", self.left, at_least=0)
        count("bin of the window", self.bin)

    def cut(self, top: int, left: int) -> Window:
        """The window of a region that begins at this row and column of the present one."""
        return Window(self.top + self.bin * top, self.left + self.bin * left, self.bin)

    def binned(self, n: int) -> Window:
        """The window after n x n pixels became one."""
        return dataclasses.replace(self, bin=self.bin * n)


@dataclass(frozen=True)
class Hole:
    """A flat-bottom hole; lengths in the recording's unit.

    Args:
        kind: ``"round"`` or ``"rectangular"``.
        centre: (y, x), from the corner of the frames as they were read.
        width: (y, x); of a round one its diameter along both.
        depth: of its bottom below the inspected face; NaN if it is not known.
    """

    kind: str
    centre: tuple[float, float]
    width: tuple[float, float]
    depth: float

    @property
    def aspect(self) -> float:
        """How many times as wide as deep: the smaller width over the depth."""
        return min(self.width) / self.depth

    def covers(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Whether points lie over it."""
        v, u = ((p - c) / (w / 2) for p, c, w in zip((y, x), self.centre, self.width, strict=True))
        return v**2 + u**2 <= 1 if self.kind == "round" else np.maximum(np.abs(v), np.abs(u)) <= 1


@dataclass(frozen=True, eq=False)
class KnownDefects:
    """What is known to be in the part.

    Args:
        mask: pixels (y, x) over a defect; its cells may be smaller or larger than the recording's pixels.
        depth: of their tops under each pixel (y, x), NaN where there is none.
        holes: flat-bottom holes; ``None`` if they are not listed.
    """

    mask: np.ndarray | None = None
    depth: np.ndarray | None = None
    holes: tuple[Hole, ...] | None = None


@dataclass(frozen=True)
class CalibratedValue:
    """A number that was found from the recording itself.

    Args:
        name: in words, such as ``"heat loss of the front face"``.
        value: as found.
        start: where the search began: what was given or assumed; ``None`` if there was no first guess.
        unit: of both, in SI: ``"m2/s"``, ``"m/s"``, ``"K"``, ``"m"``; empty for unitless ones.
        spread: standard deviation that the frames leave it, by the curvature of the fit; ``None`` if not known. It
            knows nothing of what the model leaves out.
        width: standard deviation that ``start`` had as a fact of the user; ``None`` if it was a guess.
    """

    name: str
    value: float
    start: float | None = None
    unit: str = ""
    spread: float | None = None
    width: float | None = None


class Source(Enum):
    """Where a recording comes from."""

    ARRAYS = "arrays"
    FILE = "file"
    SIMULATION = "simulation"


@dataclass(frozen=True, eq=False)
class Simulation:
    """How a recording was simulated; ``nefty.synth`` writes and reads the record.

    Args:
        record: everything that is needed to make it again, as plain values and at most one array.
        noise_sigma: standard deviation of the camera's noise.
        gain: true gain of each pixel, (y, x).
        versions: of the libraries.
    """

    record: Mapping[str, Any]
    noise_sigma: float = 0.0
    gain: np.ndarray | None = None
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a recording comes from, and what its file said.

    Args:
        source: arrays of the user, a file that nefty did not write, or a simulation of nefty.
        name: of the file, or of the simulator.
        flash_known: whether the times count from the flash.
        flash_frame: number, from 0, of the frame in which the flash falls, if it was one of the file's.
        ambient: what was subtracted from the values to make them rises; ``None`` if they may still hold it.
        parameters: of a simulation by others, by the names in its file, in SI units.
        simulation: of nefty's own.
    """

    source: Source = Source.ARRAYS
    name: str = ""
    flash_known: bool = True
    flash_frame: int | None = None
    ambient: float | None = 0.0
    parameters: Mapping[str, float] = field(default_factory=dict)
    simulation: Simulation | None = None


@dataclass(frozen=True, eq=False)
class Facts:
    """All that is known of a recording besides frames, times, size, flash and sides.

    Args:
        units: words for them.
        material: of the part.
        material_source: who named it, ``"given"`` or ``"file"``; empty if that is not known.
        camera: that recorded it.
        scene: what it looked at, and through what.
        heating: how the part was heated, of a result.
        steps: of the preparation, in their order; empty if the recording was not prepared.
        window: which pixels of the file's frames it shows.
        pixel: edge lengths (y, x) of a pixel, where the thickness is not known and so the size is not.
        thickness: of the part, where the pixel is not known.
        unit_length: how many metres a length of 1 is, in a recording that was made unitless.
        defects: that the part is known to have.
        calibration: what was found from the recording itself, of a result.
        gain: of each pixel, (y, x), as estimated; in a result, as calibrated.
        origin: file or simulation.
        notes: what was done, in words.
        record: of the inspection; decides nothing.
        extra: further plain values, which are only shown.
    """

    units: Units = Units()
    material: Material | None = None
    material_source: str = ""
    camera: CameraFacts = CameraFacts()
    scene: Scene = field(default_factory=Scene)
    heating: Heating | None = None
    steps: tuple[Step, ...] = ()
    window: Window = Window()
    pixel: tuple[float, float] | None = None
    thickness: float | None = None
    unit_length: float = 1.0
    defects: KnownDefects | None = None
    calibration: tuple[CalibratedValue, ...] = ()
    gain: np.ndarray | None = None
    origin: Origin = field(default_factory=Origin)
    notes: tuple[Note, ...] = ()
    record: InspectionRecord | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.thickness is not None:
            number("thickness", self.thickness, above=0)
        for side in self.pixel or ():
            number("pixel", side, above=0)
        number("unit_length", self.unit_length, above=0)

    @property
    def prepared(self) -> bool:
        """Whether the frames went through a preparation."""
        return bool(self.steps)

    @property
    def simulated(self) -> bool:
        """Whether nefty simulated the recording, so that it says everything itself."""
        return self.origin.simulation is not None and "specimen" in self.origin.simulation.record

    def replaced(self, **changes: Any) -> Facts:
        """The same facts but for these."""
        return dataclasses.replace(self, **changes)

    def noted(self, *notes: Note) -> Facts:
        """With further notes."""
        return dataclasses.replace(self, notes=(*self.notes, *notes)) if notes else self

    def without_notes(self, kinds: Iterable[NoteKind], *, assumed: bool | None = None) -> Facts:
        """Without the notes of these kinds; of those only what was assumed, or was not, if that is asked."""
        kinds = set(kinds)
        kept = tuple(n for n in self.notes if n.kind not in kinds or (assumed is not None and n.assumed != assumed))
        return dataclasses.replace(self, notes=kept)

    def done(self, *steps: Step) -> Facts:
        """With further steps of the preparation, each of them noted."""
        return dataclasses.replace(self, steps=(*self.steps, *steps)).noted(*(step.note() for step in steps))

    def stepped(self, name: str) -> Step | None:
        """The last step of this name."""
        return next((step for step in reversed(self.steps) if step.name == name), None)
