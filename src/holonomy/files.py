"""Files that appear whole or not at all, under names that no one else can have prepared."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_ATTEMPTS: Final = 100
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def whole(path: str | Path) -> Generator[Path]:
    """A temporary file beside `path`, with its ending, that becomes `path` when the block ends well.

    The temporary file is empty and new: its name is random, and it is created only if nothing has that name, so that a
    link placed there by someone else is never followed. At the end of the block it is on the disk (fsync) before it is
    renamed. A link at `path` itself is replaced, not followed. Raises `OSError` where the disk is full or the folder
    cannot be written, and then leaves nothing behind.
    """
    target = _checked(path)
    handle, part = _create(target)
    os.close(handle)
    try:
        yield part
        sync(part)
        os.replace(part, target)
        sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)


def write(path: str | Path, data: bytes) -> Path:
    """Write `data` to `path`, as a whole or not at all; errors as those of `whole`, with the name of `path`."""
    target = _checked(path)
    handle, part = _create(target)
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        os.replace(part, target)
        sync_folder(target.parent)
    except OSError as error:
        raise _named(error, target) from None
    finally:
        part.unlink(missing_ok=True)
    return target


def sync(path: Path) -> None:
    """Wait until a file's contents are on the disk."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Wait until a folder's names are on the disk, where its file system can say so."""
    with contextlib.suppress(OSError):  # some network file systems and Windows have no fsync of folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _checked(path: str | Path) -> Path:
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"{target} is a folder; name a file in it.")
    if not target.parent.is_dir():
        raise ValueError(f"The folder {target.parent} does not exist; make it first.")
    return target


def _create(target: Path) -> tuple[int, Path]:
    """A new file beside the target, open for writing, with the access rights that files get by default."""
    for _ in range(_ATTEMPTS):
        # not the target's own name, which with a random part may be longer than the file system allows
        part = target.with_name(f".holonomy-{secrets.token_hex(8)}.part{target.suffix}")
        try:
            return os.open(part, _NEW, 0o666), part
        except FileExistsError:
            continue
        except OSError as error:
            raise _named(error, target) from None
    raise FileExistsError(errno.EEXIST, "No unused name for a temporary file was found", str(target))


def _named(error: OSError, target: Path) -> OSError:
    """The same error about the file that was asked for."""
    return OSError(error.errno, error.strerror or str(error), str(target))
