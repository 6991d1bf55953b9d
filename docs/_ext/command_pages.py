"""The page of the commands: what each says with ``--help``."""

from __future__ import annotations

import typer.main
from click import Command, Context, Group

from nefty.cli.main import app

WIDTH = 100


def helps(command: Command, name: str, above: Context | None = None) -> list[tuple[str, str]]:
    """Names and help texts of a command and of those below it, in the order in which they are listed."""
    context = Context(command, info_name=name, parent=above, terminal_width=WIDTH, max_content_width=WIDTH)
    found = [(context.command_path, command.get_help(context))]
    if isinstance(command, Group):
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            if below is not None and not below.hidden:
                found += helps(below, word, context)
    return found


def commands_page() -> str:
    """The page."""
    lines = ["# Commands", "", "What `nefty COMMAND --help` prints, made by the commands themselves.", ""]
    for path, text in helps(typer.main.get_command(app), "nefty"):
        lines += [f"## `{path}`", "", "```text", text.rstrip(), "```", ""]
    return "\n".join(lines)
