"""What an inspector does in the app, by mouse and keyboard: shared by the quick and the long tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from support.app.server import Watched

Shot = Callable[[str], object]


def opened(seen: Watched, file: str) -> Any:
    """The page of a recording, by a click on its name."""
    page: Any = seen.page
    page.goto(seen.base)
    page.get_by_text(file, exact=True).first.click()
    page.wait_for_selector("[data-view=frames] img", timeout=240_000)
    return page


def place(page: Any, y: float, x: float) -> tuple[float, float]:
    """A place of the picture, given as shares of its sides, on the screen."""
    image = page.locator("[data-view=frames] img")
    image.scroll_into_view_if_needed()
    box = image.bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def drag(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """From one place of the picture to another, with the button held."""
    page.mouse.move(*place(page, *start))
    page.mouse.down()
    page.mouse.move(*place(page, *end), steps=4)
    page.mouse.up()


def tab(page: Any, name: str) -> None:
    """Open one of the panels."""
    page.locator(f"[data-tab={name}]").click()


def tool(page: Any, name: str) -> None:
    """Take one of the tools over the picture."""
    page.locator(".tools").get_by_text(name, exact=True).click()
    ready(page, name)


def ready(page: Any, name: str) -> None:
    """Wait until a tool is in the hand."""
    says = {
        "Points": "Click the picture",
        "Rectangle": "Drag a rectangle",
        "Polygon": "Click corner",
        "Leave out": "Drag rect",
    }
    page.get_by_text(says[name]).wait_for()


def command(page: Any) -> str:
    """The command line that is shown."""
    return page.locator("[data-run=command] pre").first.inner_text().strip()


def start(page: Any, settings: str = "") -> str:
    """Run what was clicked; returns the name of the run."""
    tab(page, "Run")
    if settings:
        page.locator("[data-run=settings] input, input[data-run=settings]").first.fill(settings)
        first = settings.split(";")[-1].strip()
        page.wait_for_function("text => document.body.innerText.includes(text)", arg=first)
    page.locator("[data-run=start]").click()
    page.wait_for_url(re.compile(r"/run\?name="), timeout=240_000)
    return page.url.split("name=")[1]


def cancelled(page: Any) -> None:
    """Stop the run once it counts iterations, and wait until it has kept its state."""
    page.wait_for_selector("text=Time left", timeout=600_000)
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".chip.paused", timeout=120_000)


def resumed(page: Any) -> None:
    """Let it go on to its end, and wait for its result."""
    page.get_by_role("button", name="Resume").click()
    finished(page)


def finished(page: Any) -> None:
    """Wait for the result."""
    page.wait_for_selector(".chip.finished", timeout=900_000)
    page.wait_for_selector("[data-figure=slices] .main-svg", timeout=120_000)


def compared(seen: Watched, a: str, b: str) -> Any:
    """The page that compares two runs."""
    page: Any = seen.page
    page.goto(f"{seen.base}/compare?a={quote(a)}&b={quote(b)}")
    page.wait_for_selector("[data-compare=summary]", timeout=120_000)
    page.wait_for_selector("[data-figure=compare-1] .main-svg", timeout=60_000)
    return page
