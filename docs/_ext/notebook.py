"""Write the first tutorial as a notebook, ``python docs/_ext/notebook.py``: its code cells are the page's blocks."""

from __future__ import annotations

import json
import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "tutorials"


def notebook(page: str) -> dict[str, object]:
    """The page as a notebook, in the format that Jupyter calls 4.5."""
    cells: list[dict[str, object]] = []
    for number, part in enumerate(re.split(r"^```python\n(.*?)^```\n", page, flags=re.MULTILINE | re.DOTALL)):
        lines = part.strip().splitlines(keepends=True)
        if not lines:
            continue
        cell: dict[str, object] = {"id": f"cell-{number}", "metadata": {}, "source": lines}
        if number % 2:
            cell |= {"cell_type": "code", "execution_count": None, "outputs": []}
        else:
            cell |= {"cell_type": "markdown"}
        cells.append(dict(sorted(cell.items())))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


if __name__ == "__main__":
    content = notebook((FOLDER / "first.md").read_text(encoding="utf-8"))
    (FOLDER / "first.ipynb").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
