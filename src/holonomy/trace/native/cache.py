"""Machine code kept on disk between runs, by a hash of what it was made from.

The directory is `$HOLONOMY_CACHE`, else `holonomy` in the user's cache directory.  It and each entry are opened once,
without following links, and what was opened is looked at: it must be the user's own and closed to writing by others. An
entry is used only if it is whole and unaltered by accident (a checksum).  Nothing here can fail a run: a directory that
cannot be used simply keeps nothing.  `HOLONOMY_CACHE=off` turns it off.

All entries together take at most `MOST_BYTES`; those used longest ago are removed first.  On systems whose files are
not opened relative to a directory (Windows) nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import secrets
import stat
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

_MAGIC: Final = b"holonomy object 1\n"
_DIGEST: Final = 32
_FLAGS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OTHERS_WRITE: Final = 0o022
_TIDIED_EVERY: Final = 64  # looking at a thousand entries takes some milliseconds
_ABANDONED: Final = 3600.0  # seconds after which a temporary file belongs to a process that is no more

MOST_BYTES: Final = 512 * 2**20
"""How much is kept."""

_written = itertools.count()


def directory() -> Path | None:
    """Where machine code is kept, or None if it is not."""
    named = os.environ.get("HOLONOMY_CACHE")
    if named == "off":
        return None
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "holonomy" if base else None


def key(*parts: str) -> str:
    """The name of an entry: a hash of everything it depends on."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode())
        digest.update(part.encode())
    return digest.hexdigest()


class Entry(NamedTuple):
    """A file of the cache: its name, its size in bytes and when it was last used."""

    name: str
    size: int
    used: float


def read(name: str) -> bytes | None:
    """The entry, or None where there is none that can be trusted."""
    try:
        with _folder() as folder:
            data = None if folder is None else _contents(folder, f"{name}.o")
    except OSError:
        return None
    if data is None:
        return None
    head = len(_MAGIC) + _DIGEST
    if not data.startswith(_MAGIC) or hashlib.sha256(data[head:]).digest() != data[len(_MAGIC) : head]:
        forget(name)
        return None
    return data[head:]


def write(name: str, code: bytes) -> None:
    """Keep `code`; readers see the old state or the whole new entry, never a part."""
    place = directory()
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _folder() as folder:
            if folder is None:
                return
            _put(folder, f"{name}.o", _MAGIC + hashlib.sha256(code).digest() + code)
            if next(_written) % _TIDIED_EVERY == 0:
                _tidy(folder, MOST_BYTES)


def forget(name: str) -> None:
    """Remove an entry."""
    with contextlib.suppress(OSError), _folder() as folder:
        if folder is not None:
            os.unlink(f"{name}.o", dir_fd=folder)


def entries() -> list[Entry]:
    """What is kept."""
    try:
        with _folder() as folder:
            return [] if folder is None else _entries(folder, ".o")
    except OSError:
        return []


def clear() -> int:
    """Remove every entry; how many there were."""
    removed = 0
    with contextlib.suppress(OSError), _folder() as folder:
        if folder is not None:
            for entry in _entries(folder, ".o", ".part"):
                os.unlink(entry.name, dir_fd=folder)
                removed += entry.name.endswith(".o")
    return removed


@contextmanager
def _folder() -> Generator[int | None]:
    """The directory, open, if it is the user's own and closed to writing by others; else None."""
    place = directory()
    if place is None or os.open not in os.supports_dir_fd:
        yield None
        return
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | _FLAGS)
    try:
        yield handle if _private(os.fstat(handle)) else None
    finally:
        os.close(handle)


def _private(status: os.stat_result) -> bool:
    """Whether what was opened is the user's own and no one else can write to it: code from elsewhere is never run."""
    return status.st_uid == os.getuid() and not status.st_mode & _OTHERS_WRITE


def _contents(folder: int, name: str) -> bytes | None:
    # without waiting: another program may have put a pipe there
    handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _FLAGS, dir_fd=folder)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not _private(status) or status.st_size > MOST_BYTES:
            return None
        with contextlib.suppress(OSError):
            os.utime(handle)  # it was used now
        return file.read()


def _put(folder: int, name: str, data: bytes) -> None:
    part = f"{secrets.token_hex(16)}.part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(part, dir_fd=folder)
        raise


def _entries(folder: int, *endings: str) -> list[Entry]:
    found = []
    for name in os.listdir(folder):
        if name.endswith(endings):
            with contextlib.suppress(FileNotFoundError):  # another process has removed it
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                found.append(Entry(name, status.st_size, status.st_mtime))
    return found


def _tidy(folder: int, most: int) -> None:
    """Remove abandoned temporary files and, above the limit, what was used longest ago, down to four fifths of it."""
    old = time.time() - _ABANDONED
    unwanted = [part for part in _entries(folder, ".part") if part.used < old]
    kept = sorted(_entries(folder, ".o"), key=lambda entry: entry.used)
    total = sum(entry.size for entry in kept)
    if total > most:
        for entry in kept:
            if total <= 0.8 * most:
                break
            unwanted.append(entry)
            total -= entry.size
    for entry in unwanted:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(entry.name, dir_fd=folder)
