"""A real server of the app in a process of its own, and a browser that notes whatever goes wrong."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SRC = Path(__file__).parents[3] / "src"
BEGIN = "import sys; from nefty.cli.main import main; main(sys.argv[1:])"
QUIET = ("GL Driver Message", "Canvas2D", "swiftshader", "SwiftShader")  # of a browser without a graphics card


@dataclass(frozen=True)
class Server:
    """A server that listens.

    Args:
        root: the folder that it sees.
        link: with a token that was not used yet.
        process: its process.
    """

    root: Path
    link: str
    process: subprocess.Popen[str]

    @property
    def base(self) -> str:
        return self.link.split("/?")[0]

    @property
    def port(self) -> int:
        return int(self.base.rsplit(":", 1)[1])

    def memory(self) -> float:
        """The most that its process has held, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def next_link(self) -> str:
        """The link that is shown after one was used."""
        assert self.process.stdout is not None
        return _link(self.process.stdout.readline())

    def session(self) -> str:
        """A cookie, for the price of the link."""
        import httpx

        answer = httpx.get(self.link)
        assert answer.status_code == 303
        return answer.headers["set-cookie"].split(";")[0]


def _link(line: str) -> str:
    found = re.search(r"http://\S+", line)
    assert found is not None, f"no link in {line!r}"
    return found.group()


@contextlib.contextmanager
def served(root: Path, *options: str) -> Iterator[Server]:
    """A server on a free port."""
    pytest.importorskip("nicegui", reason="the app needs the extra 'app'")
    environment = {**os.environ, "PYTHONPATH": str(SRC), "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    environment.pop("PYTEST_CURRENT_TEST", None)  # NiceGUI would take itself for being tested from inside
    command = [sys.executable, "-c", BEGIN, "app", str(root), "--port", "0", "--no-open", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=root) as process:
        assert process.stdout is not None
        try:
            yield Server(root, _link(process.stdout.readline()), process)  # it listens when it shows the link
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(45)
            except subprocess.TimeoutExpired:
                process.kill()


@dataclass
class Watched:
    """A page of a browser, and what went wrong in it.

    Args:
        page: Playwright's.
        base: address of the server.
        errors: of the console, and exceptions of scripts.
        outside: addresses of other machines that the page asked for.
    """

    page: object
    base: str
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)


@contextlib.contextmanager
def browsed(server: Server, width: int = 1280, height: int = 900) -> Iterator[Watched]:
    """Debian's Chromium at the server's first page; the test is skipped where there is none."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is a development dependency")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]
        )
        page = browser.new_context(viewport={"width": width, "height": height}).new_page()
        watched = Watched(page, server.base)
        page.on("console", lambda m: _note(watched.errors, m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: _note(watched.errors, str(error)))
        page.on("request", lambda r: None if _own(r.url, server.base) else watched.outside.append(r.url))
        page.set_default_timeout(60_000)
        page.goto(server.link)
        page.wait_for_selector("text=Open a recording")
        try:
            yield watched
        finally:
            browser.close()


def _note(errors: list[str], text: str) -> None:
    if not any(word in text for word in QUIET):
        errors.append(text)


def _own(url: str, base: str) -> bool:
    return url.startswith((base + "/", base.replace("http:", "ws:") + "/", "data:", "blob:"))
