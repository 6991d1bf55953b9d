"""Materials: thermal diffusivity along each axis, in SI, and where the number comes from.

A table value is a first guess: batches differ by 10 % and more, laminates by their lay-up. The inversion calibrates the
through-thickness value on sound pixels; it takes the *ratios* of the axes (``Material.anisotropy``) as given.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from nefty.core.checks import number
from nefty.core.configuration import Part, Shelf, explain
from nefty.core.errors import InputError, unknown_name
from nefty.core.units import quantity

Positive = Annotated[float, Field(gt=0)]


class Material(Part):
    """A homogeneous material; z is through the thickness, x along the fibres of a unidirectional laminate.

    alpha_z, alpha_y, alpha_x: diffusivity in m2/s. rho: density in kg/m3, cp: specific heat in J/kgK, where known.
    note: ranges and source.
    """

    name: str = Field(min_length=1)
    alpha_z: Positive
    alpha_y: Positive
    alpha_x: Positive
    rho: Positive | None = None
    cp: Positive | None = None
    note: str = ""

    @property
    def anisotropy(self) -> tuple[float, float]:
        """(alpha_y/alpha_z, alpha_x/alpha_z), as ``Sequence`` and ``HeatModel`` take it."""
        return self.alpha_y / self.alpha_z, self.alpha_x / self.alpha_z

    @property
    def k(self) -> float | None:
        """Through-thickness conductivity alpha_z rho cp in W/mK, where rho and cp are known."""
        return None if self.rho is None or self.cp is None else self.alpha_z * self.rho * self.cp

    def loss(self, h: float) -> float:
        """h/(rho cp) in m/s, as ``Boundary`` takes it, for a heat-transfer coefficient h in W/m2K."""
        if self.rho is None or self.cp is None:
            raise InputError(
                f"material {self.name!r} has no density and specific heat, which heat loss needs; give rho and cp."
            )
        return h / (self.rho * self.cp)


#: What the quantities of a file are, for their units.
KIND_OF = {
    "alpha_z": "diffusivity",
    "alpha_y": "diffusivity",
    "alpha_x": "diffusivity",
    "k": "conductivity",
    "rho": "density",
    "cp": "specific heat",
}
_FILES = Shelf("material", "nefty.physics", "materials")
_TYPICAL = "rho and cp typical, rounded"


def _table(*entries: dict[str, Any]) -> dict[str, Material]:
    return {entry["name"]: Material.model_validate(_completed(entry)) for entry in entries}


def _completed(values: dict[str, Any]) -> dict[str, Any]:
    """With alpha_z = k/(rho cp) in place of k, and the axes in the plane like the one through the thickness."""
    values = dict(values)
    if "k" in values:
        k, rho, cp = values.pop("k"), values.get("rho"), values.get("cp")
        if rho is None or cp is None:
            raise InputError("k alone does not give a diffusivity; add rho and cp, or give alpha_z instead.")
        if "alpha_z" in values:
            raise InputError("alpha_z follows from k, rho and cp; leave out alpha_z or k.")
        values["alpha_z"] = number("k", k, above=0) / (number("rho", rho, above=0) * number("cp", cp, above=0))
    if "alpha_z" in values:
        values = {"alpha_y": values["alpha_z"], "alpha_x": values["alpha_z"], **values}
    return values


#: The materials that come with nefty.
MATERIALS: dict[str, Material] = _table(
    {"name": "pvc", "alpha_z": 1.2e-7, "rho": 1400, "cp": 950, "note": f"rigid PVC; {_TYPICAL}"},
    {"name": "pmma", "alpha_z": 1.1e-7, "rho": 1180, "cp": 1450, "note": f"acrylic glass; {_TYPICAL}"},
    {"name": "epoxy", "alpha_z": 0.8e-7, "note": "cast resin; fillers raise it"},
    {
        "name": "cfrp",
        "alpha_z": 4e-7,
        "alpha_y": 7e-7,
        "alpha_x": 6.5e-6,
        "rho": 1575,
        "cp": 753,
        "note": "unidirectional, fibres along x. Ranges in the plane: across the fibres (4e-7, 1.1e-6) m2/s, along "
        "them (6e-6, 7e-6) m2/s; the middle is taken. rho and cp as in pyThermoNDT's simulated recordings; cp up to "
        "1200 elsewhere. Woven and quasi-isotropic laminates lie between the two in-plane values, alike along y and x",
    },
    {
        "name": "gfrp",
        "alpha_z": 1.6e-7,
        "rho": 1900,
        "cp": 1200,
        "note": "range through the thickness (1.3e-7, 2.0e-7) m2/s; the middle is taken. In the plane taken as equal "
        f"for want of a source, in truth somewhat higher; {_TYPICAL}",
    },
    {"name": "stainless-steel", "alpha_z": 4e-6, "rho": 7900, "cp": 480, "note": f"austenitic; {_TYPICAL}"},
    {"name": "mild-steel", "alpha_z": 1.3e-5, "rho": 7850, "cp": 480, "note": _TYPICAL},
    {
        "name": "aluminium",
        "alpha_z": 7e-5,
        "rho": 2750,
        "cp": 890,
        "note": f"alloys: range (5e-5, 9e-5) m2/s; the middle is taken; {_TYPICAL}",
    },
)


def material(given: str | Path | Mapping[str, Any] | Material) -> Material:
    """A material by name, from a .toml file, or from a mapping.

    In a file every quantity has its unit: ``alpha_z = "0.42 mm2/s"``; in a mapping, plain numbers are SI. alpha_y and
    alpha_x may be left out where they are like alpha_z, and alpha_z where k (through the thickness), rho and cp are
    given.

    Args:
        given: such as ``"cfrp"`` or ``"my-laminate.toml"``.
    """
    if isinstance(given, Material):
        return given
    from_file = str(given).endswith(".toml") and not isinstance(given, Mapping)
    if not from_file and not isinstance(given, Mapping):
        return _by_name(given)
    values = _FILES.values(given)
    where = f"material {given}" if from_file else f"material {values.get('name', '')!r}"
    for key, kind in KIND_OF.items():
        if key in values and (from_file or isinstance(values[key], str)):
            values[key] = quantity(values[key], kind, f"{where}: {key}")
    try:
        return Material.model_validate(_completed(values))
    except ValidationError as error:
        raise InputError(f"{where}: {explain(error, Material)}") from None
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _by_name(given: Any) -> Material:
    name = str(given).strip().lower().replace("_", "-").replace(" ", "-")
    if name not in MATERIALS:
        error = unknown_name("material", given, MATERIALS)
        raise InputError(f"{error} Your own goes into a .toml file with name and alpha_z.")
    return MATERIALS[name]
