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
        notice("Nothing was run yet. Open a recording, say what is known of it, and press Run.")
        return
    with panel():
        run_rows(desk, names)
    ui.label(
        "One run works at a time, the others wait. Closing this page stops nothing; a run that is cancelled keeps the "
        "best so far and can go on."
    ).classes("quiet")


def run_rows(desk: Desk, names: list[str]) -> None:
    """A row for each of these runs, kept up to date."""

    @ui.refreshable
    def rows() -> None:
        for name in names:
            try:
                _row(desk, desk.jobs.run(name))
            except InputError:
                continue  # deleted by hand

    seen: list[object] = []

    def again() -> None:
        now = [_telling(desk, name) for name in names]
        if now != seen:
            seen[:] = now
            rows.refresh()

    rows()
    seen[:] = [_telling(desk, name) for name in names]
    ui.timer(EVERY, again)


def _telling(desk: Desk, name: str) -> object:
    """What of a run is shown; another value means that it must be drawn again."""
    try:
        run = desk.jobs.run(name)
    except InputError:
        return None
    return run.state, run_words(desk, run)


def _row(desk: Desk, run: Run) -> None:
    with ui.row().classes("w-full items-center no-wrap gap-2"):
        with ui.link(target=f"/run?name={quote(run.name)}").classes("row-link").props(f"data-run={run.name}"):
            chip(run.state)
            with ui.column().classes("gap-0").style("flex: 1; min-width: 0"):
                ui.label(run.name).style("font-weight: 600; overflow-wrap: anywhere")
                ui.label(f"{run.draft.file}: {run_words(desk, run)}").classes("quiet")
        run_buttons(desk, run)


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
        return f"Stopped{at}; Resume goes on from there.{best}"
    if progress is None:
        return "reading the recording"
    if not progress.total:
        return progress.stage
    left = f", about {duration(progress.left)} left" if progress.left > 0 else ""
    misfit = f", misfit {progress.misfit:.3g} × noise floor" if progress.misfit >= 0 else ""
    return f"{progress.step}: iteration {progress.done} of {progress.total}{misfit}{left}"
