"""Python processes beside the server that trace, compile and derive, so that the one that feeds the pages never waits.

Tracing holds the interpreter's lock: in the server's own process it would delay every frame. A worker is told what to
call by pickles on its standard input and answers on its standard output, where it also says every second that it is
alive; it ends when the server does, however that ends, because its input closes.
`python -m holonomy.studio.compile.worker_process` is a worker.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from concurrent.futures import Future
from typing import Any, BinaryIO, Final

from holonomy.studio.compile.jobs import Jobs, receive, send
from holonomy.studio.compile.jobs import done as done
from holonomy.studio.limited_logging import limited_logging

_log = logging.getLogger(__name__)
_HEAD: Final = struct.Struct("<Q")
QUIET: Final = 1.0
"""Seconds without work for users after which work ahead begins: users change things several times in a row."""
_LOOK_AGAIN: Final = 0.1
_BUSY: Final = 0.4
"""Of one processor: a server that takes more for motion has none left for work ahead."""
_PR_SET_PDEATHSIG: Final = 1
ALIVE: Final = 1.0
"""Seconds between the signs of life of a worker that has a job."""
SILENCE: Final = 60.0
"""Seconds without a sign of life after which a worker is ended: it has stopped or hangs. Loading JAX on a busy machine
takes ten, and a worker that computes in Python or in LLVM gives its signs from another thread."""
LONGEST: Final = 600.0
"""Seconds that one job may take."""
URGENT: Final = 0
SOON: Final = 1
"""What a user will notice when it is done, but does not wait for."""
BACKGROUND: Final = 2


class WorkError(Exception):
    """What a worker could not do; the sentence says why."""


class TakenBack(WorkError):
    """The job was broken off, because no one waits for it any more."""


class Worker:
    """One process and the line of jobs before it, the urgent ones first. The process starts with the first job."""

    def __init__(self, name: str, niceness: int, yields_to: Worker | None = None):
        self._niceness = niceness
        self._yields_to = yields_to
        self._last_work = time.monotonic() - QUIET
        self._working = False
        self._jobs: queue.PriorityQueue[tuple[int, int, Future[Any] | None, tuple[str, tuple[Any, ...]]]]
        self._jobs = queue.PriorityQueue()
        self._serial = itertools.count()
        self._process: subprocess.Popen[bytes] | None = None
        self._done_now: tuple[int, Future[Any]] | None = None
        self._taken_back: Future[Any] | None = None
        self._pipe = threading.Lock()
        self._lock = threading.Lock()
        self._stopped = False
        self.silence, self.longest = SILENCE, LONGEST
        self._thread = threading.Thread(target=self._main, name=f"studio-{name}", daemon=True)
        self._thread.start()

    def submit(self, function: str, *args: Any, urgency: int = URGENT) -> Future[Any]:
        """Call `module:function` there. The future can be cancelled until its turn comes."""
        future: Future[Any] = Future()
        self._jobs.put((urgency, next(self._serial), future, (function, args)))
        return future

    def cancel(self, future: Future[Any]) -> bool:
        """Take back a job that no one wants any more, also while it is being done; whether it was in time.

        The process breaks off what it does and keeps what it has loaded; its future then has an exception.
        """
        if future.cancel():
            return True
        now, process = self._done_now, self._process
        if now is None or now[1] is not future or process is None or process.stdin is None:
            return False
        self._taken_back = future
        with self._pipe, contextlib.suppress(OSError, ValueError):
            send(process.stdin, now[0])
        return True

    @property
    def quiet(self) -> bool:
        """Whether it has had nothing to do for a while."""
        return not self._working and not self.waiting and time.monotonic() - self._last_work > QUIET

    @property
    def waiting(self) -> int:
        """Jobs whose turn has not come."""
        return self._jobs.qsize()

    def stop(self) -> None:
        """End the process, whatever it is doing, and cancel what waits."""
        with self._lock:
            self._stopped = True
        with contextlib.suppress(queue.Empty):
            while True:
                future = self._jobs.get_nowait()[2]
                if future is not None:
                    future.cancel()
        self._jobs.put((-1, next(self._serial), None, ("", ())))
        self._end()

    def _main(self) -> None:
        while True:
            entry = self._jobs.get()
            urgency, serial, future, job = entry
            if future is None:
                return
            if urgency == BACKGROUND and self._yields_to is not None and not (self._yields_to.quiet and _has_time()):
                self._jobs.put(entry)  # something more urgent may come meanwhile
                time.sleep(_LOOK_AGAIN)
                continue
            if not future.set_running_or_notify_cancel():
                continue
            self._working = True
            self._done_now = serial, future
            try:
                good, value = self._call((serial, *job))
            except (OSError, EOFError, pickle.PickleError) as error:
                self._end()
                good, value = False, str(error) or type(error).__name__
            self._done_now = None
            self._working, self._last_work = False, time.monotonic()
            if good:
                future.set_result(value)
            else:
                future.set_exception((TakenBack if self._taken_back is future else WorkError)(value))

    def _call(self, job: tuple[int, str, tuple[Any, ...]]) -> tuple[bool, Any]:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        ends = time.monotonic() + self.longest
        sent = False
        while True:
            left = max(min(self.silence, ends - time.monotonic()), 0.0)
            # A process that has stopped neither reads nor writes; once it is ended, what waits for it here goes on.
            watch = _Watch(process, left)
            try:
                if not sent:
                    with self._pipe:
                        send(process.stdin, job)
                    sent = True
                answer = receive(process.stdout)
            except (OSError, EOFError, ValueError):  # of a stream that is closed while it is read: a ValueError
                why = "took too long or had stopped, and was ended" if watch.late else "ended without an answer"
                raise EOFError(f"The process that compiles {why}; what is asked next starts another one.") from None
            finally:
                watch.cancel()
            if answer is not None:
                return answer

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, started anew where it has ended."""
        with self._lock:
            if self._stopped:
                raise EOFError("The studio ends.")
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "holonomy.studio.compile.worker_process", str(self._niceness)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"},
                )
            return self._process

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()


