"""The files of a run that people open: found, written, shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nefty.core import terminal_text

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

REPORT, DEFECTS, VOLUME = "report.html", "defects.csv", "volume.vti"
DERIVED = {
    REPORT: "open it in a browser",
    DEFECTS: "the table of indications",
    "cscan-depth.png": "pictures for other documents: depth,",
    "cscan-contrast.png": "thermal contrast,",
    "cscan-diffusivity.png": "missing diffusivity",
    VOLUME: "opens in ParaView",
}


def load_result(path: Path) -> Reconstruction:
    """Read the result of a run, given its folder or the file itself."""
    from nefty.core.errors import InputError
    from nefty.core.storage.run_folder import CONFIG, RESULT
    from nefty.result.reconstruction import Reconstruction

    if not path.exists():
        raise InputError(f"there is no run or result {path}; make one with nefty reconstruct.")
    if path.is_dir() and not (path / RESULT).exists():
        state = (
            "has no result yet; run the command that started it again to resume"
            if (path / CONFIG).exists()
            else "is no run"
        )
        raise InputError(f"{path} {state}.")
    return Reconstruction.load(path)


def write_run(rec: Reconstruction, folder: Path) -> None:
    """Write the result and everything that is made of it."""
    rec.save(folder)
    write_files(rec, folder)


def write_files(rec: Reconstruction, folder: Path) -> None:
    """Write the report, the table, the pictures and the volume."""
    from nefty.report.pictures.cscan import write_cscans

    rec.report(folder / REPORT)
    rec.export(folder / DEFECTS)
    write_cscans(rec, folder)
    rec.export(folder / VOLUME)


def are_written(folder: Path) -> bool:
    """Whether all files are there, and no older than the result."""
    from nefty.core.storage.run_folder import RESULT

    files = [folder / name for name in DERIVED]
    return all(f.exists() and f.stat().st_mtime >= (folder / RESULT).stat().st_mtime for f in files)


def remove_files(folder: Path) -> None:
    """Delete the report, the table, the pictures and the volume of an earlier run."""
    from nefty.core.storage.files import cannot_write

    for name in DERIVED:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(folder / name, error) from error


def listed(folder: Path) -> str:
    """Where the files are, one line each."""
    from nefty.core.storage.run_folder import RESULT

    what = {**DERIVED, RESULT: "everything, for nefty report, nefty evaluate and nefty.Reconstruction.load"}
    return terminal_text.listed({str(folder / name): words for name, words in what.items()})


def open_in_browser(page: Path) -> None:
    """Show a page."""
    import webbrowser

    webbrowser.open(page.resolve().as_uri())
