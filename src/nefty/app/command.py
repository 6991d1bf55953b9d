"""``nefty app``: the verb of the command line; nothing heavy is imported before it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    folder: Annotated[
        Path, typer.Argument(help="The folder with your recordings; the app cannot access anything outside it.")
    ] = Path(),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 chooses a free one.")] = 8050,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any other than this machine's own needs --token.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="Your own token, at least 16 characters, valid until the app ends. Default: links that work once.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of runs at a time; others wait.")] = 1,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the link in the browser.")] = True,
) -> None:
    """Open recordings, run and compare in the browser; nothing leaves this machine.

    Uploads, runs and pictures go to the folder nefty-app inside FOLDER. Ctrl-C ends the app; runs that work keep their
    state, and go on when you press Resume.
    """
    opened = False

    def ready(link: str) -> None:
        nonlocal opened
        typer.echo(f"{'For another browser' if opened else 'Open'}: {link}")
        if show and not opened:
            import threading
            import webbrowser

            threading.Thread(target=webbrowser.open, args=[link], daemon=True).start()
        opened = True

    from nefty.app.server import serve

    serve(folder, host=host, port=port, token=token, at_once=jobs, ready=ready)
