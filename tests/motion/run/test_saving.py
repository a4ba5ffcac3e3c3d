"""Saving under faults: a full disk, planted links, many threads, and a process that is killed."""

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.motion.examples import pendulum

import holonomy as hl
from holonomy import files

SAVE = """
import errno, os, resource, sys
import holonomy as hl
run = hl.simulate(hl.Pendulum([1.0], [1.0]), [1.0], [0.0], 10.0, dt=0.01, method=hl.RK4())
folder, file_limit = sys.argv[1], int(sys.argv[2])
if file_limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
try:
    run.save(os.path.join(folder, "run.nc"))
except OSError as error:
    assert error.filename == os.path.join(folder, "run.nc"), error
    print(errno.errorcode[error.errno], os.listdir(folder))
"""


@pytest.fixture(scope="module")
def run() -> hl.Run:
    return hl.simulate(pendulum, [1.0], [0.0], 1.0, dt=0.01)


def child(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=120)


def test_a_full_disk_is_an_os_error(tmp_path: Path) -> None:
    """On a file system of 64 kB; HDF5 writing there itself ended the process with a segmentation fault."""
    small = tmp_path / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=64k none {small}"
    if child("unshare", "-rm", "sh", "-c", mount).returncode:
        pytest.skip("This machine does not let a user mount a file system of their own.")
    script = f'{mount} && exec "$@"'
    done = child("unshare", "-rm", "sh", "-c", script, "sh", sys.executable, "-c", SAVE, small, 0)
    assert (done.returncode, done.stdout) == (0, "ENOSPC []\n"), done.stderr


def test_a_limit_of_file_size_is_an_os_error(tmp_path: Path) -> None:
    done = child(sys.executable, "-c", SAVE, tmp_path, 65536)
    assert (done.returncode, done.stdout) == (0, "EFBIG []\n"), done.stderr


def in_a_block(run: hl.Run, target: Path) -> None:
    with files.whole(target) as part:
        part.write_bytes(b"new")


WRITERS = {
    "run": lambda run, target: run.save(target),
    "bytes": lambda run, target: files.write(target, b"new"),
    "block": in_a_block,
}


@pytest.mark.parametrize("write", list(WRITERS))
def test_an_error_leaves_nothing_new_and_the_old_file_whole(
    run: hl.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    target = tmp_path / "run.nc"
    target.write_bytes(b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        WRITERS[write](run, target)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("run.nc", b"old")]


def test_planted_links_are_not_followed(run: hl.Run, tmp_path: Path) -> None:
    """A link under the name that earlier versions wrote to, and one at the target: neither leads to another file."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f".run.{os.getpid()}.part.nc").symlink_to(victim)
    target = tmp_path / "run.nc"
    target.symlink_to(victim)
    run.save(target)
    assert victim.read_text() == "precious"
    assert not target.is_symlink()
    assert len(hl.load(target).t) == len(run.t)


def test_a_temporary_name_that_is_taken_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    names = iter(["taken", "free"])
    monkeypatch.setattr("secrets.token_hex", lambda count: next(names))
    (tmp_path / ".holonomy-taken.part.nc").symlink_to(victim)
    files.write(tmp_path / "run.nc", b"new")
    assert victim.read_text() == "precious"
    assert (tmp_path / "run.nc").read_bytes() == b"new"


def test_new_files_have_the_access_rights_of_the_process(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write(tmp_path / "a.nc", b"")
        with files.whole(tmp_path / "b.nc"):
            pass
    finally:
        os.umask(before)
    assert [oct((tmp_path / name).stat().st_mode & 0o777) for name in ("a.nc", "b.nc")] == ["0o640", "0o640"]


def test_threads_that_save_to_one_path_all_succeed(run: hl.Run, tmp_path: Path) -> None:
    target = tmp_path / "run.nc"
    failures: list[BaseException] = []
    together = threading.Barrier(4)

    def save() -> None:
        try:
            together.wait()
            for _ in range(10):
                run.save(target)
        except BaseException as error:  # noqa: BLE001 - any failure of a thread is one of the test
            failures.append(error)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [file.name for file in tmp_path.iterdir()] == ["run.nc"]
    np.testing.assert_array_equal(hl.load(target).q, run.q)


@pytest.mark.proof
def test_a_process_killed_while_it_saves_leaves_a_whole_file(run: hl.Run, tmp_path: Path) -> None:
    """Killed at 60 random moments of saving again and again: what has the name is always a whole run."""
    target = run.save(tmp_path / "run.nc")
    code = (
        "import sys, holonomy.files as files\n"
        "data = open(sys.argv[1], 'rb').read()\n"
        "print('ready', flush=True)\n"
        "while True: files.write(sys.argv[1], data)"
    )
    wait = random.Random(0)
    for _ in range(60):
        with subprocess.Popen([sys.executable, "-c", code, target], stdout=subprocess.PIPE, text=True) as saving:
            assert saving.stdout is not None
            assert saving.stdout.readline() == "ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                saving.wait(wait.uniform(0.0, 0.3))
            saving.kill()
        np.testing.assert_array_equal(hl.load(target).q, run.q)
