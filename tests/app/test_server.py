"""A real server and what may not be done to it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from pathlib import Path

import pytest

from nefty.app.root import WORK
from support.app.server import Server, served
from support.app.tiny_recording import write_counts, write_tiny

httpx = pytest.importorskip("httpx", reason="comes with the extra 'app'")
pytest.importorskip("nicegui", reason="the app needs the extra 'app'")
MARKUP = "<img src=x onerror=alert(1)>.npy"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "root"
    folder.mkdir()
    write_tiny(folder / "tiny.h5")
    write_counts(folder / MARKUP)
    (folder.parent / "secret.npy").write_bytes(b"secret")
    (folder / "link.npy").symlink_to(folder.parent / "secret.npy")
    return folder


@pytest.fixture(scope="module")
def server(root):
    with served(root) as started:
        yield started


@pytest.fixture(scope="module")
def client(server):
    cookie = server.session()
    with httpx.Client(base_url=server.base, headers={"cookie": cookie}, timeout=60) as found:
        yield found


def uploads(server: Server) -> list[str]:
    return sorted(path.name for path in (server.root / WORK / "uploads").iterdir())


def test_the_link_works_once_and_the_next_is_shown(server, client):
    assert httpx.get(server.link).status_code == 403
    assert httpx.get(server.next_link()).status_code == 303


def test_without_a_token_nothing_is_given(server, client):
    for path in ("/", "/recording?file=tiny.h5", "/_nicegui_ws/socket.io/?EIO=4&transport=polling", "/upload"):
        assert httpx.get(server.base + path).status_code == 403
    assert httpx.put(f"{server.base}/upload?name=a.npy&size=3", content=b"abc").status_code == 403
    assert uploads(server) == []


def test_another_origin_is_refused_though_the_cookie_is_right(server, client):
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "same-site"}, {"host": "evil.example"}):
        assert client.get("/", headers=headers).status_code == 403
        assert client.put("/upload?name=a.npy&size=3", content=b"abc", headers=headers).status_code == 403
    assert uploads(server) == []


def test_a_websocket_of_another_origin_is_refused(server, client):
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    address = f"ws://127.0.0.1:{server.port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    cookie = client.headers["cookie"]
    for headers in (
        {"cookie": cookie, "origin": "http://evil.example"},
        {"origin": server.base},
    ):
        with pytest.raises(InvalidStatus):
            connect(address, additional_headers=headers, proxy=None).close()
    with connect(address, additional_headers={"cookie": cookie, "origin": server.base}, proxy=None) as own:
        assert str(own.recv(10)).startswith("0{")


@pytest.mark.parametrize(
    "name", ["../secret.npy", "/etc/passwd", "link.npy", "..%2Fsecret.npy", "nefty-app/../../secret.npy", "%00"]
)
def test_a_path_outside_the_root_is_not_opened(client, name):
    for page in ("/recording?file=", "/?folder="):
        answer = client.get(page + name)
        assert "secret" not in answer.text.replace(name, "").replace("secret.npy", "")
        assert "cannot be shown" in answer.text or answer.status_code >= 400


@pytest.mark.parametrize(
    "path",
    [
        "/file/..%2F..%2F..%2F/secret.npy", "/file/none/report.html", "/file/x/..%2F..%2Fsecret.npy",
        "/picture/..%2F..%2Fx/0.png?low=0&high=1", "/picture/aaaa/0.png?low=0&high=1",
        f"/picture/{'0' * 32}/0.png?low=nan&high=1", "/run?name=..%2F..%2Fx", "/compare?a=..%2Fx&b=..%2Fx",
    ],
)  # fmt: skip
def test_files_and_runs_outside_are_not_given(client, path):
    answer = client.get(path)
    assert b"secret" not in answer.content.replace(b"secret.npy", b"")
    assert answer.status_code < 500
    if path.startswith(("/file", "/picture")):
        assert answer.status_code >= 400


def test_a_name_with_markup_stays_text(client):
    page = client.get("/").text
    assert MARKUP not in page  # as markup it would stand there as it is
    assert "onerror=alert(1)" in page


def test_an_upload_arrives_and_one_that_lies_does_not(server, client):
    good = client.put("/upload", params={"name": "up <b>.npy", "size": 5}, content=b"hello")
    assert good.status_code == 200
    assert (server.root / good.text).read_bytes() == b"hello"
    for size, content in ((4, b"hello"), (9, b"hello"), (0, b"")):
        assert client.put("/upload", params={"name": "x.npy", "size": size}, content=content).status_code == 400

    def stream():
        yield b"hello"

    assert client.put("/upload", params={"name": "x.npy", "size": 5}, content=stream()).status_code == 400
    assert client.put("/upload", params={"name": "x.exe", "size": 5}, content=b"hello").status_code == 400
    assert uploads(server) == ["up _b_.npy"]


@pytest.mark.parametrize(("stated", "sent"), [(1000, b"short"), (5, b"much longer than stated")])
def test_raw_bytes_that_do_not_fit_the_length_leave_nothing_or_what_was_stated(server, client, stated, sent):
    """Below HTTP: a connection that ends early leaves no file; what comes beyond the length is never part of one."""
    before = uploads(server)
    request = (
        f"PUT /upload?name=raw.npy&size={stated} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Cookie: {client.headers['cookie']}\r\nContent-Length: {stated}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(request.encode() + sent)
        connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            while connection.recv(65536):
                pass
    late = time.monotonic() + 5
    while any(name.startswith(".") for name in uploads(server)) and time.monotonic() < late:
        time.sleep(0.05)
    new = set(uploads(server)) - set(before)
    if len(sent) < stated:
        assert new == set()
    else:
        assert all((server.root / WORK / "uploads" / name).read_bytes() == sent[:stated] for name in new)


def test_two_hundred_requests_at_once_are_answered(server, client):
    async def all_at_once() -> list[int]:
        headers = {"cookie": client.headers["cookie"]}
        limits = httpx.Limits(max_connections=200)
        async with httpx.AsyncClient(base_url=server.base, headers=headers, timeout=60, limits=limits) as many:
            paths = ["/file/none/report.html", f"/picture/{'0' * 32}/0.png?low=0&high=1", "/?folder=nefty-app", "/runs"]
            answers = await asyncio.gather(*(many.get(paths[k % 4]) for k in range(200)))
        return [answer.status_code for answer in answers]

    codes = asyncio.run(all_at_once())
    assert set(codes) <= {200, 400, 404}
    assert codes.count(200) == 100
    assert client.get("/").status_code == 200
