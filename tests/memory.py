"""Limit the memory of each test process: a run in which one passed 1.5 GB fails.

Most of the memory is code compiled by XLA: about 4 GB in a process that runs half of the tests and keeps everything. It
is released between tests once enough has accumulated. Code that is needed again is read from the run's cache on disk.
The long runs of `make proof` are measured and reported too, but may exceed the limit.

`conftest.py` imports the hooks.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import jax
import pytest

from holonomy.trace.native import compiler, engine

LIMIT = 1500
"""Peak of a process in megabytes above which the files in which it grew most are reported, and the run fails."""
RELEASE_AFTER_FILE = 800
RELEASE_AFTER_TEST = 1050
"""Memory in megabytes at which compiled code is released: after the last test of a file, and after any other test.
About 500 are in use once everything is imported, and up to 950 cannot be released after most tests have run."""
FILES_SHOWN = 8
ENFORCED = os.environ.get("HOLONOMY_MEMORY_LIMIT", "1") != "0"
"""Whether exceeding the limit fails the run. `make compat` only reports it: it runs many folders in one process, with
versions of other packages whose memory is theirs."""

_files = pytest.StashKey[dict[str, list[int]]]()
_measured = pytest.StashKey[dict[str, dict[str, Any]]]()


def resident() -> int:
    """Memory of this process in megabytes; its peak on systems without /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return peak()
    return pages * os.sysconf("SC_PAGE_SIZE") // 10**6


def peak() -> int:
    """Largest memory of this process so far in megabytes; 0 on Windows, which has no `getrusage`."""
    if sys.platform == "win32":
        return 0
    import resource

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest // 10**6 if sys.platform == "darwin" else largest * 1024 // 10**6


def release() -> None:
    """Drop compiled functions and return free memory to the system."""
    jax.clear_caches()
    engine.forget()
    compiler.forget()  # the key of one form can have megabytes
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # only in glibc
        if trim is not None:
            trim(0)


def pytest_configure(config: pytest.Config) -> None:
    """Start without measurements."""
    config.stash[_files] = {}
    config.stash[_measured] = {}
    config.pluginmanager.register(_Workers(config), "memory-of-workers")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
    """Measure the memory after each test and release what can be released."""
    start, old_peak = resident(), peak()
    result = yield
    after, new_peak = resident(), peak()
    file = item.config.stash[_files].setdefault(item.nodeid.split("::")[0], [start, start])
    file[1] = max(file[1], after, new_peak if new_peak > old_peak else 0)
    last = nextitem is None or nextitem.path != item.path
    if after > (RELEASE_AFTER_FILE if last else RELEASE_AFTER_TEST):
        release()
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker, send the measurements to the main process; there, fail the run if a process exceeded the limit."""
    config = session.config
    own = {"peak": peak(), "files": config.stash[_files]}
    output = getattr(config, "workeroutput", None)  # set by xdist in a worker
    if output is not None:
        output["memory"] = own
        return
    measured = config.stash[_measured]
    if not measured:
        measured["this process"] = own
    exceeded = any(worker["peak"] > LIMIT for worker in measured.values())
    if exceeded and ENFORCED and session.exitstatus == pytest.ExitCode.OK and config.getoption("markexpr") != "proof":
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report the peak of each process; for one above the limit, the files in which it grew most."""
    for name, worker in sorted(config.stash[_measured].items()):
        exceeded = worker["peak"] > LIMIT
        terminalreporter.write_line(f"Peak memory of {name}: {worker['peak']} MB", red=exceeded)
        if exceeded:
            terminalreporter.write_line(f"The limit is {LIMIT} MB. The process grew most in these files:", red=True)
            files = [(most - start, start, most, file) for file, (start, most) in worker["files"].items()]
            for _, start, most, file in sorted(files, reverse=True)[:FILES_SHOWN]:
                terminalreporter.write_line(f"  from {start:4d} to {most:4d} MB  {file}")


class _Workers:
    """Receives the measurements of pytest-xdist's workers; a plugin of its own because the hook is xdist's."""

    def __init__(self, config: pytest.Config):
        self.config = config

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended."""
        memory = getattr(node, "workeroutput", {}).get("memory")
        if memory is not None:
            self.config.stash[_measured][node.gateway.id] = memory
