"""What is said of a reconstruction that is compared with the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Judged:
    """Marks and facts of one reconstruction.

    Args:
        scores: metrics by name; ``None`` where one is not defined. See ``docs/metrics.md``.
        facts: of a specimen: ``defects``, ``strata``, ``defects_found``, ``top_errors`` (of the depths to the tops of
            the found defects, in cells, against the truth in the same cells), ``geometry_errors`` (the same against the
            specimen's geometry, which lies on no cells), ``bulk_error`` (relative), ``trial`` (each defect as parts of
            the test bed are judged). Of a plate: ``holes``, ``notes``.
        spectrum: ``frequency``, ``found`` and ``true`` power.
        maps: images (y, x) by name.
    """

    scores: dict[str, float | None]
    facts: dict[str, Any] = field(default_factory=dict)
    spectrum: dict[str, np.ndarray] = field(default_factory=dict)
    maps: dict[str, np.ndarray] = field(default_factory=dict)
