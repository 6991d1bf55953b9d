"""The section of the report that shows where the result is sure: probability and spread of each cell."""

from __future__ import annotations

import numpy as np

from nefty.core.words import counted
from nefty.report.figures import AxisUnits, Scale, Stack, stack_slider
from nefty.report.figures.images import coarseness, most_images
from nefty.report.figures.style import axis_title
from nefty.report.pages.findings import Findings
from nefty.report.pages.page import Section
from nefty.result.ensemble import Ensemble

PROBABILITY = Scale("Viridis", from_zero=True)
SPREAD = Scale("Magma", from_zero=True)
LEAST_SPREAD = 0.05  # of ln alpha, at which the colours end at least


def section(findings: Findings, units: AxisUnits) -> Section | None:
    """Probability and spread, slice by slice; ``None`` without an ensemble."""
    ensemble, probability = findings.rec.ensemble, findings.rec.probability
    if ensemble is None or probability is None:
        return None
    grid = findings.rec.grid
    layers = np.arange(0, grid.shape[0], -(-grid.shape[0] // most_images(grid.shape[1:])))
    outline = findings.footprint if findings.footprint.any() else None
    highest = max(float(np.quantile(ensemble.spread, 0.999)), LEAST_SPREAD)
    stacks = [
        Stack("Probability", smaller(probability[layers]), PROBABILITY, "probability", outline, (0.0, 1.0)),
        Stack("Spread", smaller(ensemble.spread[layers]), SPREAD, "of ln α", outline, (0.0, highest)),
    ]
    busiest = int(probability[layers].sum(axis=(1, 2)).argmax())
    return Section(
        title="How sure, slice by slice",
        shows=(
            f"{refitted(ensemble)} Left: the probability that a cell is anomalous, by the share of refits in which it "
            "is. Right: the standard deviation of the logarithm of its diffusivity over the refits. The thin line is "
            "the outline of all indications. Move the slider to go deeper."
        ),
        figure=stack_slider(
            stacks,
            [f"{z:.3g}" for z in (layers + 0.5) * grid.spacing[0]],
            axis_title("depth", units.length),
            grid.size[1:],
            units,
            start=busiest,
        ),
        good="Bright inside the indications, dark elsewhere, with narrow edges; a sheet between two layers of cells "
        "shows half as bright in both.",
        bad="Pale indications, or a wide halo: depth or outline are poorly determined.",
        do="Rely first on the 90 % intervals, if the table has them: they are based on counts. The ensemble shows "
        "which indications, and which edges, are less certain than others.",
    )


def refitted(ensemble: Ensemble) -> str:
    """What the ensemble is, in words."""
    asked = "" if ensemble.whole else f" of {ensemble.asked}"
    return (
        f"The recording was refitted {ensemble.members}{asked} times, with different noise, with model errors as "
        "large as those left by the first fit, and with facts that are off by as much as users typically are."
        + (f" {counted(ensemble.failed, 'refit').capitalize()} failed." if ensemble.failed else "")
    )


def smaller(stack: np.ndarray) -> np.ndarray:
    """Images (n, y, x), averaged over blocks if they are large."""
    factor = coarseness(stack.shape[1:])
    if factor == 1:
        return stack
    down, across = (min(factor, n) for n in stack.shape[1:])  # a line of pixels stays one
    y, x = stack.shape[1] // down, stack.shape[2] // across
    return stack[:, : y * down, : x * across].reshape(len(stack), y, down, x, across).mean(axis=(2, 4))
