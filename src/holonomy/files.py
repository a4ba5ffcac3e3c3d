"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """A temporary name beside `path`, with its ending, that becomes `path` when the block ends well."""
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"{target} is a folder; name a file in it.")
    if not target.parent.is_dir():
        raise ValueError(f"The folder {target.parent} does not exist; make it first.")
    part = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
