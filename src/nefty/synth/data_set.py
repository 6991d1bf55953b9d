"""Folders of simulated recordings: one HDF5 file per specimen and ``index.json``, which lists them."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nefty.core.checks import count, one_of
from nefty.core.errors import InputError
from nefty.core.storage.files import write_atomic
from nefty.core.storage.hdf5 import digest, plain
from nefty.data.read import read
from nefty.data.sequence import Sequence
from nefty.synth.flash_ranges import FlashRanges
from nefty.synth.recording import Progress, record_of, record_specimen, specimen_of
from nefty.synth.setup import Setup
from nefty.synth.specimen import KINDS, Ranges, Specimen, draw_specimen

INDEX = "index.json"
FORMAT = 1


@dataclass(frozen=True, eq=False)
class DataPlan:
    """What a data set is made of: a seed makes one recording.

    Args:
        kind: of the specimens; see ``draw_specimen``.
        ranges: of what is drawn of a specimen.
        defects: how many each has, instead of drawing their number.
        flash: ranges of the flash; the setup's own for all if not given.
        setup: how each is recorded; ``setup.seed`` is that of the noise, together with the specimen's.
    """

    kind: str = "homogeneous"
    ranges: Ranges = field(default_factory=Ranges)
    defects: int | None = None
    flash: FlashRanges | None = None
    setup: Setup = field(default_factory=lambda: Setup(dtype="float32"))

    def __post_init__(self) -> None:
        one_of("kind", self.kind, KINDS)
        if self.defects is not None:
            count("defects", self.defects, at_least=0)
        if "excitation_array" in self.setup.record():
            raise InputError("a data set takes a flash or an even pulse, not an array; simulate its files one by one.")

    def name(self, seed: int) -> str:
        """Of the file."""
        return f"{self.kind}-{seed}.h5"

    def specimen(self, seed: int) -> Specimen:
        """The specimen of a seed."""
        size = self.setup.grid.size
        return draw_specimen(seed, self.kind, size=size, defects=self.defects, ranges=self.ranges)

    def make(self, seed: int, progress: Progress | None = None) -> Sequence:
        """The recording of a seed."""
        return record_specimen(self.specimen(seed), self._setup(seed), progress)

    def matches(self, sequence: Sequence, seed: int) -> bool:
        """Whether a recording is the one of a seed, by its record."""
        wanted = plain("record", record_of(self.specimen(seed), self._setup(seed)))
        simulation = sequence.facts.origin.simulation
        return simulation is not None and plain("record", dict(simulation.record)) == wanted

    def settings(self) -> dict[str, Any]:
        """All of it as plain values, for the index."""
        return plain(
            "settings",
            {
                "kind": self.kind,
                "ranges": dataclasses.asdict(self.ranges),
                "defects": self.defects,
                "flash": None if self.flash is None else dataclasses.asdict(self.flash),
                "setup": self.setup.record(),
            },
        )

    def _setup(self, seed: int) -> Setup:
        if self.flash is None:
            return self.setup
        return dataclasses.replace(self.setup, excitation=self.flash.draw(seed, self.setup.grid.size[1:]))


@dataclass(frozen=True)
class Entry:
    """A line of the index.

    Args:
        name: of the file.
        seed: of the specimen.
        kind: of the specimen.
        defects: how many it has.
        strata: how many it has.
        bulk: diffusivity of each stratum.
        digest: of frames, times and truth; see ``content_digest``.
        seconds: that the simulation took.
    """

    name: str
    seed: int
    kind: str
    defects: int
    strata: int
    bulk: tuple[float, ...]
    digest: str
    seconds: float

    @staticmethod
    def of(name: str, sequence: Sequence, seconds: float) -> Entry:
        """The entry of a recording."""
        part = specimen_of(sequence)
        assert part is not None
        assert part.seed is not None
        sound = content_digest(sequence)
        return Entry(name, part.seed, part.kind, len(part.defects), len(part.bulk), part.bulk, sound, round(seconds, 3))


class DataSet:
    """A folder of simulated recordings, made by ``write_data_set`` and opened by ``DataSet.open``.

    It has a length, and ``data[i]`` and iteration load recordings, in the order of their seeds.

    Attributes:
        path: the folder.
        settings: the plan they were made by, as plain values.
        entries: the index.
    """

    def __init__(self, path: Path, settings: dict[str, Any], entries: Iterable[Entry]) -> None:
        self.path, self.settings = path, settings
        self.entries = tuple(sorted(entries, key=lambda entry: entry.seed))

    @staticmethod
    def open(folder: str | os.PathLike[str]) -> DataSet:
        """Read the index of a folder.

        Raises:
            InputError: there is none, or it is not one that this nefty can read.
        """
        found = read_index(Path(folder))
        if found is None:
            raise InputError(f"{os.fspath(folder)} has no {INDEX}; give a folder that nefty simulate --n has written.")
        return found

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Sequence:
        return self.load(self.entries[index])

    def __iter__(self) -> Iterator[Sequence]:
        return map(self.load, self.entries)

    def __repr__(self) -> str:
        return f"DataSet({len(self)} recordings of {self.settings['kind']} parts in {self.path})"

    def load(self, entry: Entry) -> Sequence:
        """The recording of an entry.

        Raises:
            InputError: its file is not there, is damaged, or does not hold what was written.
        """
        file = self.path / entry.name
        again = "run nefty simulate --n with the same settings again, which makes what is missing"
        if not file.is_file():
            raise InputError(f"{file} is in the index but not there; copy it here, or {again}.")
        sequence = read(file)
        if content_digest(sequence) != entry.digest:
            raise InputError(f"{file} does not hold what the index says (another digest); {again}.")
        return sequence


def content_digest(sequence: Sequence) -> str:
    """SHA-256 of frames, times and truth, with their dtypes and shapes; not of the file, which libraries may pack
    in different ways.
    """
    return digest(sequence.frames, sequence.times, sequence.truth)


def read_index(folder: Path) -> DataSet | None:
    """The data set of a folder, or ``None`` if it has no index."""
    file = folder / INDEX
    try:
        found = json.loads(file.read_bytes())
        version = found["format"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file} is not the index of a data set ({error}); move it away or give another folder."
        ) from None
    if version != FORMAT:
        raise InputError(f"{file} has format {version!r}, this nefty knows {FORMAT}; use the nefty that wrote it.")
    try:
        entries = [Entry(**{**e, "bulk": tuple(e["bulk"])}) for e in found["entries"]]
        strange = [e.name for e in entries if Path(e.name).name != e.name]
        settings = dict(found["settings"])
        settings["kind"]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{file} is damaged ({error}); delete it and simulate again, which keeps good files."
        ) from None
    if strange:
        raise InputError(f"{file} names {strange[0]!r}, which is not in its folder; refused.")
    return DataSet(folder, settings, entries)


def write_index(data: DataSet, versions: dict[str, str]) -> None:
    """Write the index, one line per entry."""
    head = {"format": FORMAT, "versions": versions, "settings": data.settings}
    lines = ",\n".join(json.dumps(dataclasses.asdict(entry)) for entry in data.entries)
    text = f'{json.dumps(head)[:-1]},\n"entries": [\n{lines}\n]}}\n'
    write_atomic(data.path / INDEX, text)
