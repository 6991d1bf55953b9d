"""The page of the commands: what each says with ``--help``."""

from __future__ import annotations

from typing import Any

import typer.main

from nefty.cli.main import app

WIDTH = 88


def helps(command: Any, name: str, above: Any = None) -> list[tuple[str, str]]:
    """Names and help texts of a command and of those below it, in the order in which they are listed.

    Typer may bring a click of its own, so that commands are known by what they can do and not by their class.
    """
    context = command.context_class(
        command, info_name=name, parent=above, terminal_width=WIDTH, max_content_width=WIDTH
    )
    found = [(context.command_path, command.get_help(context))]
    for word in command.list_commands(context) if hasattr(command, "list_commands") else ():
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
