"""Facts as nested mappings of plain values and arrays, as files hold them; and those that files held before 0.2.

``plain_facts`` writes, ``read_facts`` reads what it wrote, ``facts_of_meta`` reads the ``meta`` dictionary of files
that nefty 0.1 wrote. Nowhere else is a fact read by its key.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
from pydantic import ValidationError

from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import plain
from nefty.data.facts import (
    CalibratedValue,
    CameraFacts,
    Facts,
    Heating,
    Hole,
    KnownDefects,
    Note,
    NoteKind,
    Origin,
    Simulation,
    Source,
    Step,
    Units,
    Window,
)
from nefty.data.radiometry import Scene
from nefty.data.record.record import InspectionRecord
from nefty.physics.materials import Material

#: Keys of an old ``meta`` that became facts; the rest of it is only shown.
KNOWN = {
    *("units", "material", "camera", "lens", "integration_time", "frame_rate", "fps", "excitation", "preparation"),
    *("pixel", "thickness", "defect_mask", "depth", "holes", "calibration", "gain", "source", "flash_frame", "ambient"),
    *("simulation", "specimen", "notes", "noise_sigma", "versions", "plate", "lateral", "boundary"),
}


def plain_facts(facts: Facts) -> dict[str, Any]:
    """Facts as mappings; what is as it is by default is left out."""
    return _written(facts)


def read_facts(saved: Any) -> Facts:
    """The facts that ``plain_facts`` was given."""
    try:
        values = dict(saved)
        return Facts(
            units=Units(**values.pop("units", {})),
            material=_material(values.pop("material", None)),
            camera=CameraFacts(**values.pop("camera", {})),
            scene=Scene(**values.pop("scene", {})),
            heating=_optional(Heating, values.pop("heating", None)),
            steps=tuple(Step(**step) for step in values.pop("steps", ())),
            window=Window(**values.pop("window", {})),
            pixel=_pair(values.pop("pixel", None)),
            defects=_defects(values.pop("defects", None)),
            calibration=tuple(CalibratedValue(**row) for row in values.pop("calibration", ())),
            origin=_origin(values.pop("origin", {})),
            record=_record(values.pop("record", None)),
            notes=tuple(Note(**{**note, "kind": NoteKind(note["kind"])}) for note in values.pop("notes", ())),
            **values,
        )
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"what the file says of its recording is damaged ({type(error).__name__}: {error}).") from None


def facts_of_meta(meta: Mapping[str, Any]) -> Facts:
    """The facts of a ``meta`` dictionary of nefty 0.1."""
    if not isinstance(meta, Mapping):
        raise InputError(f"what the file says of its recording is damaged: meta={meta!r} is no table.")
    try:
        return _old(meta)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"what the file says of its recording is damaged ({type(error).__name__}: {error}).") from None


def arrays_apart(values: Mapping[str, Any], before: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Nested mappings without their arrays, and the arrays by dotted names that begin with ``before``."""
    rest: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            arrays[f"{before}.{key}"] = value
        elif isinstance(value, Mapping):
            rest[key], more = arrays_apart(value, f"{before}.{key}")
            arrays |= more
        else:
            rest[key] = value
    return rest, arrays


def arrays_joined(values: Mapping[str, Any], arrays: Mapping[str, np.ndarray], before: str) -> dict[str, Any]:
    """What ``arrays_apart`` took apart."""
    found = {k: dict(v) if isinstance(v, Mapping) else v for k, v in values.items()}
    for name, array in arrays.items():
        if not name.startswith(f"{before}."):
            continue
        *path, last = name[len(before) + 1 :].split(".")
        inside: Any = found
        for part in path:
            inside[part] = dict(inside.get(part, {}))
            inside = inside[part]
        inside[last] = array
    return found


