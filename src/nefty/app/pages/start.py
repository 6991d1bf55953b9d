"""The last step before a run: how, its name, and the command that does the same."""

from __future__ import annotations

from urllib.parse import quote

from nicegui import ui

from nefty.app.pages.layout import code, notice
from nefty.app.pages.viewing import Viewing
from nefty.core.configuration import parse_assignment
from nefty.core.errors import InputError, NeftyError

RECIPES = {
    "": "chosen by the recording",
    "fast": "fast: the paper's kind of specimen",
    "real": "real: a camera's recording of a part",
    "paper": "paper: as published, slow",
    "neural": "neural: a network as the unknown, slow",
}


def start_panel(viewing: Viewing) -> None:
    """Settings, the command line and Python for what was clicked, and the button."""
    draft = viewing.draft
    with ui.element("div").classes("form"):
        ui.select(
            RECIPES,
            value=draft.recipe or "",
            label="Recipe",
            on_change=lambda e: viewing.set(recipe=e.value or None),
        ).props("dense outlined options-dense data-run=recipe")
        ui.number(
            "False calls accepted in a sound part",
            value=draft.false_calls,
            placeholder="0.05",
            min=0,
            max=10,
            on_change=lambda e: viewing.set(false_calls=float(e.value) if e.value else None),
        ).props("dense outlined stack-label")
        ui.number(
            "Pause after, in seconds",
            value=draft.seconds,
            placeholder="never",
            min=1,
            on_change=lambda e: viewing.set(seconds=float(e.value) if e.value else None),
        ).props("dense outlined stack-label")
        ui.input(
            "Change the recipe",
            value="; ".join(draft.settings),
            placeholder="model.layers=24; stages.finish.iterations=60",
            on_change=lambda e: _take_settings(viewing, e.value or ""),
        ).props("dense outlined stack-label data-run=settings debounce=300")
    shown = ui.column().classes("w-full gap-2")

    def show() -> None:
        shown.clear()
        draft, jobs = viewing.draft, viewing.desk.jobs
        out = jobs.out(jobs.next_name(draft))
        with shown:
            ui.label(f"The same at a terminal, in {viewing.desk.root.path}").classes("quiet")
            code(draft.command(out)).props("data-run=command")
            with ui.expansion("The same in Python").classes("w-full").props("dense"):
                code(draft.python(out)).props("data-run=python")

    viewing.on_change(show)
    show()
    problem = ui.column().classes("w-full")

    async def start() -> None:
        problem.clear()
        button.disable()
        try:
            if not viewing.up_to_date and not await viewing.look_again():
                _say(problem, viewing.problem)
                return
            assert viewing.look is not None
            if missing := viewing.look.account.missing:
                _say(problem, f"Missing: {'; '.join(fact.what for fact in missing)}. Say it under Facts.")
                return
            name = viewing.desk.jobs.add(viewing.draft)
        except NeftyError as error:
            _say(problem, str(error))
            return
        finally:
            button.enable()
        ui.navigate.to(f"/run?name={quote(name)}")

    button = ui.button("Run", icon="play_arrow", on_click=start).props("unelevated size=lg data-run=start")


def _take_settings(viewing: Viewing, text: str) -> None:
    """Keep changes of the recipe, once all of them can be read."""
    settings = tuple(one.strip() for one in text.split(";") if one.strip())
    try:
        for one in settings:
            parse_assignment(one)
    except InputError:
        return  # still being typed
    viewing.set(settings=settings)


def _say(where: ui.column, text: str) -> None:
    with where:
        notice(text, "caution")
