"""Parts of the test bed as the data of a suite."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nefty.bench.parts.recording import TrialPart
from nefty.core.configuration import Part
from nefty.core.seeds import parse_seeds


class Parts(Part):
    """Parts drawn by seed; see ``nefty.synth.parts``.

    title: for tables. kinds: "drawn", of which a third is sound; "sound", all of them; "flawed", none. seeds: a range
    such as "0:60", or numbers separated by commas. pixels: along each side of the frame; drawn if not given. root: the
    folder in which parts are simulated once; that of the suite's results if not given.
    """

    title: str = "parts"
    kinds: tuple[Literal["drawn", "sound", "flawed"], ...] = Field(default=("drawn",), min_length=1)
    seeds: str = "0:60"
    pixels: Annotated[int, Field(ge=16)] | None = None
    root: str = ""

    def specimens(self, seeds: str | None = None) -> list[tuple[str, int]]:
        """Kind and seed of every one, of other seeds where they are given."""
        return [(kind, seed) for kind in self.kinds for seed in parse_seeds(seeds or self.seeds)]

    def recording(self, kind: str, seed: int) -> TrialPart:
        """What of it decides the data."""
        return TrialPart(self.pixels, self.root)
