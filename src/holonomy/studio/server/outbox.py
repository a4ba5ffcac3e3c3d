"""What waits to be sent to one page: the newest of each kind, never a queue."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from dataclasses import replace
from typing import Final

import numpy as np

from holonomy.studio.session.samples import MOST_SAMPLES
from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.codec import encode

MOST_IN_FLIGHT: Final = 3
"""Frames sent and not yet seen by the page. With more than one, a round trip does not delay the next frame."""
MOST_ANSWERS: Final = 16
UNATTENDED: Final = 2.0
"""Seconds without a frame that was seen after which time is held."""
_STATIC: Final = (messages.Surface, messages.Field, messages.Curves)
_REPLACED: Final = (messages.Welcome, messages.Lab, messages.Controls, *_STATIC)
"""Notices of which only the newest counts, in the order in which they are sent."""


class ConnectionTakenOver(Exception):
    """The page is no longer served; the sentence says why."""


class Outbox:
    """Filled by a simulation's thread, emptied by the event loop.

    A new frame replaces one that waits, and so do the notices of `_REPLACED`; refusals and other answers wait in a
    short line of which the oldest drop out. A page that stops reading thus costs one frame of memory and delays no one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self._something = asyncio.Event()
        self._lock = threading.Lock()
        self._woken = False
        self._newest: dict[type, messages.Notice] = {}
        self._last_controls: messages.Controls | None = None
        self._answers: deque[messages.Notice] = deque(maxlen=MOST_ANSWERS)
        self._frame: messages.Frame | None = None
        self._in_flight: deque[int] = deque()
        self._waits_since: float | None = None
        self._over = ""

    def end(self, reason: str) -> None:
        """Nothing more is sent; `next` raises `ConnectionTakenOver` with the reason."""
        with self._lock:
            self._over = reason
        self._wake()

    def say(self, notice: messages.Notice) -> None:
        """Send a notice as soon as the page can take it. From any thread."""
        with self._lock:
            if isinstance(notice, messages.Controls):
                before = self._last_controls
                if notice == before:
                    return
                self._last_controls = notice
                if before is not None and notice.current.get("history") != before.current.get("history"):
                    self._frame = None  # its rows are of another timeline
            if isinstance(notice, messages.Lab):
                self._frame = None
                for kind in _STATIC:
                    self._newest.pop(kind, None)
            if isinstance(notice, _REPLACED):
                self._newest[type(notice)] = notice
            else:
                self._answers.append(notice)
        self._wake()

    def show(self, frame: messages.Frame) -> None:
        """Send this frame instead of any older one that still waits, whose rows it takes over. From any thread."""
        with self._lock:
            if self._frame is not None and self._frame.revision == frame.revision:
                sample = np.concatenate([self._frame.sample, frame.sample])[-MOST_SAMPLES:]
                frame = replace(frame, sample=sample)
            self._frame = frame
            if len(self._in_flight) >= MOST_IN_FLIGHT:
                self._waits_since = time.monotonic() if self._waits_since is None else self._waits_since
                return  # no one is waiting for it; `seen` wakes the loop
        self._wake()

    @property
    def unattended(self) -> bool:
        """Whether the page has taken no frame for a while: it is hidden or frozen, and no one sees the motion."""
        since = self._waits_since
        return since is not None and time.monotonic() - since > UNATTENDED

    def seen(self, sequence: int) -> None:
        """The page has this frame, and so every earlier one."""
        with self._lock:
            self._waits_since = None
            while self._in_flight and self._in_flight[0] <= sequence:
                self._in_flight.popleft()
            if self._frame is None:
                return
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
            self._woken = False
            if self._over:
                raise ConnectionTakenOver(self._over)
            for kind in _REPLACED:
                if kind in self._newest:
                    return encode(self._newest.pop(kind))
            if self._answers:
                return encode(self._answers.popleft())
            if self._frame is not None and len(self._in_flight) < MOST_IN_FLIGHT:
                frame, self._frame = self._frame, None
                self._in_flight.append(frame.sequence)
                return messages.pack(frame)
            return None

    def _wake(self) -> None:
        """Tell the loop, once for all that has come since it last looked."""
        with self._lock:
            if self._woken:
                return
            self._woken = True
        with contextlib.suppress(RuntimeError):  # the loop has closed: there is no one left to tell
            self._loop.call_soon_threadsafe(self._something.set)
