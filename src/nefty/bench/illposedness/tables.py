"""What the study of ill-posedness found, as tables and notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nefty.bench.illposedness.options import SIZE, Options
from nefty.bench.illposedness.pairs import Pair
from nefty.bench.illposedness.spectrum import LayerResponses, Spectrum
from nefty.bench.tables import formats
from nefty.bench.tables.table import Column, Table

LEVELS = (1e-2, 1e-3, 1e-4)  # of the largest singular value
WAVES = (0, 5, 10, 20)  # how often a lateral pattern repeats along the slab
STEP = 0.1  # change of a layer's diffusivity in the table by depth

VALUES = (
    Column("n", "n", formats.whole),
    Column("smooth", "dK, H1 to L2", formats.error),
    Column("bound", "bound", formats.error),
    Column("ratio", "dK / bound", formats.error),
    Column("weyl", "Weyl, n^(-1/3)", formats.error),
    Column("surface", "B, L2 to L2", formats.error),
)
KNOWLEDGE = (
    Column("title", "slab"),
    Column("cells", "unknowns", formats.whole),
    Column("values", "values recorded", formats.whole),
    *(Column(f"above_{i}", f"above {level:g}", formats.whole) for i, level in enumerate(LEVELS)),
    Column("seen", "seen by the camera", formats.whole),
    Column("per_pixel", "seen, per pixel", lambda v: f"{v:.1f}"),
    Column("slope", "dK falls like n^", lambda v: f"{v:.2f}"),
    Column("bound_slope", "the bound like n^", lambda v: f"{v:.2f}"),
)
PROFILE = (
    Column("n", "n", formats.whole),
    Column("value", "singular value over the largest", formats.error),
    Column("step", "over the one before", lambda v: formats.DASH if v is None else f"{v:.2f}"),
)
PAIRS = (
    Column("title", "pair"),
    Column("differ", "cells that differ", lambda v: f"{100 * v:.1f} %"),
    Column("factor", "there by a factor of", formats.short),
    Column("relative", "difference of the insides", lambda v: f"{100 * v:.0f} %"),
    Column("largest", "largest surface difference", lambda v: f"{v:.2g} %"),
    Column("rms", "RMS", lambda v: f"{v:.2g} %"),
    Column("together", "signal to noise of all values together", lambda v: f"{v:.1f}"),
    Column("right", "best guess right", lambda v: f"{100 * v:.0f} %"),
    Column("shows", "the same change shows"),
)


_VALUES_SHOW = "Everything over ||B||. The bound is (1 + lambda_n)^(-1/2) over the modes that the grid resolves."


def study_tables(
    spectra: Sequence[Spectrum], responses: LayerResponses, alike: Sequence[Pair], options: Options
) -> list[Table]:
    """All of them; the first spectrum is that of the small slab, the second that of the fine one."""
    return [
        *(
            Table(f"Singular values: {of.title}", VALUES, _value_rows(of), name, _VALUES_SHOW)
            for name, of in zip(("small", "fine"), spectra, strict=False)
        ),
        _knowledge_table(spectra, options),
        Table(
            "What it shows of strata",
            PROFILE,
            _profile_rows(responses),
            "strata",
            "Singular values for changes that are the same all over each layer: what the mean curve shows.",
        ),
        _depth_table(responses, options),
        _pair_table(alike, options),
    ]


def _knowledge_table(spectra: Sequence[Spectrum], options: Options) -> Table:
    return Table(
        "How many numbers a recording holds",
        KNOWLEDGE,
        [_knowledge(s) for s in spectra],
        "numbers",
        "Independent patterns of diffusivity whose singular value (of B) is above a share of the largest; and "
        f"that the camera sees: with an RMS of {percent(options.change)} of alpha over the part they move "
        f"the recording by more than noise of {percent(options.noise)} of the peak does.",
    )


def _depth_table(responses: LayerResponses, options: Options) -> Table:
    return Table(
        "Sensitivity by depth",
        _depth_columns(options),
        depth_rows(responses, options),
        "depth",
        f"RMS over time of the surface's answer, in % of the peak, to a change of one layer by "
        f"{percent(STEP)}: of the whole layer, or up and down along x with a wavelength. One cell: norm of "
        "its column of the Jacobian over the largest.",
    )


def _pair_table(alike: Sequence[Pair], options: Options) -> Table:
    return Table(
        "Different inside, alike outside",
        PAIRS,
        [pair.row(options.noise) for pair in alike],
        "pairs",
        "Surface differences in % of the peak, by the explicit simulator. Signal to noise, and how often the "
        "guess is right: of an observer who knows both parts exactly and only asks which one it is, with noise "
        f"of {percent(options.noise)} in every pixel of every frame. A coin is right in 50 %.",
    )


def _value_rows(of: Spectrum) -> list[dict[str, Any]]:
    steps = [m * 10**d for d in range(6) for m in (1, 2, 5)]
    return [
        {
            "n": n,
            **{k: float(getattr(of, k)[n - 1] / of.norm) for k in ("smooth", "bound", "weyl", "surface")},
            "ratio": float(of.smooth[n - 1] / of.bound[n - 1]),
        }
        for n in steps
        if n <= len(of.smooth)
    ]


def _knowledge(of: Spectrum) -> dict[str, Any]:
    return {
        "title": of.title,
        "cells": of.grid.cells,
        "values": of.frames * of.pixels,
        **{f"above_{i}": of.above(level * of.norm) for i, level in enumerate(LEVELS)},
        "seen": of.above(of.floor),
        "per_pixel": of.above(of.floor) / of.pixels,
        "slope": of.slope(of.smooth),
        "bound_slope": of.slope(of.bound),
    }


def _profile_rows(of: LayerResponses) -> list[dict[str, Any]]:
    values = np.linalg.svd(of.blocks[0, 0].real, compute_uv=False)
    kept = values[values > 1e-12 * values[0]]
    steps = [None, *(kept[1:] / kept[:-1]).tolist()]
    return [
        {"n": n, "value": float(v / values[0]), "step": s} for n, (v, s) in enumerate(zip(kept, steps, strict=True), 1)
    ]


def depth_rows(of: LayerResponses, options: Options) -> list[dict[str, Any]]:
    """For each layer its depth, the norm of one cell's column, and the answers to ``WAVES`` in % of the peak."""
    norms = np.sqrt((of.cell**2).sum(axis=(1, 2, 3)))
    scale = 100 * STEP * options.alpha / of.frames.max()
    answers = {f"wave_{w}": scale * np.sqrt((np.abs(of.blocks[0, w]) ** 2).mean(axis=0)) for w in waves(of.grid.shape)}
    return [
        {"depth": float(z), "cell": float(norms[k] / norms.max()), **{w: float(v[k]) for w, v in answers.items()}}
        for k, z in enumerate(of.grid.centres()[0].ravel())
    ]


