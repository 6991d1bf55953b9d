"""Damaged recordings of every format, loaded one after the other; run in a process of its own, which may crash.

python -m support.damage FOLDER NUMBER SEED
"""

from __future__ import annotations

import faulthandler
import json
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.errors import NeftyError
from nefty.data.facts import CalibratedValue, Facts, KnownDefects, Note, NoteKind, Step, Units
from nefty.data.read import read
from nefty.data.sequence import Sequence
from nefty.physics.pulses import TopHatPulse
from support.cameras.files import ats, edevis, fff, irb, irb_video, seq, sfmov
from support.recordings import COUNTS, FLOATS, csv, matlab5, matlab73, npy, npz, png, ptw, thermo, tiff

HANG = 120  # seconds on the clock, for a machine that has other things to do as well
WATCHED = 20  # files in that time
FORBIDDEN = (
    *("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "subprocess.Popen"),
    *("socket.", "ctypes.", "exec", "import"),
)
EXTREME = (0, 1, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1)


def seeds(folder: Path) -> list[tuple[str, bytes]]:
    """Small files by name; ``folder.suffix`` becomes a folder with one damaged frame among whole ones."""
    whole = Sequence(
        frames=FLOATS,
        times=np.arange(6.0),
        size=(1, 4, 5),
        excitation=TopHatPulse(profile=FLOATS[0]),
        mask=np.ones((4, 5), bool),
        truth=np.ones((2, 4, 5)),
        facts=Facts(
            units=Units(length="m"),
            steps=(Step("flash", "Frame 11.", {"frame": 11}),),
            defects=KnownDefects(mask=FLOATS[0] > 20),
            calibration=(CalibratedValue("thickness", 2e-3, unit="m"),),
            notes=(Note(NoteKind.OTHER, "one"),),
        ),
    )
    struct: dict[str, Any] = {"Tdata": np.moveaxis(COUNTS, 0, -1), "Time": np.arange(6.0)}
    found = [
        ("a.npy", npy()),
        ("b.npy", npy(np.asfortranarray(FLOATS.astype(">f8")))),
        ("a.npz", npz()),
        ("b.npz", npz(counts=COUNTS)),
        ("a.tif", tiff()),
        ("b.tif", tiff(FLOATS, compression="zlib")),
        ("a.mat", matlab5()),
        ("b.mat", matlab5(True)),
        ("c.mat", matlab5(SimResult=struct)),
        ("d.mat", matlab73()),
        ("a.h5", thermo(folder / "seed.h5")),
        ("a.ptw", ptw(main=500, each=20)),
        ("a.irb", irb()),
        ("b.irb", irb_video(COUNTS[:3], 1)),
        ("c.irb", irb(COUNTS[0]) + irb(COUNTS[1], 1, seconds=1)),
        ("a.seq", seq(COUNTS[:3] + 15000)),
        ("a.fff", fff(COUNTS[0] + 15000, ">")),
        ("a.ats", ats()),
        ("a.sfmov", sfmov()),
        ("b.sfmov", sfmov(FLOATS)),
        ("a.di", edevis()),
        ("b.OTvis", edevis(COUNTS[:2] + 29000, table=np.linspace(-273, 380, 2**16))),
        ("folder.tif", tiff(COUNTS[0])),
        ("folder.png", png(COUNTS[0])),
        ("folder.csv", csv(FLOATS[0])),
    ]
    return found + [
        (f"own{suffix}", whole.save(folder / f"own{suffix}").read_bytes()) for suffix in (".h5", ".npz", ".tif")
    ]


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Wrong bytes or bits, a wrong number, a cut, a part in another place, noise in it, or noise alone."""
    raw = bytearray(content)
    head = min(len(raw), 600) if rng.random() < 0.5 else len(raw)  # headers are more interesting than values
    kind = rng.integers(8)
    if kind <= 1:
        for _ in range(rng.integers(1, 9)):
            raw[rng.integers(head)] = rng.integers(256)
    elif kind == 2:
        for _ in range(rng.integers(1, 9)):
            raw[rng.integers(head)] ^= 1 << rng.integers(8)
    elif kind == 3:
        size = int(rng.choice([2, 4, 8]))
        at, value = int(rng.integers(head)), int(rng.choice(EXTREME)) % 2 ** (8 * size)
        raw[at : at + size] = value.to_bytes(size, "little" if rng.random() < 0.7 else "big")
    elif kind == 4:
        del raw[rng.integers(len(raw)) :]
    elif kind == 5:
        start, stop = sorted(int(i) for i in rng.integers(len(raw), size=2))
        at = int(rng.integers(len(raw)))
        raw[at : at + (stop - start if rng.random() < 0.5 else 0)] = raw[start:stop]
    elif kind == 6:
        at = int(rng.integers(head))
        raw[at : at + int(rng.integers(16))] = rng.bytes(int(rng.integers(64)))
    else:
        raw[int(rng.integers(20)) :] = rng.bytes(int(rng.integers(2000)))
    return bytes(raw)


def place(folder: Path, name: str, content: bytes, whole: bytes) -> Path:
    """Write a damaged file, or a folder in which one frame is damaged."""
    path = folder / name
    if path.stem != "folder":
        path.write_bytes(content)
        return path
    inside = folder / f"frames{path.suffix}"
    inside.mkdir(exist_ok=True)
    for i in range(3):
        (inside / f"{i}{path.suffix}").write_bytes(content if i == 1 else whole)
    return inside


def main(folder: Path, number: int, seed: int) -> None:
    """Load damaged files; prints how many were read, how many refused, and the longest time, as JSON."""
    rng = np.random.default_rng(seed)
    files = seeds(folder)
    for name, content in files:  # whole ones are read; and what is imported late is there before the hook
        read(place(folder, name, content, content), fps=10)
    sys.addaudithook(_refuse)
    outcomes: Counter[str] = Counter()
    slowest: tuple[float, str] = (0.0, "")
    for i in range(number):
        name, content = files[i % len(files)]
        bad = damaged(content, rng)
        path = place(folder, name, bad, content)
        if i % WATCHED == 0:  # each watch is a thread of its own, which costs as much as a small file
            faulthandler.dump_traceback_later(HANG, exit=True)
        start = time.process_time()
        try:
            outcomes["read" if isinstance(read(path, fps=10), Sequence) else "nothing"] += 1
        except NeftyError as error:
            outcomes["refused" if str(path) in str(error) else f"no path in {error!r} of {name}"] += 1
        except BaseException as error:
            outcomes[f"{type(error).__name__} from {name}: {error}"[:300]] += 1
            (folder / f"worst-{name}").write_bytes(bad)
        slowest = max(slowest, (time.process_time() - start, name))
    faulthandler.cancel_dump_traceback_later()
    largest = _peak_memory()
    print(json.dumps({"outcomes": outcomes, "slowest": slowest, "memory": largest}))


def _peak_memory() -> float:
    """Of this process, in GB; not ``ru_maxrss``, which on Linux begins with that of the process that forked it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 2**20


def _refuse(event: str, arguments: Any) -> None:
    if event in ("exec", "import") and not _foreign(event, arguments):
        return
    if event.startswith(FORBIDDEN):
        raise SystemExit(f"a file made nefty call {event} {arguments}")


def _foreign(event: str, arguments: Any) -> bool:
    """Whether what is run does not come from a file of Python or an installed package: late imports do."""
    return event == "exec" and not Path(getattr(arguments[0], "co_filename", "")).is_file()


if __name__ == "__main__":
    faulthandler.enable()
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
