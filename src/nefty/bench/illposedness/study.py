"""``nefty bench run illposedness``: what a recording tells about the inside of a part, and what it cannot.

Singular values of the derivative against the bound of the paper's proposition 1, sensitivity by depth, and parts that
look alike from outside. How the derivative is discretised stands in ``illposedness_spectrum``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from nefty.bench.illposedness.options import LAMP, QUICK, SIZE, Options
from nefty.bench.illposedness.pairs import Pair, pairs
from nefty.bench.illposedness.spectrum import (
    LayerResponses,
    Spectrum,
    dense_spectrum,
    fourier_spectrum,
    in_words,
    layer_responses,
)
from nefty.bench.solver.case import FLASH
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.grid import Grid
from nefty.core.tell import Tell, say_nothing

__all__ = ["QUICK", "Options", "run"]

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


def run(
    options: Options | None = None,
    *,
    shape: tuple[int, int, int] | None = None,
    frames: int | None = None,
    tell: Tell = say_nothing,
) -> Results:
    """Singular values against the bound, sensitivity by depth, and parts that look alike from outside.

    Args:
        options: what to compute; a run of a minute or two if not given.
        shape: in place of that of the options.
        frames: in place of those of the options.
        tell: hears the stages.
    """
    given = {"shape": shape, "frames": frames}
    options = replace(options or Options(), **{k: v for k, v in given.items() if v is not None})
    small, patterns, mean_free = dense_spectrum(options, tell)
    nz, ny, nx = options.fine
    spectra, responses = [small], None
    for cells in ((nz, ny, nx), (nz, ny // 2, nx // 2), (2 * nz, ny // 2, nx // 2)):
        tell("slab under a uniform flash", in_words(Grid(cells, SIZE)))
        found = layer_responses(cells, options)
        spectra.append(fourier_spectrum(found, options))
        responses = responses or found
    assert responses is not None
    depths = depth_rows(responses, options)
    alike = pairs(options, tell)
    fine = spectra[1]
    return Results(
        name="illposedness",
        title="What the surface tells about the inside",
        lead="Singular values of the derivative of the recording by the diffusivity, against the bound of the paper's "
        "proposition 1; sensitivity by depth; and parts with different insides and the same surface.",
        tables=[
            Table(f"Singular values: {small.title}", VALUES, _value_rows(small), "small", _VALUES_SHOW),
            Table(f"Singular values: {fine.title}", VALUES, _value_rows(fine), "fine", _VALUES_SHOW),
            Table(
                "How many numbers a recording tells",
                KNOWLEDGE,
                [_knowledge(s) for s in spectra],
                "numbers",
                "Independent patterns of diffusivity whose singular value (of B) is above a share of the largest; and "
                f"that the camera sees: with an RMS of {_percent(options.change)} of alpha over the part they move "
                f"the recording by more than noise of {_percent(options.noise)} of the peak does.",
            ),
            Table(
                "What it tells about strata",
                PROFILE,
                _profile_rows(responses),
                "strata",
                "Singular values for changes that are the same all over each layer: what the mean curve tells.",
            ),
            Table(
                "Sensitivity by depth",
                _depth_columns(options),
                depths,
                "depth",
                f"RMS over time of the surface's answer, in % of the peak, to a change of one layer by "
                f"{_percent(STEP)}: of the whole layer, or up and down along x with a wavelength. One cell: norm of "
                "its column of the Jacobian over the largest.",
            ),
            Table(
                "Different inside, alike outside",
                PAIRS,
                [pair.row(options.noise) for pair in alike],
                "pairs",
                "Surface differences in % of the peak, by the explicit simulator. Signal to noise, and how often the "
                "guess is right: of an observer who knows both parts exactly and only asks which one it is, with noise "
                f"of {_percent(options.noise)} in every pixel of every frame. A coin is right in 50 %.",
            ),
        ],
        notes=_notes(spectra, mean_free),
        settings={**asdict(options), "size": SIZE, "flash": asdict(FLASH), "uniform flash": asdict(LAMP)},
        details={
            "norms of B": {s.title: s.norm for s in spectra},
            "largest dK over bound": {s.title: float((s.smooth / s.bound).max()) for s in spectra},
            "largest mean-free dK over bound": mean_free,
            "singular values": {"surface": small.surface, "smooth": small.smooth, "bound": small.bound},
            "insides of the stacks": {n: a[:, 0, 0] for p in alike[2:] for n, a in zip(p.names, p.alpha, strict=True)},
        },
        sections=_sections(small, fine, patterns, depths, alike, options),
    )


_VALUES_SHOW = "Everything over ||B||. The bound is (1 + lambda_n)^(-1/2) over the modes that the grid resolves."


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
    answers = {f"wave_{w}": scale * np.sqrt((np.abs(of.blocks[0, w]) ** 2).mean(axis=0)) for w in _waves(of.grid.shape)}
    return [
        {"depth": float(z), "cell": float(norms[k] / norms.max()), **{w: float(v[k]) for w, v in answers.items()}}
        for k, z in enumerate(of.grid.centres()[0].ravel())
    ]


def _waves(shape: tuple[int, int, int]) -> list[int]:
    return [w for w in WAVES if w < shape[2] / 2]


def _wave_title(wave: int) -> str:
    return f"wavelength {SIZE[2] / wave:g}" if wave else "whole layer"


def _depth_columns(options: Options) -> list[Column]:
    waves = [Column(f"wave_{w}", f"{_wave_title(w)}, %", formats.short) for w in _waves(options.fine)]
    return [
        Column("depth", "depth", lambda v: f"{v:.3f}"),
        *waves,
        Column("cell", "one cell", lambda v: f"{v:.3f}"),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _notes(spectra: Sequence[Spectrum], mean_free: float) -> list[str]:
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


def _sections(
    small: Spectrum,
    fine: Spectrum,
    patterns: np.ndarray,
    depths: Sequence[dict[str, Any]],
    alike: Sequence[Pair],
    options: Options,
) -> list:
    from nefty.bench.tables import figures
    from nefty.report.pages.page import Section

    noise = f"camera noise, {_percent(options.noise)}"
    z = [row["depth"] for row in depths]
    answers = {_wave_title(w): (z, [row[f"wave_{w}"] for row in depths]) for w in _waves(options.fine)}
    return [
        Section(
            "Singular values of the small slab",
            f"{small.title}, {small.frames} frames; from a product with each column of the Jacobian. A point is a "
            "pattern of diffusivity; its height is how much of it arrives at the surface. Values of B below the dotted "
            f"line drown in noise of {_percent(options.noise)} even if alpha changes by {_percent(options.change)}.",
            good="dK below its bound everywhere: the proposition holds.",
            bad="dK above the bound: derivative, norms or eigenvalues are wrong.",
            do="Then run `nefty doctor`, which checks the derivatives.",
            figure=_spectrum_figure(small),
        ),
        Section(
            "Singular values of the paper's grid"
            if options.fine == Options.fine
            else "Singular values of a finer slab",
            f"{fine.title}, {fine.frames} frames; all singular values, lateral mode by lateral mode.",
            good="The same shape as above, with room for more lateral detail before the fall.",
            bad="A recording that falls earlier has too few pixels, too few early frames or too much noise.",
            do="What lies below the dotted line cannot come from the data: it comes from the prior. Read volumes so.",
            figure=_spectrum_figure(fine),
        ),
        Section(
            "Patterns, from seen to unseen",
            "Cuts through right singular vectors of B on the small slab, each where it is strongest.",
            good="Strong patterns are shallow and broad; weak ones are deep and change sign from layer to layer.",
            bad="Structure like the lower cuts in a reconstruction: it is not measured, it is invented or assumed.",
            do="Ask for it only with a strong prior, or record the back face too.",
            figure=_pattern_figure(small, patterns),
        ),
        Section(
            "How deep one sees",
            f"The surface's answer to a change of one layer of cells by {_percent(STEP)}, RMS over time: the whole "
            "layer, or stripes of a wavelength (the part is 1 thick).",
            good="Above the noise of one pixel in one frame: seen at a glance. A factor of ten below it: seen, because "
            "a recording averages over many pixels and frames.",
            bad="Stripes narrower than they are deep: their answer falls off ever faster.",
            do="Expect to find what is wider than it is deep; do not read small detail at depth.",
            figure=figures.curves_and_limits(
                answers,
                {noise: ([0.0, SIZE[0]], [100 * options.noise] * 2)},
                "depth",
                "answer, % of the peak",
                low=1e-4,
                log_x=False,
            ),
        ),
        *(_pair_section(pair, options) for pair in alike),
    ]


def _spectrum_figure(of: Spectrum) -> Any:
    from nefty.bench.tables.figures import curves_and_limits

    n = np.unique(np.geomspace(1, len(of.smooth), 160).round().astype(int))
    series = {k: (n, getattr(of, k)[n - 1] / of.norm) for k in ("smooth", "surface", "bound", "weyl")}
    return curves_and_limits(
        {"dK: H1 to L2": series["smooth"], "B: L2 to L2": series["surface"]},
        {
            "bound of dK": series["bound"],
            "Weyl, n^(-1/3)": series["weyl"],
            "B that noise hides": ([1, len(of.smooth)], [of.floor / of.norm] * 2),
        },
        "n",
        "singular value over ||B||",
        low=1e-8,
    )


def _pattern_figure(of: Spectrum, patterns: np.ndarray) -> Any:
    from nefty.report.figures.cuts import Cut, cut_rows
    from nefty.report.figures.style import DIFFERENCE

    share = of.surface / of.norm
    levels = np.log([1.0, 0.1, 1e-3, 1e-6])
    chosen = np.abs(np.log(share + 1e-300)[:, None] - levels).argmin(axis=0)
    cuts = []
    for n in dict.fromkeys(chosen.tolist()):
        pattern = patterns[n] / np.abs(patterns[n]).max()
        where = int(np.argmax((pattern**2).sum(axis=(0, 2))))
        cuts.append(Cut(f"pattern {n + 1:,}: 1/{1 / share[n]:,.0f} of the strongest", pattern[:, where]))
    return cut_rows(cuts, (SIZE[0], SIZE[2]), DIFFERENCE, "change")


def _pair_section(pair: Pair, options: Options) -> Any:
    from nefty.bench.tables.figures import Panel, alike
    from nefty.report.pages.page import Section

    row, apart = pair.row(options.noise), pair.difference
    t, y, x = (int(i) for i in np.unravel_index(int(np.abs(apart).argmax()), apart.shape))
    cut = int(np.argmax(np.abs(np.log(pair.alpha[1] / pair.alpha[0])).sum(axis=(0, 2))))
    one, other = pair.frames
    decay = Panel("time", pair.times, one[:, y, x], other[:, y, x], apart[:, y, x])
    if one.shape[2] > 1:
        across = (np.arange(one.shape[2]) + 0.5) * SIZE[2] / one.shape[2]
        beside = Panel("x", across, one[t, cut], other[t, cut], apart[t, cut])
        where = f"along x at t = {pair.times[t]:.3g}, and over time where they differ most"
    else:
        early = slice(max(len(pair.times) // 5, 2))
        beside = Panel("time", *(v[early] for v in (decay.x, decay.first, decay.second, decay.apart)))
        where = "over time, on the left the beginning"
    return Section(
        f"{pair.title[0].upper()}{pair.title[1:]}",
        f"Two insides cut open, and their surfaces on top of each other: {where}. Below, the difference; the band is "
        f"noise of {_percent(options.noise)}. It is {row['largest']:.2g} % of the peak at most; signal to noise of all "
        f"values together {row['together']:.1f}. The same change shows {row['shows']}.",
        good="Two different cuts, one curve: this recording does not tell the parts apart.",
        bad="A difference near the band: it can be told by averaging, if all else about the part is known exactly.",
        do="Look from the other side too, heat elsewhere or differently, or say that this depth is not known.",
        figure=alike(pair.names, [a[:, cut] for a in pair.alpha], (SIZE[0], SIZE[2]), (beside, decay), options.noise),
    )
