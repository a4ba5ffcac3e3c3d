"""Simulations by the name under which a page that lost its connection finds its own again."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import Final

from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.server.outbox import Outbox
from holonomy.studio.server.services import Services
from holonomy.studio.session.session_thread import SessionThread

MOST_CLIENTS: Final = 32
MOST_LEFT: Final = 8
"""Simulations without a page that are kept."""
SECONDS_LEFT: Final = 120.0
"""How long each of them is."""


@dataclass
class _Entry:
    live: SessionThread
    outbox: Outbox | None
    left: float = 0.0


class Sessions:
    """Who has which simulation. Used by the event loop only."""

    def __init__(self, services: Services, seconds_left: float = SECONDS_LEFT):
        self._services = services
        self._seconds_left = seconds_left
        self._timer: asyncio.TimerHandle | None = None
        self._entries: dict[str, _Entry] = {}

    @property
    def full(self) -> bool:
        """Whether as many pages are served as can be."""
        return sum(entry.outbox is not None for entry in self._entries.values()) >= MOST_CLIENTS

    def join(self, name: str, lab: AbstractLab, outbox: Outbox) -> tuple[str, SessionThread, bool, Outbox | None]:
        """The simulation of that name, or a new one under a new name.

        Returns its name, itself, whether it was there before, and the outbox of a page that it is taken from.
        """
        self.tidy()
        entry = self._entries.get(name)
        if entry is None or entry.live.lab.name != lab.name:
            name, entry = secrets.token_urlsafe(12), _Entry(SessionThread(lab, self._services), None)
            self._entries[name] = entry
            entry.live.start()
            resumed, before = False, None
        else:
            resumed, before = True, entry.outbox
        entry.outbox = outbox
        entry.live.attach(outbox)
        return name, entry.live, resumed, before

    def leave(self, name: str, outbox: Outbox) -> None:
        """The page with this outbox has gone; its simulation waits for it a while."""
        entry = self._entries.get(name)
        if entry is None or entry.outbox is not outbox:
            return  # another page has taken it over
        entry.live.detach(outbox)
        entry.outbox, entry.left = None, time.monotonic()
        self.tidy()

    def tidy(self) -> None:
        """End the simulations that no one came back for."""
        left = sorted((e.left, name) for name, e in self._entries.items() if e.outbox is None)
        now = time.monotonic()
        for k, (since, name) in enumerate(left):
            if now - since >= self._seconds_left or k < len(left) - MOST_LEFT:
                self._entries.pop(name).live.stop()
        waiting = [entry.left for entry in self._entries.values() if entry.outbox is None]
        if waiting and self._timer is None:  # one for all: a thousand visits leave no thousand timers
            delay = max(min(waiting) + self._seconds_left - now, 0.0)
            self._timer = asyncio.get_running_loop().call_later(delay, self._expire)

    def _expire(self) -> None:
        self._timer = None
        self.tidy()

    def stop(self) -> None:
        """End all of them."""
        for entry in self._entries.values():
            entry.live.stop()
        self._entries.clear()
