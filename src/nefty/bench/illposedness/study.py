"""``nefty bench run illposedness``: what a recording shows of the inside of a part, and what it cannot.

Singular values of the derivative against the bound of the paper's proposition 1, sensitivity by depth, and parts that
look alike from outside. How the derivative is discretised stands in ``spectrum``.
"""

from __future__ import annotations

from dataclasses import asdict, replace

from nefty.bench.illposedness.options import LAMP, SIZE, Options
from nefty.bench.illposedness.pairs import pairs
from nefty.bench.illposedness.spectrum import (
    LayerResponses,
    Spectrum,
    dense_spectrum,
    fourier_spectrum,
    in_words,
    layer_responses,
)
from nefty.bench.illposedness.tables import study_notes, study_tables
from nefty.bench.solver.case import FLASH
from nefty.bench.tables.results import Results
from nefty.core.grid import Grid
from nefty.core.tell import Tell, say_nothing


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
    from nefty.bench.illposedness.figures import study_sections

    given = {"shape": shape, "frames": frames}
    options = replace(options or Options(), **{k: v for k, v in given.items() if v is not None})
    small, patterns, mean_free = dense_spectrum(options, tell)
    responses, under_lamp = _under_a_lamp(options, tell)
    spectra = [small, *under_lamp]
    alike = pairs(options, tell)
    return Results(
        name="illposedness",
        title="What the surface shows of the inside",
        lead="Singular values of the derivative of the recording by the diffusivity, against the bound of the paper's "
        "proposition 1; sensitivity by depth; and parts with different insides and the same surface.",
        tables=study_tables(spectra, responses, alike, options),
        notes=study_notes(spectra, mean_free),
        settings={**asdict(options), "size": SIZE, "flash": asdict(FLASH), "uniform flash": asdict(LAMP)},
        details={
            "norms of B": {s.title: s.norm for s in spectra},
            "largest dK over bound": {s.title: float((s.smooth / s.bound).max()) for s in spectra},
            "largest mean-free dK over bound": mean_free,
            "singular values": {"surface": small.surface, "smooth": small.smooth, "bound": small.bound},
            "insides of the stacks": {n: a[:, 0, 0] for p in alike[2:] for n, a in zip(p.names, p.alpha, strict=True)},
        },
        sections=study_sections(small, under_lamp[0], patterns, responses, alike, options),
    )


def _under_a_lamp(options: Options, tell: Tell) -> tuple[LayerResponses, list[Spectrum]]:
    """Answers of the fine slab's layers; and spectra of it, of one with fewer pixels, and of that with more layers."""
    nz, ny, nx = options.fine
    first, spectra = None, []
    for cells in ((nz, ny, nx), (nz, ny // 2, nx // 2), (2 * nz, ny // 2, nx // 2)):
        tell("slab under a uniform flash", in_words(Grid(cells, SIZE)))
        found = layer_responses(cells, options)
        first = first or found
        spectra.append(fourier_spectrum(found, options))
    assert first is not None
    return first, spectra
