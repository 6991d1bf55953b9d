"""Every classical technique of thermography by name, for the command line and benchmarks."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nefty.core.errors import InputError, unknown_name
from nefty.data.sequence import Sequence


@dataclass(frozen=True)
class Technique:
    """A classical method with the options that make it this one.

    Args:
        name: what one types.
        title: what tables say.
        where: ``"module:function"`` in this package.
        depth: whether it gives a depth, ``result.estimate()``, for which it needs alpha.
        options: keyword arguments that differ from the function's defaults; ``"@module:name"`` stands for an object
            of this package, a class for an instance of it.
        paper: the row of the paper's tables that it is compared with.
        note: what a reader of the table has to know.
    """

    name: str
    title: str
    where: str
    depth: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    paper: str | None = None
    note: str = ""

    def known_options(self) -> tuple[str, ...]:
        """The keyword arguments that one may give."""
        return tuple(p.name for p in self._parameters() if p.kind is p.KEYWORD_ONLY)

    def run(self, sequence: Sequence, alpha: float | None = None, **options: Any) -> Any:
        """Apply it; ``alpha`` is the diffusivity through the thickness."""
        for name in options:
            if name not in self.known_options():
                raise unknown_name(f"option of {self.name}", name, self.known_options())
        fixed = {key: _object(value) for key, value in self.options.items()}
        if not any(p.name == "alpha" for p in self._parameters()):
            return self._function()(sequence, **{**fixed, **options})
        if alpha is None:
            raise InputError(
                f"{self.title} finds depths with the diffusivity through the thickness; give alpha "
                "(on the command line: give --alpha), in length^2/time of the recording."
            )
        return self._function()(sequence, alpha, **{**fixed, **options})

    def _function(self) -> Any:
        module, function = self.where.split(":")
        return getattr(importlib.import_module(f"nefty.classical.{module}"), function)

    def _parameters(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self._function()).parameters.values())


def _object(value: Any) -> Any:
    """What an option stands for."""
    if not (isinstance(value, str) and value.startswith("@")):
        return value
    module, name = value[1:].split(":")
    found = getattr(importlib.import_module(f"nefty.classical.{module}"), name)
    return found() if inspect.isclass(found) else found


TECHNIQUES = {
    t.name: t
    for t in (
        Technique("tsr", "TSR", "tsr:tsr", note="sqrt(pi alpha t*), local second derivative"),
        Technique(
            "tsr-paper",
            "TSR as in the paper",
            "tsr:tsr",
            options={"order": 5, "peak": "polynomial", "relation": "paper"},
            paper="TSR",
            note="1.8 sqrt(alpha t*), fifth-order polynomial",
        ),
        Technique("ppt", "PPT", "ppt:ppt", note="blind frequency, 1.82 sqrt(alpha/(pi f))"),
        Technique(
            "ppt-paper",
            "PPT as in the paper",
            "ppt:ppt",
            options={"frequencies": "@ppt:PAPER_FREQUENCIES", "rule": "peak", "taper": "none"},
            paper="PPT",
            note="six frequencies from 0.01 to 0.5 Hz, that of the largest contrast",
        ),
        Technique("vwc-svd", "VWC, truncated SVD", "vwc:virtual_wave", options={"inverse": "@vwc:TruncatedSvd"}),
        Technique("vwc-admm", "VWC, ADMM", "vwc:virtual_wave", options={"inverse": "@vwc:Admm"}),
        Technique("peak-slope", "Peak contrast slope", "peak_slope:peak_slope", note="alpha t/L^2 = 0.368"),
        Technique("pct", "PCT", "pct:pct", depth=False, note="components, no depth"),
        Technique("dtt", "DTT", "dtt:dtt", depth=False, note="maxigram and timegram, no depth"),
    )
}


def technique(name: str) -> Technique:
    """The technique called ``name``, or an error with the nearest name."""
    if name not in TECHNIQUES:
        raise unknown_name("classical method", name, TECHNIQUES)
    return TECHNIQUES[name]
