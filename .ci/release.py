"""The last step of ``make release``: one version everywhere, a changelog that names it, dist/, and the tag."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version() -> str:
    """The version, if metadata, package, changelog and citation agree on it."""
    stated = {
        "pyproject.toml": tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "src/nefty/__init__.py": _first(r'__version__ = "([^"]+)"', "src/nefty/__init__.py"),
        "CHANGELOG.md": _first(r"^## (\d[\w.]*)", "CHANGELOG.md"),
        "CITATION.cff": _first(r"^version: (\S+)", "CITATION.cff"),
    }
    if len(set(stated.values())) > 1:
        sys.exit(f"The versions differ: {stated}. Make them one, and name it in CHANGELOG.md.")
    return stated["pyproject.toml"]


def _first(pattern: str, file: str) -> str:
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "missing"


def main() -> None:
    """Build and tag."""
    found = version()
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout:
        sys.exit("There are changes that are not committed; commit or remove them first.")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build"], cwd=ROOT, check=True)
    files = [str(file) for file in (ROOT / "dist").iterdir()]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    subprocess.run(["git", "tag", "-a", f"v{found}", "-m", f"nefty {found}"], cwd=ROOT, check=True)
    print(f"dist/ holds {found}, and the tag v{found} is set. To publish:")
    print(f"git push --tags && {sys.executable} -m twine upload dist/*")


if __name__ == "__main__":
    main()
