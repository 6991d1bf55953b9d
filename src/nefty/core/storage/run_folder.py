"""The folder of one run: what it was asked, what happened, where it stands, what came out.

| file | holds |
|---|---|
| ``config.json`` | the resolved configuration and the hash of the input; written first |
| ``events.jsonl`` | one JSON object per line: ``time``, ``event`` and its values; only ever appended to |
| ``checkpoint.h5`` | the latest state to go on from |
| ``result.h5`` | what came out |
| ``progress.json`` | how far the work is, for whoever watches; decides nothing |

Each file but the log is replaced as a whole, so a process may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from nefty.core.errors import InputError, NeftyError
from nefty.core.storage.files import TEMPORARY, cannot_write, write_atomic
from nefty.core.storage.folder_lock import take_folder
from nefty.core.storage.hdf5 import digest, plain, read_hdf5, write_hdf5
from nefty.core.storage.progress_file import PROGRESS

CONFIG, EVENTS, CHECKPOINT, RESULT = "config.json", "events.jsonl", "checkpoint.h5", "result.h5"
FORMAT = 1
RECORD = {"format", "created", "fingerprint", "config", "finished"}  # of config.json
MOST_NAMED = 6  # differing keys that an error spells out


class OtherRunError(InputError):
    """A folder holds another run than the one asked for."""


class RunFolder:
    """A run's folder, held by this process until ``close`` or the end of a ``with`` block; made by ``open``.

    Attributes:
        path: the folder.
        config: the resolved configuration, as plain values.
        fingerprint: hash of the input.
        resumed: whether the folder held this run already.
    """

    def __init__(self, path: Path, record: dict[str, Any], lock: int, *, resumed: bool) -> None:
        self.path, self._record, self._lock, self.resumed = path, record, lock, resumed
        self.config: dict[str, Any] = record["config"]
        self.fingerprint: str = record["fingerprint"]

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        config: Mapping[str, Any],
        fingerprint: str,
        *,
        free: Iterable[str] = (),
        fresh: bool = False,
    ) -> RunFolder:
        """Start a run in a new or empty folder, or go on with the same run in its own.

        A run that ended before its first checkpoint holds nothing that could be lost; another one takes its folder.

        Args:
            path: the folder; made if it is not there. Files that are not a run's are left alone.
            config: everything that decides the result, as plain values in nested mappings.
            fingerprint: hash of the input; see ``nefty.core.storage.hdf5.digest``.
            free: keys, with dots between levels (``"stop.seconds"``), that may differ when a run goes on.
            fresh: delete the run that the folder holds, whatever it is, and start over.

        Raises:
            InputError: the folder holds another run, or something that is not a run's.
            NeftyError: another process works in it, or it cannot be written.
        """
        path = Path(path)
        asked = {"format": FORMAT, "fingerprint": fingerprint, "config": plain("config", config), "finished": None}
        lock = take_folder(path)
        try:
            found = _read_record(path)
            other = [] if found is None else _differences(found, asked, set(free))
            if fresh or (other and not _work_in(path)):
                _clear(path)
                found, other = None, []
            if other:
                raise OtherRunError(
                    f"{path} holds another run: {'; '.join(other)}. Choose another folder, or start over with --fresh "
                    "(fresh=True), which deletes that run."
                )
            if found is not None:
                asked["finished"], asked["created"] = found["finished"], found["created"]
            elif left := _work_in(path):
                raise OtherRunError(
                    f"{path} holds {left[0]} but no {CONFIG} that says of which run; choose another folder, or start "
                    "over with --fresh (fresh=True), which deletes it."
                )
            asked.setdefault("created", _now())
            if asked != found:
                write_atomic(path / CONFIG, json.dumps(asked, indent=2) + "\n")
            for name in (CONFIG, CHECKPOINT, RESULT):
                for litter in path.glob(TEMPORARY.format(name=name)):
                    with contextlib.suppress(OSError):
                        litter.unlink()
            run = cls(path, asked, lock, resumed=found is not None)
            if not run.finished:
                run.log("resumed" if run.resumed else "started", process=os.getpid(), host=platform.node())
        except BaseException:
            os.close(lock)
            raise
        return run

    @property
    def result(self) -> Path:
        """Where the result is or will be."""
        return self.path / RESULT

    @property
    def finished(self) -> bool:
        """Whether the run was brought to its end and its result is there."""
        return self._record["finished"] is not None and self.result.exists()

    def log(self, event: str, /, **values: Any) -> None:
        """Append an event with its time to the log; a line that does not fit on the disk is taken back."""
        if taken := {"time", "event"} & values.keys():
            raise InputError(f"an event cannot have a value called {sorted(taken)[0]!r}; choose another name.")
        line = json.dumps({"time": _now(), "event": event, **plain(event, values)}) + "\n"
        path = self.path / EVENTS
        try:
            with open(path, "ab", buffering=0) as file:
                before = file.tell()
                try:
                    data = memoryview((line if _ends_a_line(path, before) else "\n" + line).encode())
                    while data:
                        data = data[file.write(data) :]
                except OSError:
                    file.truncate(before)
                    raise
        except OSError as error:
            raise cannot_write(path, error) from error

    def events(self) -> list[dict[str, Any]]:
        """What was logged so far, in this process and before."""
        return read_events(self.path)

    def checkpoint(self, state: Mapping[str, Any]) -> None:
        """Keep the state to go on from, in place of the one before; see ``write_hdf5`` for what it may hold."""
        content = {"run": self._identity(), "state": state}
        write_hdf5(self.path / CHECKPOINT, content, kind="checkpoint", compress=False)

    def load_checkpoint(self) -> dict[str, Any] | None:
        """The latest state, or ``None`` if there is none."""
        path = self.path / CHECKPOINT
        if not path.exists():
            return None
        try:
            content = read_hdf5(path, kind="checkpoint")
        except InputError as error:
            raise InputError(f"{error} Or start over with --fresh (fresh=True).") from error
        if content.get("run") != self._identity():
            raise InputError(f"{path} is of another run; start over with --fresh (fresh=True).")
        return content["state"]

    def save_result(self, content: Mapping[str, Any], *, kind: str = "result") -> Path:
        """Write the result, or the best so far of a run that can still go on."""
        return write_hdf5(self.result, content, kind=kind)

    def finish(self, content: Mapping[str, Any] | None = None, *, keep_checkpoint: bool = False, **values: Any) -> None:
        """Mark the run as finished.

        Args:
            content: the result; leave it out if ``result`` was written already.
            keep_checkpoint: do not delete the state, so that the run can be prolonged.
            **values: for the event ``finished`` in the log.
        """
        if content is not None:
            self.save_result(content)
        if not self.result.exists():
            raise NeftyError(f"{self.result} is not there; write the result before the run is marked as finished.")
        record = {**self._record, "finished": _now()}
        write_atomic(self.path / CONFIG, json.dumps(record, indent=2) + "\n")
        self._record = record
        self.log("finished", **values)
        with contextlib.suppress(OSError):
            (self.path / PROGRESS).unlink()
        if not keep_checkpoint:
            with contextlib.suppress(OSError):
                (self.path / CHECKPOINT).unlink()

    def close(self) -> None:
        """Let another process have the folder."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _identity(self) -> str:
        """The start of this run: the input and the moment, which ``fresh`` renews."""
        return digest(self.fingerprint, self._record["created"])


