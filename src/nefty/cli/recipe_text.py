"""A recipe as TOML, complete, so that it can be saved, changed and used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nefty.inversion.recipe import Recipe


def recipe_text(recipe: Recipe) -> str:
    """The recipe as TOML; what is not set is a comment, for TOML has no word for it."""
    values = recipe.model_dump(mode="json")
    tables = {name: value for name, value in values.items() if _is_tables(value)}
    blocks = _sections({name: value for name, value in values.items() if name not in tables})
    blocks += [f"[[{name}]]\n{_block(table)}" for name, items in tables.items() for table in items]
    return "\n\n".join(blocks)


def _sections(values: Mapping[str, Any], path: str = "") -> list[str]:
    """A section and those within it, each under its dotted name; a name without values is left out."""
    inner = {name: value for name, value in values.items() if isinstance(value, Mapping)}
    own = _block({name: value for name, value in values.items() if name not in inner})
    blocks = [f"[{path}]\n{own}" if path else own] if own else []
    for name, section in inner.items():
        blocks += _sections(section, f"{path}.{name}" if path else name)
    return blocks


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _block(values: Mapping[str, Any]) -> str:
    return "\n".join(
        f"# {name} is not set" if value is None else f"{name} = {_value(value)}" for name, value in values.items()
    )


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_value(inside)}' for name, inside in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)
