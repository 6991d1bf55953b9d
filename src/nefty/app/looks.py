"""Looks at recordings: asked of a process, kept in a folder, shown as pictures and decays."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nefty.app.account import Account
from nefty.app.draft import Draft
from nefty.app.looking import ACCOUNT, PICTURES, PREPARED, REFUSED
from nefty.app.processes import python_command
from nefty.app.root import Root
from nefty.core.errors import InputError, NeftyError
from nefty.core.storage.hdf5 import digest
from nefty.report.figures.style import Scale
from nefty.report.pictures.labelled_image import plain_image

AT_ONCE = 1  # looks; each of them may hold a whole recording
KEPT = 24  # looks in the folder
COLOURS = {"warm": Scale("Inferno"), "grey": Scale("gray"), "depth": Scale("Viridis"), "blue to red": Scale("RdBu_r")}


@dataclass(frozen=True, eq=False)
class Look:
    """What was seen of a recording.

    Args:
        key: names it in addresses.
        folder: with the files of ``nefty.app.looking``.
        account: in words and numbers.
    """

    key: str
    folder: Path
    account: Account

    def picture(self, index: int, low: float, high: float, colours: str = "warm") -> bytes:
        """One of its frames as a PNG file."""
        frames = np.load(self.folder / PICTURES, mmap_mode="r")
        if not 0 <= index < len(frames) or not np.isfinite([low, high]).all():
            raise InputError(f"there is no picture {index} of {len(frames)}, from {low:g} to {high:g}.")
        high = high if high > low else low + max(abs(low), 1.0) * 1e-6
        return plain_image(np.array(frames[index]), COLOURS.get(colours, COLOURS["warm"]), (low, high))

    def limits_of(self, index: int) -> tuple[float, float]:
        """Colours that suit one of its frames."""
        frame = np.array(np.load(self.folder / PICTURES, mmap_mode="r")[index])
        finite = frame[np.isfinite(frame)]
        low, high = (float(v) for v in np.percentile(finite, [1, 99])) if finite.size else (0.0, 1.0)
        return low, high if high > low else low + max(abs(low), 1.0) * 1e-6

    def value(self, index: int, row: int, column: int) -> float:
        """Of one of its frames, at a pixel of the file."""
        frames = np.load(self.folder / PICTURES, mmap_mode="r")
        return float(frames[index, row // self.account.coarse, column // self.account.coarse])

    def decay(self, row: int, column: int) -> np.ndarray | None:
        """The prepared frames at a pixel of the file, (t,); None outside of the region."""
        top, _, left, _ = self.account.region
        y, x = (row - top) // self.account.bin, (column - left) // self.account.bin
        frames = np.load(self.folder / PREPARED, mmap_mode="r")
        inside = 0 <= y < frames.shape[0] and 0 <= x < frames.shape[1]
        return np.array(frames[y, x], dtype=np.float64) if inside else None

    def typical_decay(self) -> np.ndarray:
        """Median over the pixels, (t,)."""
        frames = np.load(self.folder / PREPARED, mmap_mode="r")
        step = max(1, int(np.sqrt(frames.shape[0] * frames.shape[1] / 4000)))
        some = np.array(frames[::step, ::step]).reshape(-1, frames.shape[2])
        some = some[np.isfinite(some).any(axis=1)]
        return np.nanmedian(some, axis=0).astype(np.float64) if some.size else np.full(frames.shape[2], np.nan)


class Looks:
    """All looks of a server.

    Args:
        root: of the app.
    """

    def __init__(self, root: Root) -> None:
        self.root, self._turn = root, asyncio.Semaphore(AT_ONCE)

    async def at(self, draft: Draft, progress: Callable[[str, float], object] = lambda stage, fraction: None) -> Look:
        """Look at a recording with what is known of it; at once if that was done before.

        Args:
            draft: its file and what is known.
            progress: told the name of a stage and the fraction of it that is done.

        Raises:
            NeftyError: what ``nefty inspect`` would say.
        """
        key = self._key(draft)
        async with self._turn:
            if not (self.root.looks / key / ACCOUNT).exists():
                await self._look(draft, key, progress)
        return self.kept(key)

    def kept(self, key: str) -> Look:
        """A look that was made before, by the name that addresses have."""
        if not (key.isalnum() and key.isascii() and len(key) == 32):
            raise InputError(f"{key[:40]!r} names no look at a recording.")
        folder = self.root.looks / key
        try:
            return Look(key, folder, Account.of((folder / ACCOUNT).read_bytes()))
        except OSError:
            raise InputError("this look at the recording is no longer kept; open the recording again.") from None

    def _key(self, draft: Draft) -> str:
        """By the file as it is now, and what is known."""
        path = self.root.inside(draft.file)
        try:
            info = path.stat()
        except OSError:
            raise InputError(f"there is no file {draft.file}; it was moved or deleted.") from None
        state = [str(path), info.st_mtime_ns, info.st_size, json.dumps(draft.record()["known"], sort_keys=True)]
        return digest({"look": json.dumps(state)})[:32]

    async def _look(self, draft: Draft, key: str, progress: Callable[[str, float], object]) -> None:
        passing = Path(tempfile.mkdtemp(prefix=".look-", dir=self.root.looks))
        try:
            await _asked(draft, passing, self.root.path, progress)
            passing.rename(self.root.looks / key)
        finally:
            shutil.rmtree(passing, ignore_errors=True)
        self._forget_oldest()

    def _forget_oldest(self) -> None:
        folders = sorted((f for f in self.root.looks.iterdir() if f.is_dir()), key=lambda f: f.stat().st_mtime)
        for folder in folders[:-KEPT]:
            shutil.rmtree(folder, ignore_errors=True)


async def _asked(draft: Draft, folder: Path, root: Path, progress: Callable[[str, float], object]) -> None:
    """Run the process that looks, and hear what it says."""
    command = python_command(root, "nefty.app.looking:main", str(folder))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    error = ""
    try:
        process.stdin.write(json.dumps(draft.record()).encode())
        process.stdin.close()
        trouble = asyncio.create_task(process.stderr.read())
        async for line in process.stdout:
            said = json.loads(line)
            error = said.get("error", error)
            if "stage" in said:
                progress(said["stage"], said["fraction"])
        code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    if error and code == REFUSED:
        raise InputError(error)
    if code != 0:
        last = (await trouble).decode(errors="replace").strip().splitlines()[-1:]
        raise NeftyError(f"the look at {draft.file} ended with code {code}: {' '.join(last)}")
