"""The table of parameters that pyThermoNDT's simulated recordings carry.

It stands in the attribute ``SimulationParameter`` of ``MetaData``, as JSON encoded once or twice: rows of (name,
expression, description, value, unit), in SI units, the first row being the heading.
"""

from __future__ import annotations

import json
from typing import Any

from nefty.physics.pulses import TopHatPulse


def parameters(attribute: Any) -> dict[str, tuple[float, str]]:
    """Value and unit by name; empty if there is no such table."""
    rows = attribute
    try:
        for _ in range(2):
            rows = json.loads(rows) if isinstance(rows, (str, bytes)) else rows
        return {str(name): (float(value), str(unit)) for name, _, _, value, unit in list(rows)[1:]}
    except (TypeError, ValueError):
        return {}


def known_from(table: dict[str, tuple[float, str]]) -> dict[str, Any]:
    """What the table says of the part and the pulse, named as in ``Sequence``; ``onset`` is when the pulse begins.

    The amplitude of the pulse is the adiabatic rise ``T_adia``.
    """
    values = {name: value for name, (value, _) in table.items()}
    found: dict[str, Any] = {}
    if {"th_mat", "Y_mat", "X_mat"} <= values.keys():
        found["size"] = (values["th_mat"], values["Y_mat"], values["X_mat"])
    if {"k1_mat", "k2_mat", "k3_mat"} <= values.keys() and values["k3_mat"] > 0:
        found["anisotropy"] = (values["k2_mat"] / values["k3_mat"], values["k1_mat"] / values["k3_mat"])
    if {"T_adia", "t_p"} <= values.keys():
        found["excitation"] = TopHatPulse(amplitude=values["T_adia"], duration=values["t_p"])
    if "t_p0" in values:
        found["onset"] = values["t_p0"]
    return found
