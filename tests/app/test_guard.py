"""The door: who may come in, and what is refused before any page sees it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nefty.app.access import MOST, Access
from nefty.app.guard import Address, Guard
from nefty.core.errors import InputError

ADDRESS = Address("127.0.0.1", 8050)
HOST = (b"host", b"127.0.0.1:8050")


def asked(guard: Guard, path: str = "/", query: str = "", *headers: tuple[bytes, bytes], kind: str = "http") -> dict:
    """Status, headers and whether the application behind the door was reached."""
    scope: dict[str, Any] = {
        "type": kind, "method": "GET", "path": path, "query_string": query.encode(), "headers": list(headers),
    }  # fmt: skip
    sent: list[dict] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict:
        return {"type": "websocket.connect"}

    asyncio.run(guard(scope, receive, send))  # pyright: ignore[reportArgumentType]
    return sent[0]


async def behind(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})


@pytest.fixture
def guard() -> Guard:
    return Guard(behind, Access(), ADDRESS)


def entered(guard: Guard) -> tuple[bytes, bytes]:
    """A session's cookie."""
    answer = asked(guard, "/", f"token={guard.access.token}", HOST)
    assert answer["status"] == 303
    cookie = dict(answer["headers"])[b"set-cookie"]
    assert b"HttpOnly" in cookie
    assert b"SameSite=Strict" in cookie
    return b"cookie", cookie.split(b";")[0]


def test_a_link_opens_once_and_the_cookie_stays(guard):
    token, told = guard.access.token, []
    guard.access._spent = lambda: told.append(guard.access.token)
    cookie = entered(guard)
    assert asked(guard, "/", "", HOST, cookie)["status"] == 200
    assert asked(guard, "/", f"token={token}", HOST)["status"] == 403
    assert told == [guard.access.token]
    assert told != [token]


def test_without_a_session_nothing_is_reached(guard):
    for path in ("/", "/upload", "/_nicegui/3/static/x.js", "/recording"):
        assert asked(guard, path, "", HOST)["status"] == 403
    assert asked(guard, "/recording", f"token={guard.access.token}", HOST)["status"] == 403
    assert asked(guard, "/", "", HOST, (b"cookie", b"nefty-8050=guess"))["status"] == 403
    assert asked(guard, "/", "", HOST, (b"cookie", b"\xff=;;"))["status"] == 403
    assert asked(guard, "/ws", "", HOST, kind="websocket")["type"] == "websocket.close"


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "header",
    [
        (b"origin", b"http://evil.example"),
        (b"origin", b"http://127.0.0.1:9999"),
        (b"origin", b"https://127.0.0.1:8050"),
        (b"origin", b"http://localhost:8050"),
        (b"origin", b"null"),
        (b"sec-fetch-site", b"cross-site"),
        (b"sec-fetch-site", b"same-site"),
    ],
)
def test_other_origins_are_refused_with_a_good_cookie(guard, header, kind):
    cookie = entered(guard)
    answer = asked(guard, "/", "", HOST, cookie, header, kind=kind)
    assert answer.get("status") == 403 or answer["type"] == "websocket.close"


def test_own_pages_pass(guard):
    cookie, own = entered(guard), (b"origin", b"http://127.0.0.1:8050")
    assert asked(guard, "/", "", HOST, cookie, own, (b"sec-fetch-site", b"same-origin"))["status"] == 200
    assert asked(guard, "/", "", HOST, cookie, own, kind="websocket")["type"] == "websocket.accept"


@pytest.mark.parametrize("host", [b"evil.example:8050", b"127.0.0.1", b"127.0.0.1:8051", b""])
def test_a_foreign_name_that_points_here_is_refused(guard, host):
    assert asked(guard, "/", "", (b"host", host), entered(guard))["status"] == 403


def test_answers_carry_the_policy(guard):
    headers = dict(asked(guard, "/", "", HOST, entered(guard))["headers"])
    assert b"default-src 'self'" in headers[b"content-security-policy"]
    assert headers[b"x-content-type-options"] == b"nosniff"


def test_a_stated_token_opens_again_and_must_be_long():
    guard = Guard(behind, Access("a long token of mine"), Address("192.0.2.7", 80))
    for _ in range(2):
        assert asked(guard, "/", "token=a long token of mine", (b"host", b"192.0.2.7:80"))["status"] == 303
    with pytest.raises(InputError, match="at least 16"):
        Access("short")


def test_old_sessions_end():
    access = Access("a long token of mine")
    sessions = [access.redeem("a long token of mine") or "" for _ in range(MOST + 1)]
    assert not access.knows(sessions[0])
    assert access.knows(sessions[-1])
