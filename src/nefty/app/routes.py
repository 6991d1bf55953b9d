"""Addresses besides the pages: uploads, pictures of frames, files of runs."""

from __future__ import annotations

import asyncio

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, PlainTextResponse, Response

from nefty.app.desk import Desk
from nefty.app.uploads import store
from nefty.core.errors import NeftyError
from nefty.core.storage.run_folder import RESULT
from nefty.report.run_files import DERIVED

AT_ONCE = 8  # pictures that are drawn at a time


def routed(desk: Desk) -> FastAPI:
    """An application with these addresses; what nefty refuses is answered in words."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    drawing = asyncio.Semaphore(AT_ONCE)

    @app.exception_handler(NeftyError)
    async def refused(request: Request, error: NeftyError) -> PlainTextResponse:
        return PlainTextResponse(f"{error}\n", 400)

    @app.put("/upload")
    async def upload(request: Request, name: str, size: int) -> PlainTextResponse:
        stated = request.headers.get("content-length", "")
        if not stated.isdecimal() or int(stated) != size:
            return PlainTextResponse(f"{stated or 'no'} bytes are announced, {size} were stated.\n", 400)
        path = await store(desk.root, name, size, request.stream())
        return PlainTextResponse(desk.root.relative(path))

    @app.get("/picture/{key}/{index}.png")
    async def picture(key: str, index: int, low: float, high: float, colours: str = "warm") -> Response:
        async with drawing:
            png = await asyncio.to_thread(desk.looks.kept(key).picture, index, low, high, colours)
        return Response(png, media_type="image/png", headers={"cache-control": "private, max-age=3600"})

    @app.get("/file/{run}/{name}")
    async def file(run: str, name: str) -> Response:
        path = desk.jobs.run(run).folder / name
        if name not in (*DERIVED, RESULT) or not path.is_file() or path.is_symlink():
            return PlainTextResponse(f"the run has no file {name[:40]!r}.\n", 404)
        return FileResponse(path)

    return app
