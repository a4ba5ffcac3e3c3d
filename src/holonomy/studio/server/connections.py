"""How many connections the studio keeps open, and how long one may stay that has not shown the token."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from contextlib import suppress
from typing import Any, Final

MOST_STRANGERS: Final = 32
"""Connections that have not shown the token. A browser opens a few at a time, each of which shows it at once."""
SECONDS: Final = 10.0
"""How long one of them may take to show it."""
RESERVED: Final = 64
"""File descriptors that connections leave to the rest of the process: files, libraries, pipes to the workers."""
_MANY: Final = 1024
"""File descriptors that are planned for where the system has no limit."""
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Connections:
    """The open connections of one server, by the address of the other side. Used by the event loop only.

    Anyone on this machine can connect, so connections without a token are limited in number and time: each new one
    beyond `MOST_STRANGERS` closes the oldest, so that whoever shows the token at once always gets in.
    """

    def __init__(self) -> None:
        self.seconds = SECONDS
        self._most = max(_descriptors() - RESERVED, MOST_STRANGERS + 1)
        self._strangers: dict[tuple[str, int], _Connection] = {}  # the oldest first
        self._known: dict[tuple[str, int], _Connection] = {}
        self._ending: set[_Connection] = set()

    @property
    def strangers(self) -> int:
        """How many connections have not shown the token."""
        return len(self._strangers)

    @property
    def busy(self) -> bool:
        """Whether connections must close before a new one is accepted; they do so in the event loop's next rounds."""
        return bool(self._ending) and len(self._strangers) + len(self._known) + len(self._ending) >= self._most

    def admit(self, address: tuple[str, int] | None) -> None:
        """The connection from this address has shown the token: it may stay."""
        connection = None if address is None else self._strangers.pop(address, None)
        if connection is not None:
            connection.timer.cancel()
            self._known[connection.address] = connection

    def add(self, connection: _Connection) -> bool:
        """Keep a new connection; False where there is no room for it."""
        if len(self._strangers) >= min(MOST_STRANGERS, max(self._most - len(self._known), 0)):
            if not self._strangers:
                return False
            self.end(next(iter(self._strangers.values())))
        connection.timer = asyncio.get_running_loop().call_later(self.seconds, self.end, connection)
        self._strangers[connection.address] = connection
        return True

    def end(self, connection: _Connection) -> None:
        """Have the server close it: for its reader it is as if the other side had gone."""
        self.remove(connection)
        self._ending.add(connection)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def remove(self, connection: _Connection) -> None:
        """The connection has closed."""
        connection.timer.cancel()
        self._ending.discard(connection)
        for table in (self._strangers, self._known):
            if table.get(connection.address) is connection:
                del table[connection.address]


class _Connection(socket.socket):
    """An accepted socket that tells when it closes."""

    address: tuple[str, int]
    timer: asyncio.TimerHandle
    connections: Connections | None = None

    def close(self) -> None:
        """Close it and forget it."""
        if self.connections is not None:
            self.connections.remove(self)
        super().close()


class Listener(socket.socket):
    """A listening socket whose `accept` obeys the limits of `connections`.

    Where no descriptor is left, a new connection is closed at once, by means of one that is kept for this: otherwise
    it would wait to be accepted, and the event loop would try without end. (The event loop of Windows accepts
    connections in the system, without this method, and there they are not limited.)
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.connections = Connections()
        self._spare = _spare()

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that is taken. Raises `BlockingIOError` when none waits."""
        while True:
            if self.connections.busy:
                raise BlockingIOError
            try:
                accepted, address = super().accept()
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                self._turn_away()
                continue
            connection = _Connection(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
            connection.address = (str(address[0]), int(address[1]))
            if self.connections.add(connection):
                connection.connections = self.connections
                return connection, address
            connection.close()

    def _turn_away(self) -> None:
        """Accept a connection in place of the spare descriptor, and close it."""
        if self._spare is None:  # it could not be had again last time
            self._spare = _spare()
        if self._spare is None:
            raise BlockingIOError
        os.close(self._spare)
        self._spare = None
        try:
            super().accept()[0].close()
        finally:
            self._spare = _spare()

    def close(self) -> None:
        """Close it and the descriptor that it keeps."""
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None
        super().close()


def _spare() -> int | None:
    try:
        return os.open(os.devnull, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None


def _descriptors() -> int:
    """How many files this process may have open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _MANY
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MANY if soft == resource.RLIM_INFINITY else min(soft, _MANY)
