"""The part of ``support.parts`` with evidence: one sheet that is called, one that just missed, one that is nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from nefty.physics.materials import Material
from nefty.result.ensemble import Ensemble
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence
from nefty.result.reconstruction import Reconstruction
from support.parts import BULK, COLUMNS, FACTS, GRID, LAYERS, ROWS, planted

RHO, CP = 1600.0, 900.0
GAP = 50e-6  # of air, that the sheet that is called is worth
RESISTANCE = GAP / 0.026 * RHO * CP  # s/m
MATERIAL = Material(name="cfrp", alpha_z=BULK, alpha_y=BULK, alpha_x=BULK, rho=RHO, cp=CP)
CALLED = RegionEvidence(score=21.0, depth=0.61e-3, resistance=RESISTANCE, insulation=0.6)
NEARLY = RegionEvidence(score=4.8, depth=0.32e-3, resistance=RESISTANCE / 10, insulation=0.1)
NOTHING = RegionEvidence(score=1.0, depth=0.9e-3, resistance=RESISTANCE / 20, insulation=0.05)


def evidence(*regions: RegionEvidence, **changes: Any) -> FrameEvidence:
    """Of up to three regions; the first lies where the part has its defect."""
    places = [(ROWS, COLUMNS), (slice(4, 8), slice(30, 36)), (slice(1, 3), slice(3, 5))]
    labels = np.zeros(GRID.shape[1:], dtype=np.int32)
    score_map = np.full(GRID.shape[1:], 0.5)
    for number, (region, place) in enumerate(zip(regions, places, strict=False), 1):
        labels[place] = number
        score_map[place] = region.score
    values: dict[str, Any] = {"threshold": 5.2, "false_calls": 0.05, "score_map": score_map, "coldest": 3.0}
    return FrameEvidence(labels, regions, **(values | changes))


def weighed(*regions: RegionEvidence, **changes: Any) -> Reconstruction:
    """The planted part with evidence; of all three regions if none is named."""
    values: dict[str, Any] = {
        "frame_evidence": evidence(*(regions or (CALLED, NEARLY, NOTHING))),
        "recipe": {"name": "real", "rule": "evidence"},
        "facts": FACTS.replaced(material=MATERIAL),
    }
    return planted(**(values | changes))


def refits(*, asked: int = 4, failed: int = 0) -> Ensemble:
    """Of the one indication that is called: four members, sure of its middle and less of what is around it."""
    probability = np.zeros(GRID.shape, dtype=np.float32)
    probability[LAYERS.start - 1 : LAYERS.stop + 1, 15:26, 4:19] = 0.1
    probability[LAYERS, ROWS, COLUMNS] = 0.9
    depth = np.array([[0.59e-3], [0.60e-3], [0.62e-3], [0.63e-3]])
    return Ensemble(
        asked=asked,
        probability=probability,
        spread=0.2 * probability,
        depth=depth,
        diameter=3 * depth,
        resistance=RESISTANCE * np.array([[0.9], [1.0], [1.0], [1.1]]),
        volume=np.full(4, 1e-9),
        failed=failed,
    )