def holds_work(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a result, or a state to go on from."""
    return bool(_work_in(Path(path)))


def read_events(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The events of a run folder in order; a line that a killed process left half written is passed over."""
    try:
        lines = (Path(path) / EVENTS).read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict):
                found.append(event)
    return found


def _read_record(path: Path) -> dict[str, Any] | None:
    """What ``config.json`` says, or ``None`` if there is none."""
    file = path / CONFIG
    try:
        record: Any = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        record = None
    if not (isinstance(record, dict) and record.keys() >= RECORD and isinstance(record["config"], dict)):
        raise InputError(f"{file} is not the configuration of a nefty run; choose another folder, or move it away.")
    if record["format"] > FORMAT:
        raise InputError(f"{file} has format {record['format']}, this nefty knows {FORMAT}; install a newer nefty.")
    return record


def _work_in(path: Path) -> list[str]:
    """The files in a folder that hold what a run has done."""
    return [name for name in (CHECKPOINT, RESULT) if (path / name).exists()]


def _differences(found: dict[str, Any], asked: dict[str, Any], free: set[str]) -> list[str]:
    """In what the run that a folder holds is another than the one asked for, in words."""
    old, new = _flat(found["config"]), _flat(asked["config"])
    differing = [k for k in sorted(old.keys() | new.keys()) if k not in free and old.get(k) != new.get(k)]
    said = [f"{k} is {old.get(k, 'not set')} there and {new.get(k, 'not set')} now" for k in differing[:MOST_NAMED]]
    if len(differing) > MOST_NAMED:
        said.append(f"and {len(differing) - MOST_NAMED} more")
    if found["fingerprint"] != asked["fingerprint"]:
        said.append("its input (the recording or what is known about it) is another")
    return said


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Keys with dots between levels, and their values as JSON."""
    found: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            found |= _flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = json.dumps(value)
    return found


def _clear(path: Path) -> None:
    """Delete a run, the result first and the configuration last."""
    for name in (RESULT, CHECKPOINT, EVENTS, CONFIG):
        try:
            (path / name).unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(path / name, error) from error


def _ends_a_line(path: Path, length: int) -> bool:
    if length == 0:
        return True
    with open(path, "rb") as file:
        file.seek(length - 1)
        return file.read(1) == b"\n"


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
