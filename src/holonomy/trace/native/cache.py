"""Machine code kept on disk between runs, by a hash of what it was made from.

The directory is `$HOLONOMY_CACHE`, else `holonomy` in the user's cache directory.  It is readable by its owner alone,
and an entry is used only if it is whole, unaltered by accident (a checksum) and the owner's own.  Nothing here can
fail a run: a directory that cannot be written simply keeps nothing.  `HOLONOMY_CACHE=off` turns it off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

_MAGIC: Final = b"holonomy object 1\n"
_DIGEST: Final = 32


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


def read(name: str) -> bytes | None:
    """The entry, or None where there is none that can be trusted."""
    place = directory()
    if place is None:
        return None
    try:
        file = place / f"{name}.o"
        if os.name == "posix" and not _private(place):
            return None
        data = file.read_bytes()
    except OSError:
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
    temporary = None
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name == "posix" and not _private(place):
            return
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(code).digest() + code)
        os.replace(temporary, place / f"{name}.o")
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def forget(name: str) -> None:
    """Remove an entry."""
    place = directory()
    if place is not None:
        with contextlib.suppress(OSError):
            (place / f"{name}.o").unlink()


def _private(place: Path) -> bool:
    """Whether the directory is ours and closed to writing by others: machine code from elsewhere is never run."""
    status = place.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022
