"""Results that nefty 0.1 wrote: facts in one dictionary, numbers as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nefty.core.stopping import Stopped
from nefty.data.facts_file import facts_of_meta
from nefty.physics.boundary import LATERAL
from nefty.result.effort import Effort
from nefty.result.own_view import OwnView


def of_first_format(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an old record as the arguments of a ``Reconstruction``."""
    meta, provenance = values["meta"], values.get("provenance") or {}
    view = meta.get("front_view")
    return {
        **{key: value for key, value in values.items() if key != "meta"},
        "stopped": Stopped.of_text(str(values.get("stopped") or "")),
        "effort": Effort(
            preparation=_number(provenance.get("seconds of preparation")),
            optimisation=_number(provenance.get("seconds of optimisation")),
            evaluations=int(_number(provenance.get("evaluations"))),
            unknowns=int(_number(provenance.get("unknowns"))),
            collocation=int(_number(provenance.get("collocation points"))),
        ),
        "bulk": _number(provenance.get("bulk diffusivity")) or None,
        "lateral": _lateral(meta, values.get("recipe") or {}),
        "own_view": None if view is None else OwnView(np.asarray(view["mask"]) > 0, np.asarray(view["depth"])),
        "own_surface": bool(meta.get("own_surface")),
        "facts": facts_of_meta({k: v for k, v in meta.items() if k not in ("front_view", "own_surface")}),
    }


def _number(text: Any) -> float:
    """A number as the provenance wrote it, ``"65,536"``; 0 if there is none."""
    try:
        return float(str(text or "0").replace(",", ""))
    except ValueError:
        return 0.0


def _lateral(*said: Mapping[str, Any]) -> str:
    """The sides, as the first that names them does."""
    for one in said:
        boundary = one.get("boundary")
        for known in (one, boundary if isinstance(boundary, Mapping) else {}):
            if known.get("lateral") in LATERAL:
                return str(known["lateral"])
    return "adiabatic"
