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
    sections = {name: value for name, value in values.items() if isinstance(value, Mapping)}
    tables = {name: value for name, value in values.items() if _is_tables(value)}
    plain = {name: value for name, value in values.items() if name not in sections and name not in tables}
    blocks = [_block(plain)]
    blocks += [f"[{name}]\n{_block(section)}" for name, section in sections.items()]
    blocks += [f"[[{name}]]\n{_block(table)}" for name, items in tables.items() for table in items]
    return "\n\n".join(blocks)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _block(values: Mapping[str, Any]) -> str:
    return "\n".join(
        f"# {name} is not set" if value is None else f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
    )