def _has_time() -> bool:
    """Whether this process leaves most of a processor free, seen over a moment."""
    busy, began = time.process_time(), time.monotonic()
    time.sleep(_LOOK_AGAIN)
    return time.process_time() - busy < _BUSY * (time.monotonic() - began)


class _Watch:
    """Ends a process after some seconds, unless it is cancelled before."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float):
        self.late = False
        self._process = process
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self.late = True
        self._process.kill()


class WorkerPool:
    """A worker for what a user waits for, one that needs no JAX, one for files and equations, one for what may be
    wanted next: none of the first three waits for the last."""

    def __init__(self) -> None:
        # Motion goes first where all want the processor, then what someone waits for.
        self.urgent = Worker("urgent", 3)
        self.assembler = Worker("assembler", 3, yields_to=self.urgent)
        self.files = Worker("files", 5)
        self.background = Worker("background", 15, yields_to=self.urgent)

    def prepare(self, function: str, *args: Any) -> None:
        """Call this in each worker that needs JAX, one after the other, so that the first is ready soon."""
        left = [self.urgent, self.files, self.background]

        def go_on(_: Future[Any] | None = None) -> None:
            if left:
                left.pop(0).submit(function, *args).add_done_callback(go_on)

        go_on()

    def stop(self) -> None:
        """End all of them."""
        for worker in (self.urgent, self.assembler, self.files, self.background):
            worker.stop()


def main() -> None:
    """Do jobs until the server closes the line, or is no more."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(int(sys.argv[1]))
    _end_with_parent()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get among the answers
    jobs = Jobs()
    threading.Thread(target=jobs.read, args=(sys.stdin.buffer,), daemon=True).start()
    signal.signal(signal.SIGINT, jobs.interrupted)
    with limited_logging(), contextlib.suppress(BrokenPipeError):
        while True:
            job = jobs.next()
            with _signs_of_life(answers):
                answer = jobs.done(job)
            send(answers, answer)


@contextlib.contextmanager
def _signs_of_life(answers: BinaryIO) -> Generator[None]:
    """Tell the server every second that the process is there."""
    over = threading.Event()

    def tell() -> None:
        with contextlib.suppress(OSError):
            while not over.wait(ALIVE):
                send(answers, None)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()  # so that the answer is not written in the midst of a sign


def _end_with_parent() -> None:
    """Have Linux end this process with the one that started it, even if this one is stopped or holds its lock."""
    if sys.platform != "linux":
        return
    import ctypes

    parent = os.getppid()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it ended before it was asked for
        os._exit(0)


if __name__ == "__main__":
    main()
