"""Binds the socket, prints the address, runs the server."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Generator
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from holonomy.studio.compile import code_store, preset_code
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs import all_labs, module_of
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.limited_logging import limited_logging
from holonomy.studio.server.access import LOOPBACK, ServerIdentity
from holonomy.studio.server.app import application
from holonomy.studio.server.connections import Listener
from holonomy.studio.server.services import Services
from holonomy.studio.stories import install
from holonomy.viewer.protocol.codec import LONGEST_MESSAGE

PORTS_TO_TRY: Final = 20

_log = logging.getLogger(__name__)


def serve(host: str, port: int, open_browser: bool, stories: tuple[Path, ...] = ()) -> None:
    """See `holonomy.studio.serve`."""
    install(all_labs(), stories)
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(bind(host, port))
        identity = ServerIdentity(listener.getsockname()[1])
        labs = all_labs()
        stack.enter_context(limited_logging())
        stack.enter_context(contextlib.suppress(KeyboardInterrupt))  # which is how it is meant to end
        stack.enter_context(_signals_end_it())
        print(f"Holonomy studio: {identity.address(host)}", flush=True)
        print("Ctrl-C ends it.", flush=True)
        services = Services()
        stack.callback(services.stop)
        threading.Thread(target=_warm, args=(services, labs), name="studio-warm", daemon=True).start()
        if open_browser:
            page = stack.enter_context(private_page(identity.address(host)))
            threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
        app = application(labs, identity, services, admit=listener.connections.admit)
        server(app).run(sockets=[listener])


@contextlib.contextmanager
def private_page(address: str) -> Generator[Path]:
    """A page that leads to the address, in a file that only this user can read.

    A browser is told which page to open on its command line, which everyone on the machine can read; so the address
    with its token is not there, but in this file.
    """
    with tempfile.TemporaryDirectory(prefix="holonomy-studio-", ignore_cleanup_errors=True) as folder:  # mode 0700
        page = Path(folder) / "studio.html"
        handle = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(
                '<!doctype html><meta charset="utf-8"><title>Holonomy studio</title>'
                f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={address}">'
                f'<a href="{address}">Open the studio</a>\n'
            )
        yield page


@contextlib.contextmanager
def _signals_end_it() -> Generator[None]:
    """Let the signals that ask a process to end do what Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only there can signals be received
        return

    def end(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    def hang_up(number: int, frame: object) -> None:
        signal.raise_signal(signal.SIGTERM)  # the server's own handler, while it runs

    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, end)}
    if hasattr(signal, "SIGHUP"):
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, hang_up)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def server(app: ASGIApp) -> uvicorn.Server:
    """The server with the studio's limits, not yet running."""
    config = uvicorn.Config(
        app,
        loop="asyncio",  # it accepts connections by the listener's own method, which limits them
        log_config=None,
        log_level="warning",
        access_log=False,  # it would write the token to the terminal's scrollback on every visit
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=LONGEST_MESSAGE,
        ws_per_message_deflate=False,  # frames are small and do not compress; latency counts
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        proxy_headers=False,  # a connection is known by its own address, not by one that the client names
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def bind(host: str, port: int) -> Listener:
    """A listening socket on the loopback, at `port` or, when that is taken, one of the next few.

    Raises `ValueError` where none can be had.
    """
    if host not in LOOPBACK:
        names = ", ".join(LOOPBACK)
        raise ValueError(f"The studio binds to the loopback only, but host={host!r} was given; pass one of {names}.")
    if not 0 <= port <= 65535:
        raise ValueError(f"A port is a number from 0 to 65535, but port={port} was given.")
    family = socket.AF_INET6 if host == "::1" else socket.AF_INET
    last = min(port + PORTS_TO_TRY - 1, 65535) if port else 0
    for candidate in range(port, last + 1):
        # Named as TCP, so that asyncio turns Nagle's delay off: without it the frame of a drag is delayed by 40 ms.
        listener = Listener(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":  # elsewhere the option would let two servers share a port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, candidate))
            listener.listen(64)
        except OSError as error:
            listener.close()
            if error.errno == errno.EACCES:
                raise ValueError(
                    f"This user may not listen on port {candidate}: ports below 1024 are often kept for the system; "
                    "pass --port 8765, or 0 for any free one."
                ) from None
            if error.errno != errno.EADDRINUSE:
                raise ValueError(f"The studio cannot listen on {host}, port {candidate}: {error.strerror}.") from None
        else:
            return listener
    raise ValueError(f"Ports {port} to {last} are taken; pass another one, or 0 for any free one.")


def _warm(services: Services, labs: tuple[AbstractLab, ...]) -> None:
    """Compile while the browser opens: what the labs open with, then their other presets; and start the workers.

    A failure is not reported here: it happens again when a page asks for the code.
    """
    store = services.code_store

    def done(kernel: Kernel | None, sentence: str) -> None:
        if kernel is None and not services.stopping.is_set():
            _log.error("the first lab could not be prepared: %s", sentence)
        services.workers.prepare(f"{code_store.__name__}:prepare", tuple(module_of(lab.name) for lab in labs))

    store.fetch(labs[0], labs[0].structure(labs[0].opening()), done)
    for lab in labs[1:]:
        store.prefetch(lab, (lab.structure(lab.opening()),))
    for lab in labs:
        store.prefetch(lab, preset_code.structures(lab))
