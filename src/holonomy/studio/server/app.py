"""The studio's web server: the built page, one WebSocket per user, and files to take away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

import holonomy
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.server.access import AccessControl, Admit, ServerIdentity
from holonomy.studio.server.outbox import ConnectionTakenOver, Outbox
from holonomy.studio.server.services import Services
from holonomy.studio.server.sessions import MOST_CLIENTS, Sessions
from holonomy.studio.session.session_thread import SessionThread
from holonomy.studio.thumbnails import card
from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.codec import MessageError, decode, encode

STATIC: Final = Path(__file__).parents[1] / "static"
MOST_MISTAKES: Final = 20
"""Messages that are not commands before the socket closes: enough for a page out of step to say so, no flood."""

HEARTBEAT: Final = 0.7
"""Seconds without another message after which the page is told that the server is alive."""
_ALIVE: Final = encode(messages.Alive())

POLICY_VIOLATION: Final = 1008
TRY_AGAIN_LATER: Final = 1013
TAKEN_OVER: Final = 4001


def application(
    labs: tuple[AbstractLab, ...],
    identity: ServerIdentity,
    services: Services,
    *,
    static: Path = STATIC,
    admit: Admit = lambda address: None,
) -> ASGIApp:
    """The whole server as one ASGI application, guarded. The first lab opens unless another is named.

    `admit` is told the address of every connection that has shown the token.
    """
    studio = _Studio(labs, services)
    routes = [
        WebSocketRoute("/live", studio.live),
        Route("/download/{key}", studio.download),
        Route("/labs", studio.catalogue),
        Route("/door", _door),
        Mount("/", _page(static)),
    ]
    return AccessControl(Starlette(routes=routes), identity, admit)


class _Studio:
    """Gives each user a simulation."""

    def __init__(self, labs: tuple[AbstractLab, ...], services: Services):
        self._labs = {lab.name: lab for lab in labs}
        self._first = labs[0].name
        self._services = services
        self._sessions = Sessions(services)
        self._catalogue: bytes | None = None

    async def live(self, socket: WebSocket) -> None:
        """One user, from the first message to the last."""
        await socket.accept()
        lab = self._labs.get(socket.query_params.get("lab", self._first))
        if lab is None:
            await socket.close(POLICY_VIOLATION, f"The studio's labs are: {', '.join(self._labs)}.")
            return
        if self._sessions.full:
            reason = f"The studio serves {MOST_CLIENTS} pages at once; close one of them first."
            await socket.close(TRY_AGAIN_LATER, reason)
            return
        outbox = Outbox(asyncio.get_running_loop())
        wanted = socket.query_params.get("session", "")
        name, live, resumed, before = self._sessions.join(wanted, lab, outbox)
        if before is not None:
            before.end("This simulation was opened in another window.")
        try:
            outbox.say(self._welcome(live, name, resumed))
            await _first_done(_send(socket, outbox), _receive(socket, live, outbox))
        finally:
            self._sessions.leave(name, outbox)

    async def catalogue(self, request: Request) -> Response:
        """All labs with their presets and stories, for the home page."""
        if self._catalogue is None:
            self._catalogue = encode(messages.Catalogue(tuple(card(lab) for lab in self._labs.values()))).encode()
        return Response(self._catalogue, media_type="application/json")

    async def download(self, request: Request) -> Response:
        """A file that a simulation has made, once."""
        file = self._services.downloads.take(request.path_params["key"])
        if file is None:
            return PlainTextResponse("This file was taken already, or its time is over.\n", status_code=404)
        headers = {"Content-Disposition": f'attachment; filename="{file.name}"', "Content-Length": str(file.size)}
        return StreamingResponse(file.blocks(), media_type=file.media, headers=headers)

    def _welcome(self, live: SessionThread, name: str, resumed: bool) -> messages.Welcome:
        entries = tuple(messages.LabEntry(other.name, other.title) for other in self._labs.values())
        simulation = live.simulation
        view = live.lab.view(live.lab.opening(), 0) if simulation is None else simulation.view
        return messages.Welcome(messages.PROTOCOL, holonomy.__version__, entries, name, resumed, view)


async def _first_done(*jobs: Coroutine[object, object, None]) -> None:
    """Run the jobs until one ends, then end the others. What a vanished page raises on its way out is no error."""
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, (WebSocketDisconnect, OSError, RuntimeError)):
            raise result


async def _send(socket: WebSocket, outbox: Outbox) -> None:
    while True:
        message: str | bytes = _ALIVE
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT):
                    message = await outbox.next()
        except ConnectionTakenOver as over:
            await socket.close(TAKEN_OVER, str(over))
            return
        if isinstance(message, bytes):
            await socket.send_bytes(message)
        else:
            await socket.send_text(message)


async def _receive(socket: WebSocket, live: SessionThread, outbox: Outbox) -> None:
    mistakes = 0
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        try:
            text = message.get("text")
            if text is None:
                raise MessageError("Commands are text; the page sends no binary messages.")
            command = decode(text)
        except MessageError as error:
            mistakes += 1
            if mistakes > MOST_MISTAKES:
                await socket.close(POLICY_VIOLATION, "Too many messages that are not commands.")
                return
            outbox.say(messages.Refused(str(error), ""))
            continue
        if isinstance(command, messages.Seen):
            held = outbox.unattended
            outbox.seen(command.sequence)
            if held:
                live.wake()
        elif not live.send(command):
            await socket.close(POLICY_VIOLATION, "Too many commands at once.")
            return


async def _door(request: Request) -> Response:
    """No content: the page asks here why its socket was refused, and the access control answers."""
    return Response(status_code=204)


def _page(static: Path) -> ASGIApp:
    if (static / "index.html").is_file():
        return StaticFiles(directory=static, html=True)
    return PlainTextResponse(
        "The studio's page has not been built in this checkout. "
        "Run `make studio`, or `npm ci && npm run build` in frontend/.\n",
        status_code=503,
    )
