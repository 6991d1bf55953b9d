"""Runs: each is the command that the page shows, in a process of its own that writes into its own folder.

The folder is the truth. What became of a run is read from it, so that closing the browser, or the server, loses
nothing: a run that was stopped goes on with the same command.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from nefty.app.draft import Draft, read_draft
from nefty.app.processes import python_command
from nefty.app.root import Root
from nefty.core.errors import InputError
from nefty.core.interrupt import STOPPED
from nefty.core.storage.files import write_atomic
from nefty.core.storage.folder_lock import is_taken
from nefty.core.storage.progress_file import RunState, read_state
from nefty.core.storage.run_folder import CONFIG, RESULT

DRAFT, ENDED, LOG = "draft.json", "ended.json", "log.txt"  # in a run's folder, beside the run's own files
PATIENCE = 30.0  # seconds for a run to keep its state when the server ends
TAIL = 4000  # bytes of a log that are shown


class State(Enum):
    """What a run is doing."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    FINISHED = "finished"


@dataclass(frozen=True)
class Run:
    """A run as its folder says.

    Args:
        name: of the folder.
        folder: absolute.
        draft: what it was asked.
        state: what it is doing.
        progress: how far it is; None if it has not said.
        reason: why it failed, in words.
        has_result: whether there is a result, or the best so far.
        began: seconds since 1970 at which it was put in the queue.
    """

    name: str
    folder: Path
    draft: Draft
    state: State
    progress: RunState | None
    reason: str
    has_result: bool
    began: float


class Jobs:
    """The queue of one server, and the processes it started.

    Args:
        root: of the app.
        at_once: how many runs work at a time.
    """

    def __init__(self, root: Root, at_once: int = 1) -> None:
        self.root, self._at_once = root, at_once
        self._waiting: list[str] = []
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    def out(self, name: str) -> str:
        """The folder of a run, relative to the root, as its command names it."""
        return self.root.relative(self.root.runs / name)

    def next_name(self, draft: Draft) -> str:
        """A name that no run has: the recording's, and a number."""
        stem = re.sub(r"[^\w.-]", "_", Path(draft.file).stem).lstrip(".-") or "run"
        return next(f"{stem}-{n}" for n in range(1, 100_000) if not (self.root.runs / f"{stem}-{n}").exists())

    def add(self, draft: Draft, name: str | None = None) -> str:
        """Put a run in the queue; returns its name."""
        self.root.inside(draft.file)
        name = name or self.next_name(draft)
        folder = self._folder(name)
        try:
            folder.mkdir()
        except FileExistsError:
            raise InputError(f"there is a run {name} already; give it another name.") from None
        write_atomic(folder / DRAFT, json.dumps(draft.record(), indent=2) + "\n")
        self._waiting.append(name)
        self._fill()
        return name

    def resume(self, name: str) -> None:
        """Put a run that was stopped, or has failed, back in the queue."""
        if self.run(name).state in (State.PAUSED, State.FAILED):
            self._waiting.append(name)
            self._fill()

    def cancel(self, name: str) -> None:
        """Stop a run as Ctrl-C does: it keeps the best so far, and can go on."""
        if name in self._waiting:
            self._waiting.remove(name)
        elif name in self._processes:
            with contextlib.suppress(ProcessLookupError):
                self._processes[name].send_signal(signal.SIGINT)

    def runs(self) -> list[Run]:
        """All runs of the folder, the latest first; what is no run of the app is passed over."""
        found = []
        for folder in self.root.runs.iterdir():
            with contextlib.suppress(InputError):
                found.append(self.run(folder.name))
        return sorted(found, key=lambda run: -run.began)

    def run(self, name: str) -> Run:
        """One run, as its folder says."""
        folder = self._folder(name)
        if not (folder / DRAFT).is_file():
            raise InputError(f"there is no run {name[:80]!r}; choose one of the list.")
        ended = _read(folder / ENDED)
        state = self._state(folder, ended)
        progress = read_state(folder) if state in (State.RUNNING, State.PAUSED) else None
        if state is State.RUNNING and progress is not None and progress.told < ended.get("began", 0.0):
            progress = None  # of the process before
        reason = _reason(folder) if state is State.FAILED else ""
        began = (folder / DRAFT).stat().st_mtime
        return Run(name, folder, read_draft(folder / DRAFT), state, progress, reason, (folder / RESULT).exists(), began)

    def position(self, name: str) -> int:
        """How many runs are before this one in the queue."""
        return self._waiting.index(name) if name in self._waiting else 0

    def log(self, name: str) -> str:
        """The end of what a run's process said."""
        try:
            with open(self._folder(name) / LOG, "rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    async def close(self) -> None:
        """Stop all runs, and wait until they have kept their states."""
        self._closing = True
        self._waiting.clear()
        for name in list(self._processes):
            self.cancel(name)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=PATIENCE)

    def _folder(self, name: str) -> Path:
        if not name or not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
            raise InputError(f"{name[:80]!r} is no name of a run; use letters, digits, dots and dashes.")
        return self.root.runs / name

    def _fill(self) -> None:
        """Begin runs while there is room."""
        while self._waiting and len(self._processes) + len(self._begun()) < self._at_once and not self._closing:
            name = self._waiting.pop(0)
            task = asyncio.get_running_loop().create_task(self._work(name), name=name)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _begun(self) -> list[str]:
        """Runs whose process is about to be there."""
        names = [task.get_name() for task in self._tasks if not task.done()]
        return [name for name in names if name not in self._processes]

    async def _work(self, name: str) -> None:
        """One process, from its start to its end."""
        folder = self._folder(name)
        words = read_draft(folder / DRAFT).words(self.out(name))
        write_atomic(folder / ENDED, json.dumps({"began": time.time()}))
        try:
            with open(folder / LOG, "ab") as log:
                log.write(f"$ {shlex.join(words)}\n".encode())
                log.flush()
                process = await asyncio.create_subprocess_exec(
                    *python_command(self.root.path, "nefty.cli.main:main", *words[1:]),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C at the server's terminal reaches it once, from here
                )
            self._processes[name] = process
            code = await process.wait()
            write_atomic(folder / ENDED, json.dumps({"code": code, "ended": time.time()}))
        finally:
            self._processes.pop(name, None)
            self._tasks = {task for task in self._tasks if task.get_name() != name}
            self._fill()

    def _state(self, folder: Path, ended: dict[str, float]) -> State:
        name = folder.name
        if name in self._waiting:
            return State.WAITING
        if name in self._processes or name in self._begun() or is_taken(folder):
            return State.RUNNING
        if ended.get("code") not in (None, 0, STOPPED, -signal.SIGINT):
            return State.FAILED
        finished = _read(folder / CONFIG).get("finished") and (folder / RESULT).exists()
        return State.FINISHED if finished else State.PAUSED


def _read(path: Path) -> dict:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _reason(folder: Path) -> str:
    """The last thing that a failed process said."""
    try:
        lines = (folder / LOG).read_text(errors="replace")[-TAIL:].split("\n$ nefty ")[-1].strip().splitlines()
    except OSError:
        return ""
    said = [k for k, line in enumerate(lines) if line.startswith("nefty: ")]
    return " ".join(lines[said[-1] :]).removeprefix("nefty: ") if said else " ".join(lines[-1:])
