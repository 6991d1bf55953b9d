"""Results of runs, loaded when they are shown; the last few are kept."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from nefty.core.storage.run_folder import RESULT
from nefty.report.figures.style import AxisUnits, units_of
from nefty.report.pages.findings import Findings
from nefty.report.run_files import load_result
from nefty.result.display_units import in_display_units
from nefty.result.reconstruction import Reconstruction

KEPT = 3


@dataclass(frozen=True, eq=False)
class Shown:
    """A result as pages show it.

    Args:
        given: as it was saved.
        findings: of it in the units that people read.
        units: words for the axes.
    """

    given: Reconstruction
    findings: Findings
    units: AxisUnits


class Results:
    """The last results that were looked at; they are small, but working out their indications takes a second."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, int], Shown] = OrderedDict()

    def of(self, folder: Path) -> Shown:
        """The result in a run's folder, or the best so far; slow the first time, so call it in a thread."""
        key = (folder, (folder / RESULT).stat().st_mtime_ns if (folder / RESULT).exists() else 0)
        if key not in self._kept:
            rec = load_result(folder)
            shown = in_display_units(rec)
            findings = Findings(shown)
            _ = findings.pairs, findings.evidence, findings.mask, findings.ratio  # worked out here, not in the page
            self._kept[key] = Shown(rec, findings, units_of(shown))
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]
