"""docs/architecture.md is true: its paths exist, its layers are those that lint-imports keeps, its tables are whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nefty.core.configuration import tomllib  # pyright: ignore[reportPrivateImportUsage]

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
PATHS = sorted(set(re.findall(r"`(src/nefty/[\w./]+)`", PAGE)))
MOST = 20  # modules of a folder


def layers_of_the_page() -> list[set[str]]:
    table = PAGE.split("## The layers")[1].split("##")[0]
    rows = re.findall(r"^\| (`[^|]+`) \|", table, flags=re.MULTILINE)
    return [set(re.findall(r"`(\w+)`", row)) for row in rows]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_the_page_is_there(path):
    assert (ROOT / path).exists()


def test_the_layers_are_those_that_are_kept():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    kept = next(c for c in contracts if c["name"].startswith("one-way layers"))["layers"]
    rows = [{name.strip().removeprefix("nefty.") for name in row.split("|")} for row in reversed(kept)]
    assert layers_of_the_page() == rows


def test_every_package_has_a_layer():
    packages = {path.parent.name for path in (ROOT / "src" / "nefty").glob("*/__init__.py")}
    assert set.union(*layers_of_the_page()) == packages


@pytest.mark.parametrize("root", ["src", "tests"])
def test_no_folder_is_a_drawer(root):
    for folder in (path for path in (ROOT / root).rglob("*") if path.is_dir()):
        assert len(list(folder.glob("*.py"))) <= MOST, f"{folder} holds more than {MOST} modules; give them rooms"


def test_the_map_of_the_readme_names_every_package():
    shown = (ROOT / "README.md").read_text().split("## Map")[1].split("##")[0]
    for package in set.union(*layers_of_the_page()) - {"testing"}:
        assert f"{package}/" in shown
