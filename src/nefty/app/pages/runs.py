"""All runs, the queue included."""

from __future__ import annotations

from urllib.parse import quote

from nicegui import ui

from nefty.app.desk import Desk
from nefty.app.jobs import Run, State
from nefty.app.pages.layout import notice, panel
from nefty.core.errors import InputError
from nefty.core.words import duration

EVERY = 1.0  # seconds between two looks at the folders
MOST = 100  # runs that are listed


def runs_page(desk: Desk) -> None:
    """Fill the page."""
    ui.label("Runs").classes("title")
    names = [run.name for run in desk.jobs.runs()[:MOST]]
    if not names:
        notice("There are no runs yet. Open a recording, enter its facts, and press Run.")
        return
    with panel():
        run_rows(desk, names)
    ui.label(
        "Runs are executed one at a time; the others wait. Closing this page stops nothing; a cancelled run keeps the "
        "best result so far and can be resumed."
    ).classes("quiet")


def run_rows(desk: Desk, names: list[str]) -> None:
    """A row for each of these runs, kept up to date; what can be clicked is only made anew when the state changes."""
    rows = [_Row(desk, name) for name in names]

    def again() -> None:
        for row in rows:
            row.show()

    again()
    ui.timer(EVERY, again)


class _Row:
    """One run in a list.

    Args:
        desk: of the server.
        name: of the run.
    """

    def __init__(self, desk: Desk, name: str) -> None:
        self.desk, self.name = desk, name
        self.state: State | None = None
        with ui.row().classes("w-full items-center no-wrap gap-2") as self.row:
            with ui.link(target=f"/run?name={quote(name)}").classes("row-link").props(f"data-run={name}"):
                self.chip = ui.row()
                with ui.column().classes("gap-0").style("flex: 1; min-width: 0"):
                    ui.label(name).style("font-weight: 600; overflow-wrap: anywhere")
                    self.words = ui.label().classes("quiet")
            self.buttons = ui.row()

    def show(self) -> None:
        """As the folder says now."""
        try:
            run = self.desk.jobs.run(self.name)
        except InputError:
            self.row.set_visibility(False)  # deleted by hand
            return
        self.words.set_text(f"{run.draft.file}: {run_words(self.desk, run)}")
        if run.state is not self.state:
            self.state = run.state
            self.chip.clear()
            self.buttons.clear()
            with self.chip:
                chip(run.state)
            with self.buttons:
                run_buttons(self.desk, run)


def run_buttons(desk: Desk, run: Run) -> None:
    """Cancel or go on, whichever there is to do."""
    if run.state in (State.RUNNING, State.WAITING):
        ui.button("Cancel", icon="stop", on_click=lambda: desk.jobs.cancel(run.name)).props("outline size=sm")
    elif run.state in (State.PAUSED, State.FAILED):
        ui.button("Resume", icon="play_arrow", on_click=lambda: desk.jobs.resume(run.name)).props("outline size=sm")


def chip(state: State) -> None:
    """The state as a coloured word."""
    ui.label(state.value).classes(f"chip {state.value}")


def run_words(desk: Desk, run: Run) -> str:
    """One line about how a run is doing."""
    progress = run.progress
    if run.state is State.WAITING:
        before = desk.jobs.position(run.name)
        return f"{before} before it in the queue" if before else "next in the queue"
    if run.state is State.FAILED:
        return run.reason or "its process ended early"
    if run.state is State.FINISHED:
        return "The result is there."
    if run.state is State.PAUSED:
        at = f" at iteration {progress.done} of {progress.total}" if progress and progress.total else ""
        best = " The best so far is kept." if run.has_result else ""
        return f"Stopped{at}; Resume continues from there.{best}"
    if progress is None:
        return "reading the recording"
    if not progress.total:
        return progress.stage
    left = f", about {duration(progress.left)} left" if progress.left > 0 else ""
    misfit = f", misfit {progress.misfit:.3g} × noise floor" if progress.misfit >= 0 else ""
    return f"{progress.step}: iteration {progress.done} of {progress.total}{misfit}{left}"
