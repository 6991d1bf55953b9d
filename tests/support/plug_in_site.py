"""A package as pip would have installed it: a folder on ``sys.path`` with modules and a dist-info."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def install(site: Path, modules: Mapping[str, str], entries: Mapping[str, str], version: str = "1.0") -> Path:
    """Write ``modules`` (file names and texts) of the distribution ``plugged`` into ``site``.

    Args:
        site: the folder; to be put on ``sys.path``.
        modules: texts by path.
        entries: names and ``"module:object"`` of entry points of the group ``nefty.methods``.
        version: of the distribution.
    """
    about = site / "plugged.dist-info"
    for path, text in {
        **modules,
        "plugged.dist-info/METADATA": f"Metadata-Version: 2.1\nName: plugged\nVersion: {version}\n",
        "plugged.dist-info/entry_points.txt": "\n".join(
            ["[nefty.methods]", *(f"{name} = {value}" for name, value in entries.items())]
        ),
    }.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    assert about.is_dir()
    return site
