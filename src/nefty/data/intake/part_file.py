"""What is known of a part as a file, ``part.toml``: the facts of ``nefty reconstruct`` in the same words and units.

    material = "cfrp"
    thickness = "1.3 mm"
    pixel = "0.2 mm"

Three places are read, each winning over the ones before: the common file (``--facts``, or ``part.toml`` in the
recording's folder), the recording's own (``plate.toml`` beside ``plate.tif``), and what was typed or said in Python.
Files that a fact names (``mask = "mask.npy"``) lie beside the file that names them, unless their path is absolute.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from nefty.core.configuration import read_toml
from nefty.core.errors import InputError, unknown_name
from nefty.data.intake.known import NO_FACTS, Known, Quantity
from nefty.physics.materials import Material, material

COMMON = "part.toml"
FILES = ("heating", "lookup", "mask")  # facts that may be the name of a file
WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
LONGEST = 60  # characters of a value that a sentence shows


@dataclass(frozen=True, eq=False)
class PartFile:
    """A file of facts.

    Args:
        path: of it.
        said: the facts, by name, as ``Known`` takes them.
        beside: whether it was found beside the recording, and not named by the user.
    """

    path: Path
    said: Mapping[str, Any]
    beside: bool = False


def read_part_file(path: str | Path) -> dict[str, Any]:
    """The facts of a file, by name; names may have hyphens, as options do.

    Raises:
        InputError: it is no TOML, has a key that is unknown (the nearest one is named) or a value of another kind.
    """
    path, said = Path(path), {}
    for key, value in read_toml(path, "facts file").items():
        name = key.replace("-", "_")
        if name in said:
            raise InputError(f"the facts file {path} says {name!r} twice; leave one of them out.")
        said[name] = value
    known = _kinds()
    for name in said:
        if name not in known:
            error = unknown_name("key", name, known)
            raise InputError(f"the facts file {path}: {error} docs/facts.md explains each.")
    for name, value in said.items():
        try:
            _checker(name).validate_python(value)
        except ValidationError:
            raise InputError(f"the facts file {path}: {name} = {shown(value)} must be {_expected(name)}.") from None
    return {name: _resolved(path, name, value) for name, value in said.items()}


def part_files(recording: Path, given: Any = None) -> list[PartFile]:
    """The files of facts that a recording has, the common one first.

    Args:
        recording: the file, or the folder of frames.
        given: the common one, as the user named it; ``part.toml`` in the recording's folder if not given.
    """
    common = recording.parent / COMMON if given is None else Path(given)
    own = own_file(recording)
    found = []
    if given is not None or common.is_file():
        found.append(PartFile(common, read_part_file(common), beside=given is None))
    if own.is_file() and not (found and own.samefile(common)) and not own.samefile(recording):
        found.append(PartFile(own, read_part_file(own), beside=True))
    return found


def own_file(recording: Path) -> Path:
    """``plate.toml`` of ``plate.tif``, whether it is there or not."""
    if recording.is_dir():
        recording = recording.resolve()
        return recording.with_name(f"{recording.name}.toml")
    return recording.with_suffix(".toml")


def with_files(recording: Path, known: Known) -> tuple[Known, tuple[str, ...]]:
    """What the user said together with what the files say, and in words what was taken from where."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    sentences = []
    for file in part_files(recording, known.facts):
        sentences.append(_told(file))
        sentences += _replaced(values, file.said, sources, f"in {file.path.name}")
        values |= file.said
        sources |= dict.fromkeys(file.said, file.path.name)
    if not values:
        return known, ()
    said = known.said()
    sentences += _replaced(values, said, sources, "as given")
    sources = {name: file for name, file in sources.items() if name not in said}
    rest = {name: getattr(known, name) for name in NO_FACTS}
    return Known(**{**values, **said, **rest, "sources": sources}), tuple(sentences)


def shown(value: Any) -> str:
    """A value in a sentence, as it would be written; a long one by its beginning."""
    text = value.name if isinstance(value, Material) else str(value)
    text = text.lower() if isinstance(value, bool) else " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _told(file: PartFile) -> str:
    where = ", which lies beside the recording" if file.beside else ""
    facts = "; ".join(f"{name} {shown(value)}" for name, value in file.said.items()) or "nothing"
    return f"Facts of {file.path.name}{where}: {facts}."


def _replaced(before: Mapping[str, Any], now: Mapping[str, Any], sources: Mapping[str, str], how: str) -> list[str]:
    """A sentence for each fact that is said otherwise than before."""
    return [
        f"{name} is {shown(value)}, {how}, in place of {shown(before[name])} in {sources[name]}."
        for name, value in now.items()
        if name in before and shown(value) != shown(before[name])
    ]


def _resolved(path: Path, name: str, value: Any) -> Any:
    """A fact as ``Known`` takes it: files from where the facts lie, a table of a material as a ``Material``."""
    if name == "material" and isinstance(value, Mapping):
        try:
            return material({"name": f"as in {path.name}", **value})
        except InputError as error:
            raise InputError(f"the facts file {path}: {error}") from None
    names_file = name in FILES or (name == "material" and str(value).endswith(".toml"))
    return str(path.parent / value) if names_file and isinstance(value, str) else value


@cache
def _kinds() -> dict[str, Any]:
    """Names of the facts, and the types that they may have in a file."""
    hints = typing.get_type_hints(Known, include_extras=True)
    found = {f.name: _in_file(hints[f.name]) for f in fields(Known) if f.name not in NO_FACTS}
    return {**found, "material": str | dict[str, Any]}


def _in_file(hint: Any) -> Any:
    """A type of ``Known`` without what no TOML file holds: quantities are text, lists stay, objects go."""
    if hint == Quantity:
        return str
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kept = [kind for part in typing.get_args(hint) if (kind := _in_file(part)) is not None]
        return typing.Union[tuple(kept)]  # noqa: UP007
    if typing.get_origin(hint) is Sequence:
        (inner,) = typing.get_args(hint)
        return list[_in_file(inner)]
    return hint if hint in WORDS else None


@cache
def _checker(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_kinds()[name], config=ConfigDict(strict=True, allow_inf_nan=False))


def _expected(name: str) -> str:
    """``"text such as ..., or a list"``."""
    hint = _kinds()[name]
    kinds = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    words = [WORDS.get(kind, "a table" if typing.get_origin(kind) is dict else "a list") for kind in kinds]
    quantities = {f.name for f in fields(Known) if "Quantity" in str(f.type)}
    with_unit = " with its unit, as on the command line" if name in quantities else ""
    return " or ".join(dict.fromkeys(words)).replace("text", f"text{with_unit}", 1)
