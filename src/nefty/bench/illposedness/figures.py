"""What the study of ill-posedness found, as figures, each with how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nefty.bench.illposedness.options import SIZE, Options
from nefty.bench.illposedness.pairs import Pair
from nefty.bench.illposedness.spectrum import LayerResponses, Spectrum
from nefty.bench.illposedness.tables import STEP, depth_rows, percent, wave_title, waves
from nefty.bench.tables.figures import Panel, alike, curves_and_limits
from nefty.report.figures.cuts import Cut, cut_rows
from nefty.report.figures.style import DIFFERENCE
from nefty.report.pages.page import Section


def study_sections(
    small: Spectrum,
    fine: Spectrum,
    patterns: np.ndarray,
    responses: LayerResponses,
    parts: Sequence[Pair],
    options: Options,
) -> list[Section]:
    """All of them; ``patterns`` are right singular vectors (n, z, y, x) of the small slab."""
    return [
        *_spectra(small, fine, options),
        Section(
            "Patterns, from seen to unseen",
            "Cuts through right singular vectors of B on the small slab, each where it is strongest.",
            good="Strong patterns are shallow and broad; weak ones are deep and change sign from layer to layer.",
            bad="Structure like the lower cuts in a reconstruction: it is not measured, it is invented or assumed.",
            do="Ask for it only with a strong prior, or record the back face too.",
            figure=_pattern_figure(small, patterns),
        ),
        _depths(responses, options),
        *(_pair_section(pair, options) for pair in parts),
    ]


def _spectra(small: Spectrum, fine: Spectrum, options: Options) -> list[Section]:
    return [
        Section(
            "Singular values of the small slab",
            f"{small.title}, {small.frames} frames; from a product with each column of the Jacobian. A point is a "
            "pattern of diffusivity; its height is how much of it arrives at the surface. Values of B below the dotted "
            f"line drown in noise of {percent(options.noise)} even if alpha changes by {percent(options.change)}.",
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
    ]


def _depths(responses: LayerResponses, options: Options) -> Section:
    rows = depth_rows(responses, options)
    z = [row["depth"] for row in rows]
    answers = {wave_title(w): (z, [row[f"wave_{w}"] for row in rows]) for w in waves(options.fine)}
    noise = {f"camera noise, {percent(options.noise)}": ([0.0, SIZE[0]], [100 * options.noise] * 2)}
    return Section(
        "How deep one sees",
        f"The surface's answer to a change of one layer of cells by {percent(STEP)}, RMS over time: the whole "
        "layer, or stripes of a wavelength (the part is 1 thick).",
        good="Above the noise of one pixel in one frame: seen at a glance. A factor of ten below it: seen, because "
        "a recording averages over many pixels and frames.",
        bad="Stripes narrower than they are deep: their answer falls off ever faster.",
        do="Expect to find what is wider than it is deep; do not read small detail at depth.",
        figure=curves_and_limits(answers, noise, "depth", "answer, % of the peak", low=1e-4, log_x=False),
    )


def _spectrum_figure(of: Spectrum) -> Any:
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
    share = of.surface / of.norm
    levels = np.log([1.0, 0.1, 1e-3, 1e-6])
    chosen = np.abs(np.log(share + 1e-300)[:, None] - levels).argmin(axis=0)
    cuts = []
    for n in dict.fromkeys(chosen.tolist()):
        pattern = patterns[n] / np.abs(patterns[n]).max()
        where = int(np.argmax((pattern**2).sum(axis=(0, 2))))
        cuts.append(Cut(f"pattern {n + 1:,}: 1/{1 / share[n]:,.0f} of the strongest", pattern[:, where]))
    return cut_rows(cuts, (SIZE[0], SIZE[2]), DIFFERENCE, "change")


def _pair_section(pair: Pair, options: Options) -> Section:
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
        f"noise of {percent(options.noise)}. It is {row['largest']:.2g} % of the peak at most; signal to noise of all "
        f"values together {row['together']:.1f}. The same change shows {row['shows']}.",
        good="Two different cuts, one curve: this recording cannot distinguish the parts.",
        bad="A difference near the band: averaging can show it, if all else about the part is known exactly.",
        do="Look from the other side too, heat elsewhere or differently, or say that this depth is not known.",
        figure=alike(pair.names, [a[:, cut] for a in pair.alpha], (SIZE[0], SIZE[2]), (beside, decay), options.noise),
    )
