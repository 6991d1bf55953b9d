"""``inspection.toml``: the record of an inspection as a file, found beside a recording or given by ``--record``.

As with facts there may be two, and the recording's own wins: ``inspection.toml`` of the folder (or the one that is
given) says what all recordings have in common, ``plate7.inspection.toml`` the serial number of plate 7.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nefty.core.configuration import explain, read_toml
from nefty.core.errors import InputError
from nefty.data.record.record import InspectionRecord

COMMON = "inspection.toml"


def find_record(recording: Path, given: Any = None) -> tuple[InspectionRecord | None, tuple[str, ...]]:
    """The record of a recording, and in words where it comes from; ``None`` if there is none.

    Args:
        recording: the file, or the folder of frames.
        given: the common file as the user named it; ``inspection.toml`` in the recording's folder if not given.
    """
    values: dict[str, Any] = {}
    said = []
    for path, beside in _files(recording, given):
        values |= _read(path)
        said.append(f"Record of the inspection: {path.name}{', which lies beside the recording' if beside else ''}.")
    return (_checked(values, "the record") if said else None), tuple(said)


def read_record(path: str | Path) -> InspectionRecord:
    """The record that a file holds.

    Raises:
        InputError: it is no TOML, has a key that is unknown (the nearest one is named) or a value that does not fit.
    """
    return _checked(_read(Path(path)), f"the record {path}")


def own_record(recording: Path) -> Path:
    """``plate.inspection.toml`` of ``plate.tif``, whether it is there or not."""
    named = recording.resolve() if recording.is_dir() else recording
    return named.with_name(f"{named.name if recording.is_dir() else named.stem}.{COMMON}")


def _files(recording: Path, given: Any) -> list[tuple[Path, bool]]:
    """Paths, the common one first, and whether each was found and not named."""
    common, own = recording.parent / COMMON if given is None else Path(given), own_record(recording)
    found = [(common, given is None)] if given is not None or common.is_file() else []
    if own.is_file() and not (found and own.samefile(common)):
        found.append((own, True))
    return found


def _read(path: Path) -> dict[str, Any]:
    """The values of a file, each checked; the folder of the reference's run as a whole path."""
    values = read_toml(path, "record of the inspection")
    run = _checked(values, f"the record {path}").reference_run
    return {**values, "reference_run": str((path.parent / run).resolve())} if run else values


def _checked(values: dict[str, Any], where: str) -> InspectionRecord:
    try:
        return InspectionRecord.model_validate(values)
    except ValidationError as error:
        text = explain(error, InspectionRecord).replace("Value error, ", "").replace("..", ".")
        raise InputError(f"{where}: {text}") from None
