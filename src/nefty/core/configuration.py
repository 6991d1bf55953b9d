"""Configuration files: TOML that is checked by a pydantic model, where what is not known is refused by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from nefty.core.errors import InputError, unknown_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pyright: ignore[reportMissingImports]

LARGEST = 2**20  # bytes of a configuration


class Part(BaseModel):
    """A section of a configuration: frozen, without unknown keys, infinite numbers or NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Shelf:
    """The configurations that come with a package, one TOML file each.

    Args:
        what: they are, such as ``"recipe"``.
        package: that holds the folder.
        folder: of the files.
    """

    def __init__(self, what: str, package: str, folder: str) -> None:
        self.what, self.package, self.folder = what, package, folder

    def names(self) -> list[str]:
        """Names of the configurations."""
        files = resources.files(self.package) / self.folder
        return sorted(Path(f.name).stem for f in files.iterdir() if f.name.endswith(".toml"))

    def values(self, given: str | Path | Mapping[str, Any]) -> dict[str, Any]:
        """The content of a configuration, given by name, as a .toml file or as a mapping (which is copied)."""
        if isinstance(given, Mapping):
            return {k: _copied(v) for k, v in given.items()}
        if str(given).endswith(".toml"):
            return read_toml(given, self.what)
        if not isinstance(given, str) or given not in self.names():
            raise unknown_name(self.what, given, self.names())
        text = (resources.files(self.package) / self.folder / f"{given}.toml").read_text(encoding="utf-8")
        return tomllib.loads(text)


def read_toml(path: str | Path, what: str) -> dict[str, Any]:
    """The content of a TOML file of a user.

    Args:
        path: of the file.
        what: it holds, such as ``"recipe"``, for messages.
    """
    try:
        if Path(path).stat().st_size > LARGEST:
            raise InputError(f"the {what} {path} has more than {LARGEST} bytes; is it the right file?")
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no {what} file {path}.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read the {what} {path}: {error}.") from None
    except RecursionError:
        raise InputError(f"cannot read the {what} {path}: its brackets are nested too deeply.") from None


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """What is wrong, with the nearest known name for one that is not known."""
    found = error.errors()[0]
    where = ".".join(str(part) for part in found["loc"])
    if not found["loc"]:
        return f"{found['msg'].removeprefix('Value error, ')}."
    if found["type"] == "extra_forbidden":
        last = found["loc"][-1]
        known = _owner(model, found["loc"][:-1]).model_fields
        return str(unknown_name("key", last, known)).replace(f"key={last!r}", f"key {where!r}", 1)
    if found["type"] == "literal_error" and isinstance(found["input"], str):
        known = _choices(_annotation(model, found["loc"]))
        if found["input"] not in known and known:
            return str(unknown_name(where, found["input"], known))
    more = f" ({len(error.errors()) - 1} more)" if len(error.errors()) > 1 else ""
    return f"{where}={found.get('input')!r}: {found['msg']}{more}."


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys and sections as sections: ``{"a.b": 1, "a": {"c": 2}}`` as ``{"a": {"b": 1, "c": 2}}``.

    A later key wins over an earlier one.
    """
    found: dict[str, Any] = {}
    for key, value in dotted(values).items():
        *path, last = key.split(".")
        inside = found
        for part in path:
            inside = inside.setdefault(part, {})
            if not isinstance(inside, dict):
                raise InputError(f"{key!r}: {part!r} is a value, not a section.")
        inside[last] = value
    return found


def dotted(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Dotted keys of all sections."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found.update(dotted(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value})
    return found


def parse_assignment(text: str) -> tuple[str, Any]:
    """``"weight.tv=0.5"`` as a key and a value, written as in TOML; words may go without quotes, ``none`` is None."""
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise InputError(f"{text!r} is not of the form key=value, such as weight.tv=0.5.")
    try:
        return key.strip(), tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), None if value.strip().lower() == "none" else value.strip()


def _owner(model: type[BaseModel], path: tuple[int | str, ...]) -> type[BaseModel]:
    """The model of the section at ``path``; indices and names of entries are passed over."""
    for part in path:
        if isinstance(part, str) and part in model.model_fields:
            model = _section(model.model_fields[part].annotation) or model
    return model


def _annotation(model: type[BaseModel], path: tuple[int | str, ...]) -> Any:
    """The type of the value at ``path``."""
    names = [part for part in path if isinstance(part, str)]
    for end in range(len(names), 0, -1):
        owner = _owner(model, tuple(names[: end - 1]))
        if names[end - 1] in owner.model_fields:
            return owner.model_fields[names[end - 1]].annotation
    return None


def _section(annotation: Any) -> type[BaseModel] | None:
    """The model within a type such as ``tuple[Stage, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for a in get_args(annotation) if (found := _section(a)) is not None), None)


def _choices(annotation: Any) -> list[str]:
    """The words that a type such as ``tuple[Literal["a", "b"], ...]`` allows."""
    if get_origin(annotation) is Literal:
        return [a for a in get_args(annotation) if isinstance(a, str)]
    return [word for a in get_args(annotation) for word in _choices(a)]


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _copied(v) for k, v in value.items()}
    return [_copied(v) for v in value] if isinstance(value, (list, tuple)) else value
