"""The studio's web server: the built page, and one WebSocket per user."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

import holonomy
from holonomy.studio import wire
from holonomy.studio.codec import MessageError, decode
from holonomy.studio.guard import Door, Guard
from holonomy.studio.lab import AbstractLab
from holonomy.studio.live import Live
from holonomy.studio.outbox import Outbox

STATIC: Final = Path(__file__).parent / "static"
MOST_CLIENTS: Final = 32
MOST_MISTAKES: Final = 20
"""Messages that are not commands before the socket closes: enough for a page out of step to say so, no flood."""

POLICY_VIOLATION: Final = 1008
TRY_AGAIN_LATER: Final = 1013


def application(labs: tuple[AbstractLab, ...], door: Door, *, static: Path = STATIC) -> ASGIApp:
    """The whole server as one ASGI application, guarded. The first lab opens unless another is named."""
    studio = _Studio(labs)
    routes = [
        WebSocketRoute("/live", studio.live),
        Route("/door", _door),
        Mount("/", _page(static)),
    ]
    return Guard(Starlette(routes=routes), door)


class _Studio:
    """Counts its users and gives each one a simulation."""

    def __init__(self, labs: tuple[AbstractLab, ...]):
        self._labs = {lab.view.name: lab for lab in labs}
        self._first = labs[0].view.name
        self._clients = 0

    async def live(self, socket: WebSocket) -> None:
        """One user, from the first message to the last."""
        await socket.accept()
        lab = self._labs.get(socket.query_params.get("lab", self._first))
        if lab is None:
            await socket.close(POLICY_VIOLATION, f"The studio's labs are: {', '.join(self._labs)}.")
            return
        if self._clients >= MOST_CLIENTS:
            reason = f"The studio serves {MOST_CLIENTS} pages at once; close one of them first."
            await socket.close(TRY_AGAIN_LATER, reason)
            return
        self._clients += 1
        outbox = Outbox(asyncio.get_running_loop())
        live = Live(lab, outbox)
        try:
            outbox.say(self._welcome(lab))
            live.start()
            await _first_done(_send(socket, outbox), _receive(socket, live, outbox))
        finally:
            live.stop()
            self._clients -= 1

    def _welcome(self, lab: AbstractLab) -> wire.Welcome:
        entries = tuple(wire.LabEntry(name, other.view.title) for name, other in self._labs.items())
        return wire.Welcome(wire.PROTOCOL, holonomy.__version__, entries, "", False, lab.view)


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
        message = await outbox.next()
        if isinstance(message, bytes):
            await socket.send_bytes(message)
        else:
            await socket.send_text(message)


async def _receive(socket: WebSocket, live: Live, outbox: Outbox) -> None:
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
            outbox.say(wire.Refused(str(error)))
            continue
        if isinstance(command, wire.Seen):
            outbox.seen(command.sequence)
        elif not live.send(command):
            await socket.close(POLICY_VIOLATION, "Too many commands at once.")
            return


async def _door(request: Request) -> Response:
    """Nothing but the guard's word: the page asks here why its socket was refused."""
    return Response(status_code=204)


def _page(static: Path) -> ASGIApp:
    if (static / "index.html").is_file():
        return StaticFiles(directory=static, html=True)
    return PlainTextResponse(
        "The studio's page has not been built in this checkout. "
        "Run `make studio`, or `npm ci && npm run build` in frontend/.\n",
        status_code=503,
    )
