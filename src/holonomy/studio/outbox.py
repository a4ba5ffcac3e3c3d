"""What waits to be sent to one page: the newest of each kind, never a queue."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from dataclasses import replace
from typing import Final

import numpy as np

from holonomy.studio import wire
from holonomy.studio.codec import encode
from holonomy.studio.simulation import MOST_SAMPLES

MOST_IN_FLIGHT: Final = 3
"""Frames sent and not yet seen by the page. With more than one, a round trip does not cost a picture."""
MOST_REFUSALS: Final = 16


class Outbox:
    """Filled by a simulation's thread, emptied by the event loop.

    A new frame replaces one that waits, and so do new controls; refusals wait in a short line of which the oldest drop
    out. A page that stops reading thus costs one frame of memory and delays no one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self._something = asyncio.Event()
        self._lock = threading.Lock()
        self._first: deque[wire.Notice] = deque()
        self._controls: wire.Controls | None = None
        self._last_controls: wire.Controls | None = None
        self._refusals: deque[wire.Refused] = deque(maxlen=MOST_REFUSALS)
        self._frame: wire.Frame | None = None
        self._in_flight: deque[int] = deque()

    def say(self, notice: wire.Notice) -> None:
        """Send a notice as soon as the page can take it. From any thread."""
        with self._lock:
            match notice:
                case wire.Controls():
                    if notice == self._last_controls:
                        return
                    self._controls = self._last_controls = notice
                case wire.Refused():
                    self._refusals.append(notice)
                case _:
                    self._first.append(notice)
        self._wake()

    def show(self, frame: wire.Frame) -> None:
        """Send this frame instead of any older one that still waits, whose rows it takes over. From any thread."""
        with self._lock:
            if self._frame is not None:
                sample = np.concatenate([self._frame.sample, frame.sample])[-MOST_SAMPLES:]
                frame = replace(frame, sample=sample)
            self._frame = frame
        self._wake()

    def seen(self, sequence: int) -> None:
        """The page has this frame, and so every earlier one."""
        with self._lock:
            while self._in_flight and self._in_flight[0] <= sequence:
                self._in_flight.popleft()
        self._wake()

    async def next(self) -> str | bytes:
        """The next message for the page; waits until there is one."""
        while True:
            self._something.clear()
            message = self._take()
            if message is not None:
                return message
            await self._something.wait()

    def _take(self) -> str | bytes | None:
        with self._lock:
            if self._first:
                return encode(self._first.popleft())
            if self._controls is not None:
                controls, self._controls = self._controls, None
                return encode(controls)
            if self._refusals:
                return encode(self._refusals.popleft())
            if self._frame is not None and len(self._in_flight) < MOST_IN_FLIGHT:
                frame, self._frame = self._frame, None
                self._in_flight.append(frame.sequence)
                return wire.pack(frame)
            return None

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has closed: there is no one left to tell
            self._loop.call_soon_threadsafe(self._something.set)
