"""Which page is at which address."""

from __future__ import annotations

from nicegui import ui

from nefty.app.desk import Desk
from nefty.app.pages.compare import compare_page
from nefty.app.pages.home import home_page
from nefty.app.pages.layout import Trouble, framed, trouble
from nefty.app.pages.recording import recording_page
from nefty.app.pages.run import run_page
from nefty.app.pages.runs import runs_page
from nefty.core.errors import NeftyError


def register_pages(desk: Desk) -> None:
    """Let NiceGUI know the pages."""

    @ui.page("/", title="nefty: recordings")
    def home(folder: str = "") -> None:
        with framed(desk, "Recordings"), Trouble():
            home_page(desk, folder)

    @ui.page("/recording", title="nefty: recording")
    async def recording(file: str = "") -> None:
        with framed(desk, "Recordings") as body:
            try:
                await recording_page(desk, file)
            except NeftyError as error:
                body.clear()
                with body:
                    trouble(str(error))

    @ui.page("/runs", title="nefty: runs")
    def runs() -> None:
        with framed(desk, "Runs"), Trouble():
            runs_page(desk)

    @ui.page("/run", title="nefty: run")
    def run(name: str = "") -> None:
        with framed(desk, "Runs"), Trouble():
            run_page(desk, name)

    @ui.page("/compare", title="nefty: compare")
    async def compare(a: str = "", b: str = "") -> None:
        with framed(desk, "Compare") as body:
            try:
                await compare_page(desk, a, b)
            except NeftyError as error:
                body.clear()
                with body:
                    trouble(str(error))
