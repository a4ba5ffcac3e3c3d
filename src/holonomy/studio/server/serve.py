"""Binds the socket, prints the address, runs the server."""

from __future__ import annotations

import errno
import logging
import os
import socket
import threading
import webbrowser
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs import all_labs
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.server.access import LOOPBACK, ServerIdentity
from holonomy.studio.server.app import application
from holonomy.studio.server.services import Services
from holonomy.viewer.protocol.codec import LONGEST_MESSAGE

PORTS_TO_TRY: Final = 20

_log = logging.getLogger(__name__)


def serve(host: str, port: int, open_browser: bool) -> None:
    """See `holonomy.studio.serve`."""
    listener = bind(host, port)
    identity = ServerIdentity(listener.getsockname()[1])
    labs = all_labs()
    address = identity.address(host)
    print(f"Holonomy studio: {address}", flush=True)
    print("Ctrl-C ends it.", flush=True)
    services = Services()
    _warm(services, labs[0])
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        with listener:
            server(application(labs, identity, services)).run(sockets=[listener])
    finally:
        services.stop()


def server(app: ASGIApp) -> uvicorn.Server:
    """The server with the studio's limits, not yet running."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # it would write the token to the terminal's scrollback on every visit
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=LONGEST_MESSAGE,
        ws_per_message_deflate=False,  # frames are small and do not compress; latency counts
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket on the loopback, at `port` or, when that is taken, one of the next few."""
    if host not in LOOPBACK:
        names = ", ".join(LOOPBACK)
        raise ValueError(f"The studio binds to the loopback only, but host={host!r} was given; pass one of {names}.")
    if not 0 <= port <= 65535:
        raise ValueError(f"A port is a number from 0 to 65535, but port={port} was given.")
    family = socket.AF_INET6 if host == "::1" else socket.AF_INET
    for candidate in range(port, min(port + PORTS_TO_TRY, 65536)) if port else (0,):
        # Named as TCP, so that asyncio turns Nagle's delay off: without it the frame of a drag is delayed by 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":  # elsewhere the option would let two servers share a port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, candidate))
            listener.listen(64)
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
        else:
            return listener
    raise ValueError(f"Ports {port} to {port + PORTS_TO_TRY - 1} are taken; pass another one, or 0 for any free one.")


def _warm(services: Services, lab: AbstractLab) -> None:
    """Compile while the browser opens. A failure is not reported here: it happens again when a page opens."""

    def done(kernel: Kernel | None, sentence: str) -> None:
        if kernel is None:
            _log.error("the first lab could not be prepared: %s", sentence)

    services.code_store.fetch(lab, lab.structure(lab.opening()), done)