def waves(shape: tuple[int, int, int]) -> list[int]:
    """Those of ``WAVES`` that the pixels of a slab resolve."""
    return [w for w in WAVES if w < shape[2] / 2]


def wave_title(wave: int) -> str:
    """A lateral pattern by its wavelength."""
    return f"wavelength {SIZE[2] / wave:g}" if wave else "whole layer"


def _depth_columns(options: Options) -> list[Column]:
    patterns = [Column(f"wave_{w}", f"{wave_title(w)}, %", formats.short) for w in waves(options.fine)]
    return [
        Column("depth", "depth", lambda v: f"{v:.3f}"),
        *patterns,
        Column("cell", "one cell", lambda v: f"{v:.3f}"),
    ]


def percent(share: float) -> str:
    """``"0.1 %"``."""
    return f"{100 * share:g} %"


def study_notes(spectra: Sequence[Spectrum], mean_free: float) -> list[str]:
    """What a reader has to know; ``mean_free`` is how near patterns without a mean come to their bound."""
    nearest = max(float((s.smooth / s.bound).max()) for s in spectra)
    fine = spectra[1]
    decades = np.log10(LEVELS[0] / LEVELS[-1])
    further = (fine.above(LEVELS[-1] * fine.norm) - fine.above(LEVELS[0] * fine.norm)) / decades / fine.pixels
    return [
        f"The bound holds on every slab: the largest dK / bound is {nearest:.2f}. For patterns without a mean and the "
        f"norm ||grad|| (the paper's remark 1) it is {mean_free:.2f} on the small slab.",
        "The bound is far from sharp: it treats every mode alike, but the surface sees fine detail only where it is "
        f"shallow. As long as that lasts, the values of dK fall like a power, n^({fine.slope(fine.smooth):.2f}), where "
        f"the bound falls like n^({fine.slope(fine.bound):.2f}) (fitted from a sixteenth to a quarter of the pixels). "
        f"Then they fall exponentially: from {LEVELS[0]:g} to {LEVELS[-1]:g} of the largest there are {further:.2g} "
        "patterns per pixel for each factor of ten. In depth alone, the table of strata, it is faster than that.",
        "More layers of cells therefore bring next to no new numbers, more pixels do.",
        "Under a uniform flash the Jacobian is block circulant: one product per layer and a Fourier transform give all "
        "singular values of the paper's grid. The Gaussian flash needs one product per cell; hence the small slab.",
        "Eigenvalues are those of the slab, not of finite differences; on so thin a slab Weyl's n^(-1/3) starts where "
        "the first mode in depth fits, n of about 100. Values below 1e-13 of the largest are rounding.",
        "At a constant background log(alpha) has the same singular values, times alpha.",
    ]
