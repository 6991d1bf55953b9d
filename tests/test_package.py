"""The package as a whole: what importing it costs, and documents that keep their word."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import nefty

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "nefty"
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))
MADE = (
    "changelog.md",
    "contributing.md",
    "decisions/index.md",
    *(f"reference/{n}.md" for n in ("commands", "names", "recipe")),
)
GENERATED = {ROOT / "docs" / name for name in MADE}  # by make docs, which checks their links itself
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - GENERATED)


def test_importing_nefty_does_not_import_torch():
    code = "import sys, nefty; nefty.Grid; nefty.Boundary; print(sorted({'torch', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in dir(nefty):
        assert getattr(nefty, name) is not None
    with pytest.raises(AttributeError, match="attribute HeetModel"):
        nefty.HeetModel  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page):
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in target:
            there = (page.parent / target).exists() or (page.parent / target).resolve() in GENERATED
            assert there or "auto_examples" in target, f"{page.name} links to {target}, which is not there"
    assert not re.search(r"@[A-Z]+@", text)


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_every_name_of_a_package_s_surface_is_there(stub):
    package = importlib.import_module(".".join(["nefty", *stub.parent.relative_to(PACKAGE).parts]))
    names = re.findall(r" import (\w+) as \1$", stub.read_text(), re.MULTILINE)
    assert names
    assert set(names) <= set(package.__all__)
    for name in names:
        assert getattr(package, name) is not None