def _written(value: Any) -> Any:
    """A dataclass as a mapping of its fields that differ from their defaults; other values as they are saved."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (Material, InspectionRecord)):
        return value.model_dump(mode="json", exclude_defaults=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {}
        for one in dataclasses.fields(value):
            own = getattr(value, one.name)
            if isinstance(own, np.ndarray) or not _is_default(one, own):
                found[one.name] = _written(own)
        return found
    if isinstance(value, Mapping):
        return {key: _written(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_written(item) for item in value]
    return value if isinstance(value, np.ndarray) else plain("fact", value)


def _is_default(one: dataclasses.Field[Any], value: Any) -> bool:
    if one.default is not dataclasses.MISSING:
        return type(value) is type(one.default) and value == one.default
    if one.default_factory is not dataclasses.MISSING:
        default = one.default_factory()
        return not value if isinstance(default, (dict, tuple)) else _written(value) == {}
    return False


def _material(saved: Any) -> Material | None:
    """A material; of an old file it may know nothing but the diffusivity through the thickness."""
    if not isinstance(saved, Mapping) or "alpha_z" not in saved:
        return None
    known = {key: saved[key] for key in Material.model_fields if key in saved}
    same = {axis: known["alpha_z"] for axis in ("alpha_y", "alpha_x") if axis not in known}
    try:
        return Material.model_validate({"name": "given", **same, **known})
    except ValidationError as error:
        raise ValueError(f"material: {error.errors()[0]['msg']}") from None


def _record(saved: Any) -> InspectionRecord | None:
    """The record of an inspection; an empty one is one, too."""
    try:
        return None if saved is None else InspectionRecord.model_validate(saved)
    except ValidationError as error:
        raise ValueError(f"record: {error.errors()[0]['msg']}") from None


def _defects(saved: Any) -> KnownDefects | None:
    if saved is None:
        return None
    holes = saved.get("holes")
    return KnownDefects(**{**saved, "holes": None if holes is None else tuple(_hole(hole) for hole in holes)})


def _hole(saved: Mapping[str, Any]) -> Hole:
    centre, width = (_pair(saved[name]) for name in ("centre", "width"))
    if centre is None or width is None:
        raise ValueError("a hole has neither place nor width")
    return Hole(str(saved.get("kind", "round")), centre, width, float(saved.get("depth", np.nan)))


def _pair(saved: Any) -> tuple[float, float] | None:
    if saved is None:
        return None
    first, second = (float(v) for v in np.ravel(saved))
    return first, second


def _origin(saved: Mapping[str, Any]) -> Origin:
    values = dict(saved)
    source = Source(values.pop("source", Source.ARRAYS.value))
    return Origin(source=source, simulation=_optional(Simulation, values.pop("simulation", None)), **values)


def _optional(kind: Any, saved: Any) -> Any:
    return None if saved is None else kind(**saved)


def _old(meta: Mapping[str, Any]) -> Facts:
    """See ``facts_of_meta``."""
    units = meta.get("units")
    known = [f.name for f in dataclasses.fields(Units)]
    words = {k: str(v or "") for k, v in units.items() if k in known} if isinstance(units, Mapping) else {}
    steps, window = _old_steps(meta.get("preparation"))
    material, source = meta.get("material"), ""
    if isinstance(material, Mapping):
        source = str(material.get("source") or "")
    gain = meta.get("gain") if isinstance(meta.get("gain"), np.ndarray) and np.ndim(meta["gain"]) == 2 else None
    return Facts(
        units=Units(**words),
        material=_material(material),
        material_source=source,
        camera=CameraFacts(
            model=_text(meta.get("camera")),
            lens=_text(meta.get("lens")),
            integration_time=_number(meta.get("integration_time")),
            frame_rate=_number(meta.get("frame_rate", meta.get("fps"))),
        ),
        heating=None if "specimen" in meta else _old_heating(meta.get("excitation")),
        steps=steps,
        window=window,
        pixel=_pair(meta.get("pixel")),
        thickness=_number(meta.get("thickness")),
        defects=_old_defects(meta),
        calibration=_old_calibration(meta.get("calibration")),
        gain=None if _holds_true_gain(meta) else gain,
        origin=_old_origin(meta),
        notes=tuple(Note(NoteKind.OTHER, str(note)) for note in _listed(meta.get("notes"))),
        extra=_old_extra(meta),
    )


def _old_steps(given: Any) -> tuple[tuple[Step, ...], Window]:
    window = Window()
    if isinstance(given, Mapping):  # the short form
        top, _, left, _ = (int(end) for end in given.get("region") or (0, 0, 0, 0))
        return (), window.cut(top, left).binned(int(given.get("bin") or 1))
    steps = []
    for saved in _listed(given):
        values = dict(saved.get("values") or {})
        if saved["name"] == "region" and "rows" in values and "columns" in values:
            window = window.cut(int(values["rows"][0]), int(values["columns"][0]))
        elif saved["name"] == "pixels":
            window = window.binned(int(values.get("bin") or 1))
        steps.append(Step(str(saved["name"]), str(saved.get("text", "")), values, bool(saved.get("assumed"))))
    return tuple(steps), window


def _old_heating(given: Any) -> Heating | None:
    if isinstance(given, str) and given:
        return Heating(given)
    if isinstance(given, Mapping):
        return Heating(str(given.get("kind") or "pulse"), _number(given.get("duration")))
    return None


def _old_defects(meta: Mapping[str, Any]) -> KnownDefects | None:
    mask, depth, holes = (meta.get(name) for name in ("defect_mask", "depth", "holes"))
    if mask is None and depth is None and holes is None:
        return None
    over = None if mask is None else np.asarray(mask) > 0
    whole = isinstance(depth, np.ndarray) and (
        over is None or depth.shape == over.shape
    )  # old regions cut the mask alone
    return KnownDefects(
        mask=over,
        depth=depth if whole else None,
        holes=None if holes is None else tuple(_hole(hole) for hole in holes),
    )


def _old_calibration(given: Any) -> tuple[CalibratedValue, ...]:
    rows = []
    for name, entry in (given if isinstance(given, Mapping) else {}).items():
        known = entry if isinstance(entry, Mapping) else {"value": entry}
        value = _number(known.get("value"))
        if value is not None:
            rows.append(CalibratedValue(str(name), value, _number(known.get("start")), str(known.get("unit") or "")))
    return tuple(rows)


def _old_origin(meta: Mapping[str, Any]) -> Origin:
    foreign = "flash_frame" in meta
    simulation = None
    if "specimen" in meta or "plate" in meta:
        left_out = ("notes", "noise_sigma", "versions", "units", "gain", "depth", "defect_mask", "holes", "material")
        made = {"plate": meta["plate"]} if "plate" in meta else {k: v for k, v in meta.items() if k not in left_out}
        simulation = Simulation(
            record=made,
            noise_sigma=float(meta.get("noise_sigma") or 0.0),
            gain=meta["gain"] if _holds_true_gain(meta) else None,
            versions=dict(meta.get("versions") or {}),
        )
    source = Source.SIMULATION if simulation is not None else Source.FILE if foreign else Source.ARRAYS
    frame, table = meta.get("flash_frame"), meta.get("simulation")
    return Origin(
        source=source,
        name=_text(meta.get("source")),
        flash_known=simulation is not None or not foreign or frame is not None,
        flash_frame=None if frame is None else int(frame),
        ambient=_number(meta.get("ambient", 0.0)),
        parameters={k: float(v) for k, v in table.items() if _number(v) is not None}
        if isinstance(table, Mapping)
        else {},
        simulation=simulation,
    )


def _old_extra(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What is only shown; of a simulation everything else is its record."""
    if "specimen" in meta:
        return {}
    return {k: v for k, v in meta.items() if k not in KNOWN and not isinstance(v, np.ndarray)}


def _holds_true_gain(meta: Mapping[str, Any]) -> bool:
    """Whether the gain is that of a simulation, and not what a preparation or calibration put in its place."""
    found = "preparation" in meta or "calibration" in meta
    return "plate" in meta and isinstance(meta.get("gain"), np.ndarray) and not found


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, Sequence) and not isinstance(given, (str, bytes)) else []


def _text(given: Any) -> str:
    return given if isinstance(given, str) else ""


def _number(given: Any) -> float | None:
    return float(given) if isinstance(given, (int, float)) and not isinstance(given, bool) else None
