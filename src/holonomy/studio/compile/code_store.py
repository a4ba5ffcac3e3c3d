"""Compiled code by structure: in memory, on disk, or made by a worker process."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import holonomy
from holonomy.studio.compile.encoding import decode, encode
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.compile.worker_process import BACKGROUND, URGENT, WorkerPool
from holonomy.studio.labs import load, module_of
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Structure
from holonomy.trace.native import cache, machine

_log = logging.getLogger(__name__)
_FORM: Final = 2
MOST_KERNELS: Final = 256

Done = Callable[[Kernel | None, str], None]
"""Called with the kernel, or with None and the reason."""


def build(module: str, structure: Structure) -> bytes:
    """A structure's code as bytes, for the lab of that module. Runs in a worker process."""
    from holonomy.studio.compile.program import compile_program

    return encode(compile_program(load(module).program(structure)))


def equations(module: str, structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A structure's equations of motion, for the lab of that module. Runs in a worker process."""
    return load(module).equations(structure)


@dataclass
class _Compilation:
    """A job of a worker process and how many wait for it."""

    future: Future[Any]
    ahead: bool
    users: int = 0


class CodeStore:
    """Kernels by structure, each made once. From any thread."""

    def __init__(self, workers: WorkerPool):
        self._workers = workers
        self._lock = threading.Lock()
        self._kernels: dict[tuple[str, Structure], Kernel] = {}
        self._made: dict[tuple[str, Structure], _Compilation] = {}
        self._derived: dict[tuple[str, Structure], Future[Any]] = {}

    def kernel(self, lab: AbstractLab, structure: Structure) -> Kernel | None:
        """The kernel if it is at hand, in memory or on disk; takes milliseconds."""
        key = (lab.name, structure)
        found = self._kernels.get(key)
        if found is None:
            data = cache.read(_name(lab.name, structure))
            found = None if data is None else self._loaded(key, data)
        return found

    def fetch(self, lab: AbstractLab, structure: Structure, done: Done, *, ahead: bool = False) -> None:
        """Have the kernel made if it is not at hand; `done` is called once, from another thread or at once."""
        kernel = self.kernel(lab, structure)
        if kernel is not None:
            done(kernel, "")
            return
        key = (lab.name, structure)
        with self._lock:
            making = self._made.get(key)
            if making is not None and making.ahead and not ahead and making.future.cancel():
                making = None  # it was queued as less urgent
            if making is None:
                worker, urgency = (self._workers.background, BACKGROUND) if ahead else (self._workers.urgent, URGENT)
                making = _Compilation(
                    worker.submit(f"{__name__}:build", module_of(lab.name), structure, urgency=urgency), ahead
                )
                self._made[key] = making
            making.users += 1
        making.future.add_done_callback(functools.partial(self._finished, key, done))

    def release(self, lab: AbstractLab, structure: Structure) -> None:
        """One caller of `fetch` no longer needs this kernel; a queued compilation that no one needs is cancelled."""
        key = (lab.name, structure)
        with self._lock:
            making = self._made.get(key)
            if making is not None:
                making.users -= 1
                if making.users <= 0 and making.future.cancel():
                    del self._made[key]

    def prefetch(self, lab: AbstractLab, structures: tuple[Structure, ...]) -> None:
        """Compile these in the background, in this order."""
        for structure in structures:
            if (lab.name, structure) not in self._kernels:
                self.fetch(lab, structure, lambda kernel, sentence: None, ahead=True)

    def equations(self, lab: AbstractLab, structure: Structure) -> Future[Any]:
        """The equations of motion, derived once."""
        key = (lab.name, structure)
        with self._lock:
            found = self._derived.get(key)
            if found is None or found.cancelled() or (found.done() and found.exception() is not None):
                found = self._workers.background.submit(f"{__name__}:equations", module_of(lab.name), structure)
                self._derived[key] = found
            return found

    def _finished(self, key: tuple[str, Structure], done: Done, future: Future[Any]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        if error is not None:
            with self._lock:
                self._made.pop(key, None)
            done(None, str(error))
            return
        data = future.result()
        cache.write(_name(*key), data)
        kernel = self._loaded(key, data)
        with self._lock:
            self._made.pop(key, None)
        done(kernel, "" if kernel is not None else "The code that was made cannot be loaded here.")

    def _loaded(self, key: tuple[str, Structure], data: bytes) -> Kernel | None:
        with self._lock:
            if key in self._kernels:
                return self._kernels[key]
            try:
                kernel = Kernel(decode(data))
            except Exception:  # noqa: BLE001 - an entry that cannot be used is as good as none
                _log.exception("compiled code could not be loaded")
                cache.forget(_name(*key))
                return None
            if len(self._kernels) >= MOST_KERNELS:
                self._kernels.pop(next(iter(self._kernels)))
            self._kernels[key] = kernel
            return kernel


def _name(lab: str, structure: Structure) -> str:
    return cache.key("studio", str(_FORM), lab, repr(structure), machine.identity(), _sources(module_of(lab)))


@functools.cache
def _sources(module: str) -> str:
    """A digest of the files of the package and of a lab: code made by another state of them is not used."""
    digest = hashlib.sha256(holonomy.__version__.encode())
    root = Path(holonomy.__file__).parent
    own = Path(inspect.getfile(importlib.import_module(module)))
    files = own.parent.rglob("*.py") if own.name == "__init__.py" else [own]
    for file in sorted({*root.rglob("*.py"), *files}):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    for package in ("jax", "equinox"):
        digest.update(_version(package).encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""
