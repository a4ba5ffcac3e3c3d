"""Native code touches no byte outside the arrays that it is given, and writes to no argument."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux", reason="the pages are forbidden by Linux's mprotect"),
]


def guarded(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.trace.native.guarded_memory", *options]
    return subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)


def test_native_code_stays_within_its_arrays() -> None:
    done = guarded()
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1000


def test_an_access_behind_an_array_would_be_seen() -> None:
    assert guarded("shorter").returncode == -signal.SIGSEGV
