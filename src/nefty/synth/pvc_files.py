"""Generated recordings in the layout of the published PVC benchmark (``nefty.data.pvc_layout``).

Plates are those of ``nefty.synth.plates``, simulated by the independent simulator. What the published files are said to
have is added: raw counts, a picture wider than the plate, a bad first column, a saturated frame at the flash, some
corrupt cold frames.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.core.storage.files import write_atomic
from nefty.data.pvc_labels import grey_of
from nefty.data.pvc_layout import BAD_COLUMNS, FPS, GENERATED, KINDS, LABELS, SIDE, THICKNESS, VARIABLE
from nefty.synth.plates import CELL, Plate, draw_plate, record_plate

BEFORE = 10  # frames before that of the flash, which is the eleventh
COUNTS_PER_KELVIN, AMBIENT, SATURATED = 100.0, 4000.0, 16383  # of a camera of 14 bits
PATTERN = 20.0  # counts by which the pixels differ before the flash, standard deviation
COLD = 300.0  # counts below ambient in a corrupt frame
STREAM = 51  # seeds of what the file adds


@dataclass(frozen=True)
class PvcSize:
    """How large the generated files are; as published if nothing is given.

    Args:
        shape: of the picture, (y, x); the plate fills its height and is in the middle.
        frames: in all, with those before the flash.
        fps: frames per second.
        corrupt: number of cold frames.
        cell: of the simulation, along z and along y and x, in m.
    """

    shape: tuple[int, int] = (256, 320)
    frames: int = 1810
    fps: float = FPS
    corrupt: int = 3
    cell: tuple[float, float] = field(default=CELL)

    def __post_init__(self) -> None:
        rows, columns = (count("pixels", n, at_least=16) for n in self.shape)
        if columns < rows + BAD_COLUMNS:
            raise InputError(f"shape={self.shape} must be wider than high, as the plate fills the height.")
        count("frames", self.frames, at_least=BEFORE + 20)
        number("fps", self.fps, above=0)
        count("corrupt", self.corrupt, at_least=0)

    @property
    def left(self) -> int:
        """The plate's first column."""
        return (self.shape[1] - self.shape[0] + 1) // 2


def write_pvc(
    root: str | os.PathLike[str],
    plates: int,
    size: PvcSize | None = None,
    *,
    first_seed: int = 0,
    progress: Callable[[str, int, int], object] = lambda name, done, total: None,
) -> list[str]:
    """Write recordings ``R_001, Z_001, R_002, ...`` and their labels; those that are there are kept.

    Args:
        root: the folder.
        plates: how many.
        size: of the files.
        first_seed: of the first plate; a plate of R_NNN or Z_NNN has the seed first_seed + NNN - 1.
        progress: called with (name, plates done, in all) before each.

    Returns:
        the names of those written now.
    """
    size, root = size or PvcSize(), Path(root)
    settings: dict[str, Any] = {
        "fps": size.fps,
        "pixel": SIDE / size.shape[0],
        "thickness": THICKNESS,
        "counts_per_kelvin": COUNTS_PER_KELVIN,
        "first_seed": first_seed,
        "size": json.loads(json.dumps(asdict(size))),
    }
    known = _known(root / GENERATED, settings)
    written = []
    for index in range(count("plates", plates)):
        letter, nnn = list(KINDS)[index % 2], index // 2 + 1
        name = f"{letter}_{nnn:03d}"
        if name in known and (root / "data" / f"{name}.mat").is_file():
            continue
        progress(name, index, plates)
        seed = first_seed + nnn - 1
        plate = draw_plate(seed, KINDS[letter])
        _write_one(root, name, plate, size, seed)
        known[name] = _facts(plate, size, seed)
        write_atomic(root / GENERATED, json.dumps({**settings, "plates": known}, indent=1) + "\n")
        written.append(name)
    return written


def counts_of(plate: Plate, size: PvcSize, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The recording of a plate as counts, uint16 (y, x, t), and its depths in m, (y, x)."""
    rows, columns = size.shape
    after = size.frames - BEFORE - 1
    seen = record_plate(
        plate,
        seed=seed,
        pixels=(rows, rows),
        fps=size.fps,
        seconds=(after + 0.5) / size.fps,
        before=BEFORE,
        cell=size.cell,
    )
    random = np.random.default_rng([seed, STREAM])
    pattern = PATTERN * random.standard_normal(size.shape)
    sigma = float(np.max(seen.noise)) if seen.noise is not None else 0.0
    within = slice(size.left, size.left + rows)
    counts = np.empty((rows, columns, size.frames), dtype=np.uint16)
    for k in range(size.frames):
        rise = sigma * random.standard_normal(size.shape)
        if k == BEFORE:
            rise[:, within] = np.inf  # the flash itself
        else:
            rise[:, within] = seen.frames[k - (k > BEFORE)]
        frame = np.minimum(AMBIENT + pattern + COUNTS_PER_KELVIN * rise, SATURATED)
        frame[:, :BAD_COLUMNS] = k % 2**14
        counts[..., k] = np.rint(np.maximum(frame, 0))
    for k in random.choice(np.arange(BEFORE + 10, size.frames), size.corrupt, replace=False):
        cold = AMBIENT - COLD + COUNTS_PER_KELVIN * sigma * random.standard_normal(size.shape)
        counts[:, BAD_COLUMNS:, k] = np.rint(cold[:, BAD_COLUMNS:])
    depth = np.full(size.shape, np.nan)
    assert seen.facts.defects is not None
    depth[:, within] = seen.facts.defects.depth
    return counts, depth


def _write_one(root: Path, name: str, plate: Plate, size: PvcSize, seed: int) -> None:
    from PIL import Image
    from scipy.io import savemat

    counts, depth = counts_of(plate, size, seed)
    label, values = BytesIO(), BytesIO()
    Image.fromarray(grey_of(depth)).save(label, format="PNG")
    for folder in LABELS.values():
        write_atomic(root / "labels" / folder / f"{name}.png", label.getvalue())
    savemat(values, {VARIABLE: counts}, format="5", do_compression=False)
    with values.getbuffer() as view:
        write_atomic(root / "data" / f"{name}.mat", view)


def _facts(plate: Plate, size: PvcSize, seed: int) -> dict[str, Any]:
    """What is known of a plate; places in pixels of the picture."""
    pixel = SIDE / size.shape[0]
    holes = [
        {
            "centre": [hole.centre[0] / pixel - 0.5, hole.centre[1] / pixel - 0.5 + size.left],
            "width": list(hole.width),
            "depth": hole.depth,
        }
        for hole in plate.holes
    ]
    return {"seed": seed, "alpha": plate.alpha, "h_front": plate.h_front, "h_back": plate.h_back, "holes": holes}


def _known(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The plates that a folder has already; refuses one of other settings, or of other recordings."""
    data = path.parent / "data"
    if not path.exists():
        if data.is_dir() and any(data.glob("*.mat")):
            raise InputError(f"{data} holds recordings that were not generated here; give another folder.")
        return {}
    try:
        found = json.loads(path.read_bytes())
        plates = dict(found.pop("plates"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged ({error}); delete it and what was generated with it.") from None
    different = [name for name in settings if found.get(name) != settings[name]]
    if different:
        raise InputError(
            f"{path.parent} was generated with {different[0]}={found.get(different[0])}, not {settings[different[0]]}; "
            "give the same, or another folder."
        )
    return plates
