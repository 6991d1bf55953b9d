"""The web server: routes and pages, the door in front of them, start and end."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nefty.app.access import Access
from nefty.app.guard import LOOPBACK, Address, Guard
from nefty.app.root import WORK, Root
from nefty.app.uploads import remove_remains
from nefty.core.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

FAVICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='6' fill='#1f2933'/>"
    "<path d='M8 22c4 0 4-12 8-12s4 12 8 12' stroke='#E69F00' stroke-width='3' fill='none'/></svg>"
)
CLOSING = 3  # seconds for open connections when the server ends


def serve(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8050,
    token: str | None = None,
    at_once: int = 1,
    ready: Callable[[str], object] = print,
) -> None:
    """Serve the app until Ctrl-C.

    Args:
        folder: that the app sees.
        host: to listen on; another than this machine's own needs a stated token.
        port: to listen on; 0 takes one that is free.
        token: of the user's own, instead of one-time links.
        at_once: runs that work at a time.
        ready: called with the link, when the server listens, and with the next one when a link was used.
    """
    if host not in ("127.0.0.1", "localhost", "::1") and token is None:
        raise InputError(
            f"--host {host} lets other machines in; state a token that you give to them: --token, 16 letters or more."
        )
    root = Root.of(folder)
    remove_remains(root)
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(root.path / WORK / ".nicegui"))
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError("nefty app needs NiceGUI; install it with: pip install 'nefty[app]'.") from None
    access = Access(token, spent=lambda: ready(address.link(access.token)))
    listening = _listening(host, port)
    address = Address(host, listening.getsockname()[1])
    guarded = Guard(application(root, at_once), access, address)
    config = uvicorn.Config(
        guarded,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSING,
        ws_max_size=2**22,
    )
    _told(uvicorn.Server(config), lambda: ready(address.link(access.token))).run(sockets=[listening])


def _told(server: uvicorn.Server, ready: Callable[[], object]) -> uvicorn.Server:
    """A server that calls ``ready`` once it listens, so that nobody follows a link too early."""
    startup = server.startup

    async def listen(sockets: list[socket.socket] | None = None) -> None:
        await startup(sockets=sockets)
        if server.started:
            ready()

    server.startup = listen
    return server


def application(root: Root, at_once: int = 1) -> ASGIApp:
    """Routes and pages, without the door."""
    try:
        from nicegui import app as pages
        from nicegui import ui
    except ImportError:
        raise MissingExtraError("nefty app needs NiceGUI; install it with: pip install 'nefty[app]'.") from None
    from nefty.app.desk import desk_of
    from nefty.app.pages.register import register_pages
    from nefty.app.routes import routed

    desk = desk_of(root, at_once)
    app = routed(desk)
    register_pages(desk)
    ui.run_with(
        app, title="nefty", favicon=FAVICON, show_welcome_message=False, reconnect_timeout=20.0, storage_secret=None
    )
    pages.on_shutdown(desk.jobs.close)
    return app


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        other = "choose another with --port, or 0 for one that is free" if host in LOOPBACK else "check --host"
        raise InputError(f"cannot listen on {host}:{port} ({error.strerror}); {other}.") from error
    return found
