"""The long tests of the app: the demo and a camera-like recording from end to end, 500 MB, and pictures of each page.

They take minutes, so they run in ``make test-app`` alone. Pictures go to the folder that ``NEFTY_APP_PICTURES`` names.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nefty.result.reconstruction import Reconstruction
from support.app.server import Server, Watched, browsed, served
from support.app.story import cancelled, compared, drag, finished, opened, place, ready, resumed, start, tab
from support.app.tiny_recording import write_counts
from support.large_parts.panel import ALPHA, FLASH_FRAME, FPS, PIXEL, PULSE, QUICK, H, panel_file
from support.shared_data import shared_recording

pytestmark = pytest.mark.skipif("NEFTY_TEST_APP" not in os.environ, reason="long; run by make test-app")
pytest.importorskip("nicegui", reason="the app needs the extra 'app'")
pytest.importorskip("playwright", reason="playwright is a development dependency")
MOST = 500  # MB of the server's memory
FOUND = {"demo.h5": "Three indications found", "comsol_cfrp_defect.hdf5": "One indication found"}
LARGE = (800, 512, 640)  # frames, rows, columns of two bytes: 524 MB


def pictured(seen: Watched, name: str) -> None:
    """Keep a picture of the page, if anybody wants to look at it."""
    folder = os.environ.get("NEFTY_APP_PICTURES")
    if folder:
        page: Any = seen.page
        page.wait_for_timeout(1500)
        page.evaluate("window.scrollTo(0, 0)")
        width = page.viewport_size["width"]
        page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)


def fits(seen: Watched, name: str) -> None:
    """The page is no wider than the window; and a picture of it."""
    pictured(seen, name)
    page: Any = seen.page
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name


def demo(folder: Path) -> str:
    from nefty.cli.demo import KIND, NOISE, SEED
    from nefty.synth.recording import simulate
    from nefty.synth.specimen import draw_specimen

    simulate(draw_specimen(SEED, KIND), noise=NOISE).save(folder / "demo.h5")
    return "demo.h5"


def camera(folder: Path) -> str:
    shutil.copy(shared_recording("comsol_cfrp_defect.hdf5"), folder / "comsol_cfrp_defect.hdf5")
    return "comsol_cfrp_defect.hdf5"


@pytest.mark.parametrize("recording", [demo, camera])
def test_load_facts_region_run_cancel_resume_result_compare(recording, tmp_path):
    file = recording(tmp_path)
    with served(tmp_path) as server, browsed(server) as seen:
        first = _first_run(seen, file)
        page: Any = seen.page
        assert page.locator("[data-result=headline]").inner_text().startswith(FOUND[file])  # in the region, too
        page.wait_for_selector("text=What would have been seen")
        pictured(seen, f"{file}-result")
        page.locator("[data-method=pct]").click()
        page.wait_for_selector("[data-figure=classical] .main-svg", timeout=240_000)
        page = opened(seen, file)
        tab(page, "Region")
        page.get_by_role("button", name="Whole picture").click()
        page.wait_for_selector("text=the whole picture")
        second = start(page)
        finished(page)
        for width in (1280, 800):
            page.set_viewport_size({"width": width, "height": 900})
            compared(seen, first, second)
            fits(seen, f"{file}-compare")
            page.goto(seen.base)
            fits(seen, f"{file}-home")
            opened(seen, file)
            for name in ("Facts", "Region", "Run", "Decay"):
                tab(page, name)
                fits(seen, f"{file}-{name.lower()}")
            page.goto(f"{seen.base}/run?name={second}")
            finished(page)
            assert page.locator("[data-result=headline]").inner_text().startswith(FOUND[file])
            fits(seen, f"{file}-result")
        assert seen.errors == []
        assert seen.outside == []
        assert server.memory() < MOST


def _first_run(seen: Watched, file: str) -> str:
    """Facts, points, a region; a run that is cancelled and resumed."""
    page: Any = opened(seen, file)
    ready(page, "Points")
    for point in ((0.82, 0.43), (0.2, 0.2)):
        page.mouse.click(*place(page, *point))
    page.wait_for_selector("[data-figure=decay] .main-svg")
    pictured(seen, f"{file}-decay")
    tab(page, "Facts")
    page.wait_for_selector("text=Nothing is missing")
    pictured(seen, f"{file}-facts")
    tab(page, "Region")
    ready(page, "Rectangle")
    drag(page, (0.06, 0.02), (0.97, 0.98))
    page.wait_for_selector("text=rows and columns")
    pictured(seen, f"{file}-region")
    tab(page, "Run")
    pictured(seen, f"{file}-start")
    name = start(page)
    cancelled(page)
    pictured(seen, f"{file}-paused")
    resumed(page)
    return name


def test_pixels_are_joined_and_an_indication_is_looked_at_more_closely(tmp_path):
    """Facts from a file beside the recording; what would have been seen; then the closer look, a run of its own."""
    panel_file(tmp_path / "panel.npy", (48, 48))
    (tmp_path / "part.toml").write_text(
        f'fps = {FPS}\nunits = "K"\nflash_frame = {FLASH_FRAME}\nonset = "frame"\nmaterial = "gfrp"\n'
        f'alpha = "{ALPHA} m2/s"\nthickness = "{1e3 * H} mm"\npixel = "{1e3 * PIXEL} mm"\n'
        f'pulse = "{1e3 * PULSE} ms"\nbin = 2\n'
    )
    with served(tmp_path) as server, browsed(server) as seen:
        page: Any = opened(seen, "panel.npy")
        tab(page, "Facts")
        page.wait_for_selector("text=Facts of part.toml")
        overview = start(page, "; ".join(f"{key}={value}" for key, value in QUICK.items()))
        finished(page)
        page.wait_for_selector("[data-figure=seen] .main-svg")
        page.wait_for_selector("[data-figure=sure] .main-svg")
        pictured(seen, "panel-overview")
        page.locator("[data-indication='2']").click()
        page.get_by_role("button", name="Look closer at indication 2").click()
        page.wait_for_function("() => !location.search.endsWith('panel-1')")
        finished(page)
        near = page.url.split("name=")[1]
        kept = Reconstruction.load(tmp_path / "nefty-app" / "runs" / near)
        assert kept.close_up is not None
        assert (kept.close_up.indication, kept.close_up.run) == (2, overview)
        assert kept.facts.window.bin == 1
        assert page.locator("[data-result=closer]").count() == 0  # it cannot be looked at more closely
        pictured(seen, "panel-closer")
        assert seen.errors == []
        assert server.memory() < MOST


def test_half_a_gigabyte_is_sent_and_opened_with_little_memory(tmp_path):
    (tmp_path / "root").mkdir()
    frames, rows, columns = LARGE
    file = write_counts(tmp_path / "large.npy", frames, (rows, columns))
    assert file.stat().st_size > 500e6
    with served(tmp_path / "root") as server, browsed(server) as seen:
        page: Any = seen.page
        page.set_default_timeout(600_000)
        page.locator("#drop-file").set_input_files(file)
        page.wait_for_selector("[data-view=frames] img")
        sent = server.root / "nefty-app" / "uploads" / "large.npy"
        assert sent.stat().st_size == file.stat().st_size
        assert np.array_equal(np.load(sent, mmap_mode="r")[-1], np.load(file, mmap_mode="r")[-1])
        _slide(page)
        page.mouse.click(*place(page, 0.5, 0.5))
        tab(page, "Decay")
        page.wait_for_selector("[data-figure=decay] .main-svg")
        assert seen.errors == []
        _told(server)
        assert server.memory() < MOST


def _slide(page: Any) -> None:
    """Through the frames, with the keyboard."""
    page.locator("[data-slider=time]").click()
    for _ in range(20):
        page.keyboard.press("ArrowRight")


def _told(server: Server) -> None:
    print(f"the server held at most {server.memory():.0f} MB")
