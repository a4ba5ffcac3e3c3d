"""The jobs of a worker process, inside it: reading them, doing them, and breaking off those that no one wants any more.

A message to it is a job (its number, what to call, with what) or the number of a job that is no longer wanted; both
ways messages are pickles after their lengths.
"""

from __future__ import annotations

import _thread
import contextlib
import importlib
import logging
import os
import pickle
import queue
import signal
import struct
import threading
import time
import types
from collections.abc import Callable
from typing import Any, BinaryIO, Final

_HEAD: Final = struct.Struct("<Q")
_ASK_AGAIN: Final = 0.1
"""Seconds after which a job that goes on is asked again to end."""
Job = tuple[int, str, tuple[Any, ...]]


class Superseded(BaseException):
    """What the process does is no longer wanted. No `Exception`, so that nothing on the way takes it for an error."""


def send(stream: BinaryIO | Any, value: Any) -> None:
    """Write a message."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_HEAD.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO | Any) -> Any:
    """Read a message; `EOFError` where the other side has closed."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError("the other side has closed")
    (size,) = _HEAD.unpack(head)
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the other side closed within a message")
    return pickle.loads(data)  # both ends are this program, joined by a pipe of its own


def done(function: str, args: tuple[Any, ...]) -> tuple[bool, Any]:
    """Whether a job could be done, and its result or a sentence."""
    module, _, name = function.partition(":")
    try:
        called: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return True, called(*args)
    except Exception as error:  # whatever it is, the server must hear of it and the worker go on
        logging.getLogger(__name__).exception("a job failed: %s", function)
        # a ValueError is a sentence for the person who made the mistake, other errors are ours
        return False, str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


class Jobs:
    """The jobs of this process, and which of them is no longer wanted."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[Job] = queue.Queue()
        self._doing = -1
        self._unwanted = -1

    def read(self, stream: BinaryIO) -> None:
        """Read jobs, and the numbers of those that are no longer wanted, in a thread of its own: it sees the end of the
        server in the midst of a job, too."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                message = receive(stream)
                if isinstance(message, int):
                    self._unwanted = message
                    threading.Thread(target=self._interrupt, args=(message,), daemon=True).start()
                else:
                    self._waiting.put(message)
        os._exit(0)

    def next(self) -> Job:
        """Wait for a job: its number, what it calls and with what."""
        return self._waiting.get()

    def done(self, job: Job) -> tuple[bool, Any]:
        """What became of a job; see the function `done`."""
        serial, function, args = job
        try:
            self._doing = serial
            if serial == self._unwanted:
                raise Superseded
            answer = done(function, args)
            self._doing = -1
        except Superseded:
            answer = False, "It was no longer wanted."
        return answer

    def interrupted(self, number: int, frame: types.FrameType | None) -> None:
        """Break off a job that is not wanted any more. Ctrl-C in a terminal comes here, too: the server then ends, and
        this process with it."""
        if self._doing == self._unwanted >= 0 and not _imports(frame):
            self._doing = -1
            raise Superseded

    def _interrupt(self, serial: int) -> None:
        """Ask until the job has ended: in the midst of an import it goes on."""
        while self._doing == serial:
            if os.name == "posix":  # a signal ends what the process waits for, too
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                _thread.interrupt_main()
            time.sleep(_ASK_AGAIN)


def _imports(frame: types.FrameType | None) -> bool:
    """Whether a module is being imported: broken off, half of it would stay, and the next import of it would fail."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
