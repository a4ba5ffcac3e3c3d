"""Files that wait to be taken once."""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass
from typing import Final

MOST_FILES: Final = 32
MOST_BYTES: Final = 256 * 2**20
SECONDS: Final = 120.0


@dataclass(frozen=True)
class File:
    """A file's content and how a browser should take it."""

    data: bytes
    name: str
    media: str


class Downloads:
    """Holds files for a short while under names that cannot be guessed; each can be taken once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, tuple[float, File]] = {}

    def put(self, file: File) -> str:
        """The key under which to take it."""
        key = secrets.token_urlsafe(18)
        with self._lock:
            self._files[key] = (time.monotonic(), file)
            self._tidy()
        return key

    def take(self, key: str) -> File | None:
        """The file, which then is gone; None when there is none or its time is over."""
        with self._lock:
            self._tidy()
            return self._files.pop(key, (0.0, None))[1]

    def _tidy(self) -> None:
        now = time.monotonic()
        self._files = {key: entry for key, entry in self._files.items() if now - entry[0] <= SECONDS}
        while len(self._files) > MOST_FILES or sum(len(f.data) for _, f in self._files.values()) > MOST_BYTES:
            self._files.pop(next(iter(self._files)))
