"""A suite that runs in seconds: a few specimens on a tiny grid with few iterations."""

from __future__ import annotations

from typing import Any


def tiny_suite(seeds: str = "0:3", **changes: Any) -> dict[str, Any]:
    """Values of a suite; two methods on every seed."""
    return {
        "name": "tiny",
        "title": "A tiny suite",
        "data": {"clean": {"seeds": seeds, "kinds": ["homogeneous"], "shape": [6, 12, 12], "frames": 8}},
        "methods": [{"method": "fast", "iterations": 10}, {"method": "grid", "iterations": 10}],
        **changes,
    }
