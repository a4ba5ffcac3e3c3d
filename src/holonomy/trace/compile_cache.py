"""What is compiled in this process, kept by what it was compiled for: one mechanism for code, loops and integrators."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any


class CompileCache:
    """Values built once for each key. Who needs the same key meanwhile waits for it; who needs another does not.

    Of exceptions that `remembered` names the outcome is kept too, and raised again.
    """

    def __init__(self, remembered: type[Exception] | tuple[type[Exception], ...] = ()):
        self._values: dict[Hashable, Any] = {}
        self._building: dict[Hashable, threading.Lock] = {}
        self._remembered = remembered

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable, build: Callable[[], Any]) -> Any:
        """The value of a key, built if there is none yet."""
        found = self._values.get(key)
        if found is None:
            with self._building.setdefault(key, threading.Lock()):
                found = self._values.get(key)
                if found is None:
                    found = self._values[key] = self._built(build)
        if isinstance(found, Exception):
            raise found
        return found

    def _built(self, build: Callable[[], Any]) -> Any:
        try:
            return build()
        except self._remembered as error:
            return error

    def clear(self) -> None:
        """Drop all values; each is built again when it is next asked for."""
        self._values.clear()
        self._building.clear()
