"""Compiled code by structure: in memory, on disk, or made by a worker process."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from holonomy.studio.compile import preset_code
from holonomy.studio.compile.assembling import assembled_program, is_long
from holonomy.studio.compile.encoding import decode, encode
from holonomy.studio.compile.kernel import CompiledProgram, Kernel
from holonomy.studio.compile.worker_process import BACKGROUND, SOON, URGENT, TakenBack, WorkerPool
from holonomy.studio.labs import load, module_of
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Structure
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.native import cache, machine

_log = logging.getLogger(__name__)
_FORM: Final = 3
MOST_KERNELS: Final = 256
_MOST_DESCRIBED: Final = 32
"""Structures whose text a worker keeps, since it is compiled twice."""
_MOST_DERIVED: Final = 256
"""Equations that are kept. Some depend on numbers, so that a slider asks for many."""

Done = Callable[[Kernel | None, str], None]
"""Called with the kernel, or with None and the reason."""


def build(module: str, structure: Structure, quick: bool) -> tuple[bytes, bytes]:
    """A structure's code as bytes, for the lab of that module. Runs in a worker process.

    With `quick`, code that takes long to optimise is not; then its text comes too, for `optimise`.
    """
    try:
        return _assembled(_described(module, structure), quick=quick)
    except Unsupported as error:
        _log.warning("no native code: %s", error)
        from holonomy.studio.compile.program import describe_program

        return _assembled(describe_program(load(module).program(structure), native=False), quick=False)


def optimise(text: bytes) -> tuple[bytes, bytes]:
    """The optimised code of a text that `build` returned. Runs in a worker process that has no JAX."""
    return _assembled(decode(text), quick=False)


def _assembled(program: CompiledProgram, *, quick: bool) -> tuple[bytes, bytes]:
    quick = quick and is_long(program)
    return encode(assembled_program(program, quick=quick)), encode(program) if quick else b""


@functools.lru_cache(_MOST_DESCRIBED)
def _described(module: str, structure: Structure) -> CompiledProgram:
    found = preset_code.read(module, structure)
    if found is not None:
        return found
    from holonomy.studio.compile.program import describe_program

    return describe_program(load(module).program(structure))


def prepare(modules: tuple[str, ...]) -> None:
    """Import JAX and what the labs need of it. Runs in a worker process, before there is anything to do."""
    for module in modules:
        lab = load(module)
        lab.program(lab.structure(lab.opening()))


def equations(module: str, structure: Structure) -> tuple[str, tuple[tuple[str, ...], ...]]:
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
        self._derived: dict[tuple[str, Structure], _Compilation] = {}
        self._here = ThreadPoolExecutor(1, thread_name_prefix="studio-assembler")

    def stop(self) -> None:
        """End the thread; what it does now takes less than a second."""
        self._here.shutdown(wait=False, cancel_futures=True)

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
            if making is not None and making.ahead and not ahead:
                making.future.cancel()  # where it is still queued; one that runs has little of the processor
                making = None
            if making is None:
                making = _Compilation(self._submit(key, BACKGROUND if ahead else URGENT), ahead)
                self._made[key] = making
            making.users += 1
        making.future.add_done_callback(functools.partial(self._finished, key, done))

    def _submit(self, key: tuple[str, Structure], urgency: int) -> Future[Any]:
        """Have a worker make the code: quickly where a user waits, well otherwise."""
        module, structure = module_of(key[0]), key[1]
        shipped = preset_code.file_of(module, structure).is_file()
        if shipped and urgency == URGENT:  # LLVM runs without the interpreter's lock, so the frames go on
            return self._here.submit(self._assemble, module, structure)
        worker = self._workers.background if urgency == BACKGROUND else self._workers.urgent
        worker = self._workers.assembler if shipped else worker
        return worker.submit(f"{__name__}:build", module, structure, urgency == URGENT, urgency=urgency)

    def _assemble(self, module: str, structure: Structure) -> tuple[bytes, bytes]:
        """The quick code of a preset that was traced ahead, in this process: no other needs to start for it."""
        program = preset_code.read(module, structure)
        if program is None:  # the file is damaged
            return self._workers.urgent.submit(f"{__name__}:build", module, structure, True).result()
        return _assembled(program, quick=True)

    def release(self, lab: AbstractLab, structure: Structure) -> None:
        """One caller of `fetch` no longer needs this kernel; a compilation that no one needs is ended."""
        key = (lab.name, structure)
        with self._lock:
            making = self._made.get(key)
            if making is not None:
                making.users -= 1
                if making.users <= 0 and self._workers.urgent.cancel(making.future):
                    del self._made[key]

    def prefetch(self, lab: AbstractLab, structures: tuple[Structure, ...]) -> None:
        """Compile these in the background, in this order."""
        for structure in structures:
            key = (lab.name, structure)
            if key not in self._kernels and key not in self._made:  # every visitor would leave a callback in the queue
                self.fetch(lab, structure, _ignored, ahead=True)

    def equations(self, lab: AbstractLab, structure: Structure) -> Future[Any]:
        """The equations of motion, derived once. A caller that no longer waits says so by `release_equations`."""
        key = (lab.name, structure)
        with self._lock:
            found = self._derived.get(key)
            if found is None or _failed(found.future):
                future = self._workers.files.submit(f"{__name__}:equations", module_of(lab.name), structure)
                if len(self._derived) >= _MOST_DERIVED:
                    self._derived = {k: one for k, one in self._derived.items() if not one.future.done()}
                found = self._derived[key] = _Compilation(future, ahead=False)
            found.users += 1
            return found.future

    def release_equations(self, lab: AbstractLab, structure: Structure) -> None:
        """One caller of `equations` no longer waits; a derivation that no one waits for is ended."""
        key = (lab.name, structure)
        with self._lock:
            found = self._derived.get(key)
            if found is None or found.future.done():
                return
            found.users -= 1
            if found.users <= 0:
                del self._derived[key]
                self._workers.files.cancel(found.future)

    def _finished(self, key: tuple[str, Structure], done: Done, future: Future[Any]) -> None:
        if future.cancelled() or isinstance(future.exception(), TakenBack):
            return
        error = future.exception()
        if error is not None:
            self._forget(key, future)
            done(None, str(error))
            return
        data, text = future.result()
        kernel = self._loaded(key, data)
        self._forget(key, future)
        if kernel is not None and kernel.quick:
            # not by the worker that made it: the next one for whom a user waits would wait behind it
            better = self._workers.assembler.submit(f"{__name__}:optimise", text, urgency=SOON)
            better.add_done_callback(functools.partial(self._finished, key, _ignored))
        elif kernel is not None:
            cache.write(_name(*key), data)
        done(kernel, "" if kernel is not None else "The code that was made cannot be loaded here.")

    def _forget(self, key: tuple[str, Structure], future: Future[Any]) -> None:
        with self._lock:
            if key in self._made and self._made[key].future is future:
                del self._made[key]

    def _loaded(self, key: tuple[str, Structure], data: bytes) -> Kernel | None:
        with self._lock:
            if key in self._kernels and not self._kernels[key].quick:
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


def _failed(future: Future[Any]) -> bool:
    return future.cancelled() or (future.done() and future.exception() is not None)


def _ignored(kernel: Kernel | None, sentence: str) -> None:
    """For code that no one waits for."""


def _name(lab: str, structure: Structure) -> str:
    return cache.key("studio", str(_FORM), lab, repr(structure), machine.identity(), _sources(module_of(lab)))


@functools.cache
def _sources(module: str) -> str:
    """What the code of a lab is made from: the sources of the package and the packages that trace."""
    return " ".join((preset_code.sources(module), *(_version(package) for package in ("jax", "equinox"))))


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""
