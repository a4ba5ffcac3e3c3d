"""What the studio's processes write to the terminal, limited, so that nobody who connects can fill a disk with it."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Generator
from typing import Final, TextIO

MOST_RECORDS: Final = 20
"""Messages a minute. Those beyond are counted."""
MINUTE: Final = 60.0
LONGEST: Final = 8192
"""Characters of one message, with the place where an error happened."""


class LimitedHandler(logging.Handler):
    """Writes at most `MOST_RECORDS` messages a minute, then how many were left out."""

    def __init__(self, stream: TextIO | None = None):
        super().__init__()
        self._stream = sys.stderr if stream is None else stream
        self._since = time.monotonic()
        self._written = self._omitted = 0
        self.setFormatter(logging.Formatter("%(levelname)s: %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, unless there were too many."""
        now = time.monotonic()
        if now - self._since >= MINUTE:
            self._tell()
            self._since, self._written = now, 0
        if self._written >= MOST_RECORDS:
            self._omitted += 1
            return
        self._written += 1
        text = self.format(record)
        self._write(text if len(text) <= LONGEST else text[:LONGEST] + " …")

    def close(self) -> None:
        """Say how many messages were left out at last."""
        self._tell()
        super().close()

    def _tell(self) -> None:
        if self._omitted:
            self._write(f"({self._omitted} more messages were left out.)")
            self._omitted = 0

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a terminal that has gone, or a full disk behind it
            self._stream.write(text + "\n")
            self._stream.flush()


@contextlib.contextmanager
def limited_logging() -> Generator[None]:
    """Write warnings of the server, its libraries and the labs through one `LimitedHandler`."""
    handler = LimitedHandler()
    loggers = [logging.getLogger(name) for name in ("holonomy", "uvicorn", "asyncio", "websockets", "jax")]
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagate in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagate
        handler.close()
