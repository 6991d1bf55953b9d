"""The app in a real browser, on recordings that take seconds; the long ones are in ``test_whole_day.py``."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nefty.app.processes import python_command
from nefty.result.reconstruction import Reconstruction
from support.app.server import Watched, browsed, served
from support.app.story import (
    cancelled,
    command,
    compared,
    drag,
    finished,
    opened,
    place,
    ready,
    resumed,
    start,
    tab,
    tool,
)
from support.app.tiny_recording import quick_settings, write_counts, write_tiny

pytest.importorskip("nicegui", reason="the app needs the extra 'app'")
pytest.importorskip("playwright", reason="playwright is a development dependency")
MARKUP = "<img src=x onerror=document.title='hacked'>.npy"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("browsed")
    write_tiny(folder / "tiny.h5")
    write_counts(folder / "plate.npy")
    write_counts(folder / MARKUP)
    return folder


@pytest.fixture(scope="module")
def server(root):
    with served(root) as started:
        yield started


@pytest.fixture(scope="module")
def seen(server):
    with browsed(server) as watched:
        yield watched
        assert watched.errors == []
        assert watched.outside == []


def test_facts_region_and_points_become_the_command(seen: Watched):
    page: Any = opened(seen, "plate.npy")
    page.wait_for_selector("text=A run would ask for more")
    for name, text in (("thickness", "4"), ("pixel", "0.5"), ("fps", "20")):
        page.locator(f"input[data-fact={name}]").fill(text)
    page.locator("[data-fact=material]").first.click()
    page.get_by_role("option", name="pvc").click()
    page.get_by_role("button", name="Check these facts").click()
    page.wait_for_selector("text=Nothing is missing")
    tab(page, "Decay")
    ready(page, "Points")
    page.wait_for_selector("text=median of all pixels")
    page.mouse.click(*place(page, 0.27, 0.27))
    drawn = "document.querySelector('[data-figure=decay]')?.textContent ?? ''"
    for name in ("row 6, column 8", "law of a sound slab"):
        page.wait_for_function(f"({drawn}).includes({name!r})")
    tab(page, "Region")
    tool(page, "Polygon")
    for corner in ((0.1, 0.1), (0.1, 0.9), (0.9, 0.9), (0.1, 0.1)):
        page.mouse.click(*place(page, *corner))
    page.wait_for_selector("text=a polygon of 3 corners")
    tool(page, "Leave out")
    drag(page, (0.3, 0.5), (0.5, 0.75))
    page.wait_for_selector("[data-region=left-out]")
    tab(page, "Run")
    words = shlex.split(command(page))
    assert words[:3] == ["nefty", "reconstruct", "plate.npy"]
    given = dict(zip(words[5::2], words[6::2], strict=True))
    assert given["--thickness"] == "4 mm"
    assert given["--material"] == "pvc"
    assert given["--leave-out"].startswith("7:12,16:")
    assert len(given["--polygon"].split()) == 3
    page.get_by_text("The same in Python").click()
    assert "nefty.load('plate.npy'" in page.locator("[data-run=python] pre").inner_text()
    page.reload()
    page.wait_for_selector("[data-view=frames] img")
    tab(page, "Run")
    assert shlex.split(command(page)) == words


def test_a_name_with_markup_is_text_on_every_page(seen: Watched):
    page: Any = opened(seen, MARKUP)
    assert page.locator(".title").inner_text() == MARKUP
    assert page.locator("img[src=x]").count() == 0
    assert "hacked" not in page.title()


def test_run_cancel_resume_result_compare(seen: Watched, root: Path):
    """The whole way; and the result equals that of the command line that the page prints, bit for bit."""
    page: Any = opened(seen, "tiny.h5")
    page.wait_for_selector("text=median of all pixels")
    tab(page, "Region")
    ready(page, "Rectangle")
    drag(page, (0.01, 0.01), (0.94, 1.05))
    page.wait_for_selector("text=rows and columns 0:15,0:16")
    first = start(page, "; ".join(quick_settings(800)))
    cancelled(page)
    page.wait_for_selector("text=best so far")
    resumed(page)
    page.get_by_text("Command and log").click()
    words = shlex.split(command(page))
    page.locator("[data-indication='1']").click()
    page.wait_for_function("document.querySelector('[data-result=place]').innerText.startsWith('indication 1')")
    page.locator("[data-method=pct]").click()
    page.wait_for_selector("[data-figure=classical] .main-svg")
    second = start(opened(seen, "tiny.h5"), "; ".join(quick_settings(4)))
    finished(page)
    page = compared(seen, first, second)
    assert page.locator("[data-compare=table] tbody tr").count() >= 1
    out = words[words.index("--out") + 1]
    again = [word if word != out else "by-hand" for word in words[1:]]
    subprocess.run(python_command(root, "nefty.cli.main:main", *again), check=True, capture_output=True)
    clicked, typed = Reconstruction.load(root / out), Reconstruction.load(root / "by-hand")
    for name in ("alpha", "background", "measured", "fitted"):
        assert np.array_equal(getattr(clicked, name), getattr(typed, name), equal_nan=True)
    assert clicked.provenance["input"] == typed.provenance["input"]
    assert clicked.recipe == typed.recipe


def test_a_dropped_file_is_sent_and_opened(seen: Watched, root: Path, tmp_path: Path):
    page: Any = seen.page
    page.goto(seen.base)
    file = write_counts(tmp_path / "dropped.npy", frames=30)
    page.locator("#drop-file").set_input_files(file)
    page.wait_for_selector("[data-view=frames] img")
    assert (root / "nefty-app" / "uploads" / "dropped.npy").read_bytes() == file.read_bytes()
