"""Files that wait to be taken once."""

from __future__ import annotations

import secrets
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Final, cast

MOST_FILES: Final = 32
MOST_BYTES: Final = 2**30
"""Of all files that wait together. The newest is kept however large it is: it lies on the disk."""
SECONDS: Final = 120.0
IN_MEMORY: Final = 2**20
"""A larger file is kept on the disk, without a name: nobody else can open it, and it goes with the process."""
_BLOCK: Final = 2**16


@dataclass(frozen=True, eq=False)
class File:
    """A file's content and how a browser should take it."""

    content: IO[bytes]
    size: int
    name: str
    media: str

    @classmethod
    def of(cls, pieces: Iterable[bytes], name: str, media: str) -> File:
        """The pieces one after the other. Raises `OSError` where the disk is full."""
        content = cast(IO[bytes], tempfile.SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115 - closed when taken
        try:
            size = sum(content.write(piece) for piece in pieces)
            content.flush()
        except BaseException:
            content.close()
            raise
        return cls(content, size, name, media)

    def blocks(self) -> Iterator[bytes]:
        """The content in blocks; it is closed at the end."""
        with self.content:
            self.content.seek(0)
            while block := self.content.read(_BLOCK):
                yield block


class Downloads:
    """Holds files for `seconds` under names that cannot be guessed; each can be taken once."""

    def __init__(self, seconds: float = SECONDS, most_bytes: int = MOST_BYTES):
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._files: dict[str, tuple[float, File]] = {}
        self._timer: threading.Timer | None = None

    def __len__(self) -> int:
        """How many files wait."""
        with self._lock:
            return len(self._files)

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

    def stop(self) -> None:
        """Drop all files."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            for key in list(self._files):
                self._drop(key)

    def _tidy(self) -> None:
        now = time.monotonic()
        for key in [key for key, (since, _) in self._files.items() if now - since >= self._seconds]:
            self._drop(key)
        while len(self._files) > MOST_FILES or (len(self._files) > 1 and self._size() > self._most_bytes):
            self._drop(next(iter(self._files)))
        if self._timer is None and self._files:
            oldest = next(iter(self._files.values()))[0]
            self._timer = threading.Timer(max(oldest + self._seconds - now, 0.0), self._expire)
            self._timer.daemon = True
            self._timer.start()

    def _expire(self) -> None:
        with self._lock:
            self._timer = None
            self._tidy()

    def _drop(self, key: str) -> None:
        self._files.pop(key)[1].content.close()

    def _size(self) -> int:
        return sum(file.size for _, file in self._files.values())
