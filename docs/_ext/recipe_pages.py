"""The page of the recipe: every key with its meaning, from the docstrings of the models that check recipes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from nefty.inversion.recipe import Recipe, load_recipe, recipe_names


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """The meaning of each key, as the docstring says it: ``key: meaning.``, or ``key, key: meaning.``"""
    names = list(model.model_fields)
    text = " ".join(inspect.cleandoc(model.__doc__ or "").split())
    key = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    heads = list(re.finditer(rf"(?:^|(?<=[.;:] ))((?:{key})(?:, (?:{key}))*): ", text))
    found = {}
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=False):
        meaning = text[head.end() : end].strip().rstrip(".;")
        for name in head[1].split(", "):
            found[name] = meaning
    return found


def sections(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Dotted paths and models of a recipe's sections, from the top."""
    yield path, model
    for name, field in model.model_fields.items():
        below = _section(field)
        if below is not None:
            repeated = "tuple" in str(field.annotation)
            yield from sections(below, f"{path}.{name}".strip(".") + (".N" if repeated else ""))


TYPES = {"tuple": "a list", "bool": "true or false", "int": "a whole number", "float": "a number"}


def _section(field: FieldInfo) -> type[BaseModel] | None:
    kinds = [field.annotation, *get_args(field.annotation)]
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _takes(field: FieldInfo) -> str:
    text = re.sub(r"(typing|pydantic\.\w+|annotated_types)\.", "", str(field.annotation))
    text = re.sub(r"Annotated\[(\w+), [^\]]*\]", r"\1", text)
    text = re.sub(r"<class '(\w+)'>", r"\1", text)
    choices = re.findall(r"Literal\[([^\]]*)\]", text)
    if choices:
        words = [word.strip().strip("'") for word in choices[0].split(",")]
        rest = [kind for kind in ("float", "None") if kind in text]
        others = ["a number" if kind == "float" else "nothing" for kind in rest]
        return ", ".join([f"`{word}`" for word in words] + others)
    for kind, words in TYPES.items():
        if kind in text:
            return words + (", or nothing" if "None" in text else "")
    return "text"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    value: Any = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    text = f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else "empty"


def recipe_page() -> str:
    """The page."""
    lines = [
        "# Keys of a recipe",
        "",
        "A recipe is everything that decides a reconstruction. `nefty reconstruct --show-recipe --recipe fast` prints",
        "one in full; `--set KEY=VALUE` changes a key, by the dotted name that this page has. `N` stands for the",
        "number or the name of a stage: `--set stages.finish.iterations=100`. How to write one:",
        "[Write a recipe](../howto/new-recipe.md).",
        "",
        "| recipe | what it is |",
        "|---|---|",
        *(f"| `{name}` | {load_recipe(name).summary} |" for name in recipe_names()),
        "",
    ]
    for path, model in sections(Recipe):
        keys = {name: field for name, field in model.model_fields.items() if _section(field) is None}
        said = meanings(model)
        lines += [f"## `{path}`" if path else "## At the top", ""]
        if not keys:
            lines += ["No keys of its own; its sections follow." if model.model_fields else "No settings.", ""]
            continue
        lines += ["| key | takes | if not given | meaning |", "|---|---|---|---|"]
        for name, field in keys.items():
            dotted = f"{path}.{name}".strip(".")
            meaning = said.get(name, "").replace("|", "\\|")
            lines.append(f"| `{dotted}` | {_takes(field)} | {_default(field)} | {meaning} |")
        lines.append("")
    return "\n".join(lines)
