"""Folders of tiny recordings for batches: sound plates, plates with a defect, broken files, one of another kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tifffile

import nefty
from support.flash_recordings import Camera

FACTS = 'material = "pvc"\nthickness = "2 mm"\npixel = "0.5 mm"\nfps = 10\n'
FEW = {"model.layers": 6, "stages.which shape.iterations": 1, "stages.finish.iterations": 1}
QUICK = [word for key, value in FEW.items() for word in ("--set", f"{key}={value}")]


def write_plate(path: Path, seed: int, *, defect: bool = False) -> None:
    """A camera's TIFF of counts, 80 frames of 12 x 16 pixels."""
    camera = Camera(shape=(80, 12, 16), echo=330, seed=seed)
    counts = camera.counts().astype(np.float64)
    if defect:
        ambient, after = counts[: camera.flash].mean(), camera.file_times - camera.onset
        warmer = np.where(after > 0, 1 + 0.6 * np.exp(-6 / np.maximum(after, 1e-3)), 1.0)
        counts[:, 4:9, 5:11] = ambient + (counts[:, 4:9, 5:11] - ambient) * warmer[:, None, None]
    tifffile.imwrite(path, counts.clip(0, 65535).astype(np.uint16))


def write_scans(folder: Path, plates: int, broken: int = 3, other: bool = True) -> Path:
    """A folder of recordings, every fourth with a defect; ``part.toml`` lies beside the folder."""
    folder.mkdir(parents=True)
    for k in range(plates):
        write_plate(folder / f"plate {k + 1}.tif", k, defect=k % 4 == 3)
    whole = (folder / "plate 1.tif").read_bytes()
    breaks = {"cut short.tif": whole[: len(whole) // 3], "empty.tif": b"", "noise.h5": bytes(range(256)) * 9}
    for name, content in list(breaks.items())[:broken]:
        (folder / name).write_bytes(content)
    if other:  # it says everything itself, and the facts are not its own
        grid, times = nefty.Grid((4, 8, 8), (1.0, 10.0, 10.0)), 0.25 * np.arange(1, 11)
        nefty.simulate(nefty.draw_specimen(seed=1, defects=1), grid=grid, times=times).save(folder / "simulated.h5")
    (folder.parent / "part.toml").write_text(FACTS)
    return folder
