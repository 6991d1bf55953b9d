"""The reference is whole, and its examples print what they say."""

from __future__ import annotations

import doctest
import importlib
import io
import re
import sys

import pytest

from support.docs.pages import DOCS, blocks

sys.path.insert(0, str(DOCS / "_ext"))

from recipe_pages import meanings, recipe_page, sections
from surface_pages import ENTRY, entries, names_page, surfaces, thing

from nefty.inversion.recipe import Recipe

REFERENCE = DOCS / "reference"
PAGES = sorted(page for page in REFERENCE.glob("*.md") if ENTRY.search(page.read_text(encoding="utf-8")))
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("default")
def test_the_examples_of_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner, names, said = doctest.DocTestRunner(optionflags=OPTIONS), {}, io.StringIO()
    for block in blocks(page, "pycon"):
        test = doctest.DocTestParser().get_doctest(block.code, names, page.name, str(page), block.line - 1)
        test.globs = names  # one page, one session
        runner.run(test, out=said.write, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, said.getvalue()


@pytest.mark.parametrize("package", [*surfaces(), "nefty.testing"])
def test_every_public_name_has_an_entry_with_an_example(package):
    described = {id(thing(path)): path for path in entries(REFERENCE)}
    module = importlib.import_module(package)
    for name in surfaces().get(package) or vars(module)["__all__"]:
        assert id(getattr(module, name)) in described, f"{package}.{name} has no entry in docs/reference"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_entry_has_an_example_that_uses_it(page):
    text = page.read_text(encoding="utf-8")
    for path, rest in zip(ENTRY.findall(text), ENTRY.split(text)[2::2], strict=True):
        name = path.rpartition(".")[2]
        example = re.search(r"```pycon\n(.*?)```", rest, re.DOTALL)
        assert example, f"{path} has no example"
        assert name in example[1], f"the example of {path} does not use it"


def test_every_key_of_a_recipe_has_a_meaning():
    for path, model in sections(Recipe):
        said = {*meanings(model), *(name.removesuffix(".N") for name, _ in sections(model))}
        unsaid = set(model.model_fields) - said
        assert not unsaid, f"{path}: say in the docstring of {model.__name__} what {unsaid} are"


def test_the_pages_that_are_made_of_the_code():
    from command_pages import commands_page

    assert "`stages.N.iterations`" in recipe_page()
    assert "## `nefty reconstruct`" in commands_page()
    assert "[`HeatModel`](#nefty.HeatModel)" in names_page(REFERENCE)
