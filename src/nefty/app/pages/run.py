"""The page of a run: how far it is, and its result as soon as there is one. It only watches the run's folder."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from nicegui import ui

from nefty.app.desk import Desk
from nefty.app.jobs import Run, State
from nefty.app.pages.layout import code, fact, notice, panel
from nefty.app.pages.result import result_panels
from nefty.app.pages.runs import chip, run_buttons, run_words
from nefty.core.errors import NeftyError
from nefty.core.words import duration

EVERY = 0.7  # seconds between two looks at the folder
#: What a run does, in order; which of them there are depends on the recipe.
STAGES = (
    "Prepare the recording",
    "Calibrate the background",
    "Look for what the frames show",
    "Optimise",
    "Weigh the evidence",
    "Predict the frames",
)


def run_page(desk: Desk, name: str) -> None:
    """Fill the page."""
    run = desk.jobs.run(name)
    with ui.row().classes("items-center gap-3"):
        ui.label(name).classes("title")
        state = ui.row()
    ui.link(run.draft.file, f"/recording?file={quote(run.draft.file)}").classes("quiet")
    with panel():
        progress = ui.column().classes("w-full gap-2").props("data-run=progress")
        buttons = ui.row().classes("items-center gap-4")
        with ui.expansion("Command and log").classes("w-full").props("dense"):
            code(run.draft.command(desk.jobs.out(name))).props("data-run=command")
            log = ui.element("pre").classes("code").style("max-height: 16rem; overflow-y: auto; margin-top: .5rem")
            with log:
                text = ui.label("").style("display: inline")
    result = ui.column().classes("w-full gap-4")
    seen: list[object] = [None, None, None]

    async def watch() -> None:
        now = desk.jobs.run(name)
        telling = (now.state, run_words(desk, now))
        if telling != seen[0]:
            seen[0] = telling
            progress.clear()
            with progress:
                _progress(desk, now)
            text.set_text(desk.jobs.log(name))
        if now.state is not seen[2]:  # what is being clicked must stay
            seen[2] = now.state
            state.clear()
            with state:
                chip(now.state)
            buttons.clear()
            with buttons:
                _buttons(desk, now)
        settled = now.has_result and now.state not in (State.RUNNING, State.WAITING)
        if settled != seen[1]:
            seen[1] = settled
            result.clear()
            if settled:
                await _show_result(desk, now, result)

    ui.timer(EVERY, watch, immediate=True)


def _progress(desk: Desk, run: Run) -> None:
    """Stage, iterations, misfit, time left; and what can be done."""
    progress = run.progress
    if run.state is State.RUNNING:
        _stages(progress.stage if progress else "")
        if progress is not None and progress.total:
            ui.linear_progress(progress.done / progress.total, show_value=False, size="8px")
            with ui.row().classes("w-full gap-6"):
                fact("Iteration", f"{progress.done} of {progress.total}", progress.step)
                if progress.misfit >= 0:
                    fact("Misfit", f"{progress.misfit:.3g}", "over the noise floor, which is 1")
                fact("Time left", duration(progress.left) if progress.left > 0 else "–", "of this stage, at this pace")
        else:
            ui.linear_progress(show_value=False, size="8px").props("indeterminate")
    else:
        tone = {State.FINISHED: "good", State.FAILED: "bad", State.PAUSED: "caution"}.get(run.state, "")
        titles = {State.FINISHED: "Finished", State.FAILED: "It failed", State.PAUSED: "Paused"}
        notice(run_words(desk, run), tone, titles.get(run.state, "In the queue"))


def _buttons(desk: Desk, run: Run) -> None:
    run_buttons(desk, run)
    if run.state is State.FINISHED:
        ui.link("Compare with another run", f"/compare?b={quote(run.name)}").classes("quiet")
    if run.state is State.RUNNING:
        ui.label("You may close this page: the run continues, and this address shows it again.").classes("quiet")


def _stages(now: str) -> None:
    """The stages as a row of words, the present one in bold."""
    reading = "Read the recording"
    here = now or reading
    with ui.row().classes("gap-x-4 gap-y-1"):
        for stage in (reading, *STAGES):
            style = "font-weight: 650" if stage == here else "color: #9aa5b1"
            ui.label(stage).style(style)


async def _show_result(desk: Desk, run: Run, where: ui.column) -> None:
    """Load the result beside the server's own work, then show it."""
    with where:
        spinner = ui.row().classes("items-center gap-2")
        with spinner:
            ui.spinner(size="1.4rem")
            ui.label("Loading the result").classes("quiet")
    try:
        shown = await asyncio.to_thread(desk.results.of, run.folder)
    except NeftyError as error:
        with where:
            notice(str(error), "bad")
        return
    finally:
        spinner.delete()
    with where:
        if run.state is not State.FINISHED:
            notice("The run is not finished; this is the best so far.", "caution")
        result_panels(desk, run, shown)
