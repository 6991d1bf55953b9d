"""What is known of a recording as a form: what the file says, what is missing, and what would be assumed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nicegui import ui

from nefty.app.account import Account
from nefty.app.pages.fact_fields import MAIN, MORE, FactField
from nefty.app.pages.layout import cell, notice
from nefty.app.pages.viewing import Viewing
from nefty.app.saved_facts import save_facts
from nefty.core.errors import InputError, NeftyError
from nefty.data.intake.part_file import own_file


@dataclass(frozen=True, eq=False)
class _Input:
    """One fact on the page."""

    field: FactField
    value: Any
    unit: Any = None

    def read(self) -> Any:
        if self.field.kind == "flag":
            return bool(self.value.value)
        return self.field.read(str(self.value.value or ""), "" if self.unit is None else str(self.unit.value))


def facts_panel(viewing: Viewing, *, reload: bool = False) -> None:
    """The form, a button that checks it, and what came of it.

    Args:
        viewing: of the page.
        reload: load the page anew after a look that worked, of a recording that could not be read before.
    """
    account = None if viewing.look is None else viewing.look.account
    state = ui.column().classes("w-full gap-1").props("data-facts=state")
    inputs: list[_Input] = []
    with ui.element("div").classes("form"):
        inputs += [_input(field, viewing, account) for field in MAIN if not _refused(field, account)]
    with (
        ui.expansion("More: preparation, camera, file").classes("w-full").props("dense"),
        ui.element("div").classes("form"),
    ):
        inputs += [_input(field, viewing, account) for field in MORE if not _refused(field, account)]

    async def check() -> None:
        try:
            said = {one.field.name: one.read() for one in inputs}
        except InputError as error:
            ui.notify(str(error), type="warning")
            return
        button.disable()
        word.set_text("Reading")
        viewing.say(**said)
        good = await viewing.look_again(lambda stage, fraction: word.set_text(f"{stage}, {100 * fraction:.0f} %"))
        word.set_text("")
        button.enable()
        if good and reload:
            ui.navigate.reload()

    async def save() -> None:
        await check()
        if viewing.problem:
            return
        word.set_text("Saving")
        try:
            word.set_text(f"Saved as {await save_facts(viewing.desk.root, viewing.draft)}, beside the recording.")
        except NeftyError as error:
            word.set_text(str(error))

    with ui.row().classes("items-center gap-3"):
        button = ui.button("Check these facts", icon="check", on_click=check).props("unelevated")
        ui.button("Save them", icon="save", on_click=save).props("outline data-facts=save").tooltip(
            f"into {own_file(Path(viewing.file)).name} beside the recording, which nefty reads from then on"
        )
        word = ui.label("").classes("quiet")
    found = ui.column().classes("w-full gap-1")

    def show() -> None:
        state.clear()
        found.clear()
        with state:
            _state(viewing)
        if viewing.look is not None:
            with found:
                _summary(viewing.look.account)

    viewing.on_change(show)
    show()


def _refused(field: FactField, account: Account | None) -> bool:
    return field.of_part and account is not None and account.complete


def _input(field: FactField, viewing: Viewing, account: Account | None) -> _Input:
    """One input with its unit; a fact that is missing is marked, one that the file says is shown in grey."""
    text, unit = field.parts(viewing.draft.known)
    needed = account is not None and any(fact.name == field.name for fact in account.missing)
    label = f"{field.label} (needed)" if needed else field.label
    props = f"dense outlined stack-label data-fact={field.name}{' bg-color=amber-1' if needed else ''}"
    with ui.column().classes("gap-0 w-full"):
        with ui.row().classes("w-full no-wrap items-center gap-1"):
            if field.kind == "flag":
                return _Input(field, ui.checkbox(field.label, value=bool(text)).props(f"dense data-fact={field.name}"))
            if field.kind == "choice":
                value: Any = ui.select(["", *field.choices], value=text, label=label).props(props + " options-dense")
            else:
                value = ui.input(label, value=text, placeholder=_of_file(field, account)).props(props)
            value.style("flex: 1; min-width: 0")
            chosen = ui.select(list(field.units), value=unit).props("dense options-dense borderless") if unit else None
        hint = field.hint
        if field.kind == "choice" and (said := _of_file(field, account)):
            hint = said
        if hint:
            ui.label(hint).classes("quiet").style("font-size: .78rem; padding-left: .2rem")
    return _Input(field, value, chosen)


def _of_file(field: FactField, account: Account | None) -> str:
    """What the file itself says of a fact."""
    if account is None:
        return ""
    if field.name == "material" and account.material:
        return f"now: {account.material}"
    if not account.in_metres:
        return ""
    if field.name == "thickness" and account.thickness is not None:
        return f"now: {1e3 * account.thickness:.4g} mm"
    if field.name == "pixel" and account.pixel is not None:
        return "now: " + " × ".join(dict.fromkeys(f"{1e3 * side:.4g}" for side in account.pixel)) + " mm"
    if field.name == "alpha" and account.alpha is not None:
        return f"now: {account.alpha:.4g} m2/s"
    return ""


def _state(viewing: Viewing) -> None:
    """What is missing, or that nothing is."""
    if viewing.problem:
        notice(viewing.problem, "bad", "These facts do not fit")
        return
    if viewing.look is None:
        return
    account = viewing.look.account
    if account.missing:
        wanted = "; ".join(f"{fact.what}, such as {fact.example}" for fact in account.missing)
        notice(f"Missing: {wanted}.", "caution", "A run would ask for more")
    elif account.complete:
        notice("This recording is complete: nefty made or prepared it.", "good", "Nothing is missing")
    else:
        assumed = sum(step.assumed for step in account.steps)
        more = f" {assumed} of the steps below make an assumption." if assumed else ""
        notice(f"The recording can be run.{more}", "good", "Nothing is missing")


def _summary(account: Account) -> None:
    """What ``nefty inspect`` says."""
    ui.label("What the recording contains, and how it is prepared").classes("heading")
    with ui.element("table").classes("list"), ui.element("tbody"):
        for told in account.summary:
            with ui.element("tr"):
                cell("th", told.name)
                with ui.element("td"):
                    ui.label(told.text).style("display: inline")
                    if told.assumed:
                        ui.label("assumed").classes("chip paused").style("margin-left: .4rem")
