"""The door: every request and every websocket is checked here before anything else sees it.

| refused | why |
|---|---|
| a host that is not this server's | a foreign name that was made to point here (DNS rebinding) |
| another origin, or a browser that says the request comes from another site | a foreign page in the same browser |
| no session | whoever has not come through the link |

Answers carry a policy that lets the browser load from this server alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from nefty.app.access import Access

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
NO_SESSION = "Open the link that nefty app shows in its terminal; each link works once, and the next is shown there."


@dataclass(frozen=True)
class Address:
    """Where the server listens.

    Args:
        host: as given by the user.
        port: the port.
    """

    host: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser may call it; of a machine's own address also the loopback names."""
        names = LOOPBACK if self.host in ("127.0.0.1", "localhost", "::1") else (self.host, *LOOPBACK)
        return tuple(f"{name}:{self.port}" for name in names)

    @property
    def cookie(self) -> str:
        """Name of the session's cookie; browsers do not tell ports apart."""
        return f"nefty-{self.port}"

    def link(self, token: str) -> str:
        """The address to open."""
        return f"http://{self.host}:{self.port}/?token={token}"


class Guard:
    """An ASGI application that lets pass to another one what may pass.

    Args:
        app: the other one.
        access: who may.
        address: where this server is.
    """

    def __init__(self, app: ASGIApp, access: Access, address: Address) -> None:
        self.app, self.access, self.address = app, access, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if problem := self._foreign(headers):
            await _refuse(scope, receive, send, 403, problem)
        elif self.access.knows(_cookie(headers, self.address.cookie)):
            await self.app(scope, receive, _with_headers(send))
        elif scope["type"] == "http" and (session := self._redeemed(scope)):
            await self._let_in(send, session)
        else:
            await _refuse(scope, receive, send, 403, NO_SESSION)

    def _foreign(self, headers: dict[str, str]) -> str:
        """Why a request is not from this server's own pages; empty if it may be."""
        host = headers.get("host", "")
        if host not in self.address.hosts:
            return f"This server is not {host[:80]!r}; use the address that nefty app shows."
        origin = headers.get("origin")
        if origin is not None and (origin != f"http://{host}" or urlsplit(origin).netloc not in self.address.hosts):
            return "Pages of another origin may not use this server."
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "Pages of another site may not use this server."
        return ""

    def _redeemed(self, scope: Scope) -> str | None:
        """The session of a link that was opened."""
        if scope["method"] != "GET" or scope["path"] != "/":
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"))
        return self.access.redeem(query["token"][0]) if "token" in query else None

    async def _let_in(self, send: Send, session: str) -> None:
        """Set the cookie and go on without the token in the address."""
        cookie = f"{self.address.cookie}={session}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store"), *HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _cookie(headers: dict[str, str], name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why[:100]})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{why}\n".encode()})
