"""Machine code on disk: only what the user's own process wrote is used, and not too much is kept."""

import os
from pathlib import Path

import pytest

from holonomy.trace.native import cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "cache"))
    cache.write("entry", b"code")
    assert cache.read("entry") == b"code"
    return tmp_path / "cache"


def test_entries_are_private(folder: Path) -> None:
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
    assert [oct(file.stat().st_mode & 0o777) for file in folder.iterdir()] == ["0o600"]


def test_a_link_to_an_entry_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "entry.o").rename(tmp_path / "elsewhere")
    (folder / "entry.o").symlink_to(tmp_path / "elsewhere")
    assert cache.read("entry") is None
    cache.write("entry", b"new")
    assert not (folder / "entry.o").is_symlink()
    assert cache.read("entry") == b"new"
    assert (tmp_path / "elsewhere").read_bytes().endswith(b"code")


def test_a_link_to_a_folder_is_not_followed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "link"))
    assert cache.read("entry") is None
    cache.write("other", b"code")
    assert sorted(file.name for file in folder.iterdir()) == ["entry.o"]


@pytest.mark.parametrize("which", ["folder", "entry"])
def test_what_others_may_write_is_not_used(folder: Path, which: str) -> None:
    (folder if which == "folder" else folder / "entry.o").chmod(0o720)
    assert cache.read("entry") is None


@pytest.mark.parametrize("which", ["folder", "entry"])
def test_what_belongs_to_others_is_not_used(folder: Path, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of files in one folder, each is looked at itself; the number of another user stands for that user."""
    inspect, wanted = os.fstat, folder.stat().st_ino if which == "folder" else (folder / "entry.o").stat().st_ino

    def owned(handle: int) -> os.stat_result:
        status = inspect(handle)
        if status.st_ino != wanted:
            return status
        return os.stat_result([*status[:4], status.st_uid + 1, *status[5:]])

    monkeypatch.setattr(os, "fstat", owned)
    assert cache.read("entry") is None


def test_a_pipe_does_not_stop_the_reader(folder: Path) -> None:
    os.mkfifo(folder / "pipe.o", 0o600)
    assert cache.read("pipe") is None


def test_what_was_used_longest_ago_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 100_000)
    monkeypatch.setattr(cache, "_TIDIED_EVERY", 1)
    for k in range(15):
        cache.write(f"{k}", bytes(10_000))
        os.utime(folder / f"{k}.o", (k, k))
        if k >= 2:
            assert cache.read("2") is not None  # used now
    kept = {entry.name for entry in cache.entries()}
    assert sum(entry.size for entry in cache.entries()) <= 100_000
    assert {"2.o", "14.o"} <= kept
    assert not {"0.o", "1.o", "3.o"} & kept


def test_abandoned_temporary_files_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_TIDIED_EVERY", 1)
    for name, age in (("old.part", 10_000), ("new.part", 0)):
        (folder / name).write_bytes(b"")
        then = os.stat(folder).st_mtime - age
        os.utime(folder / name, (then, then))
    cache.write("more", b"code")
    assert sorted(file.name for file in folder.iterdir()) == ["entry.o", "more.o", "new.part"]
    assert cache.clear() == 2
    assert list(folder.iterdir()) == []


def test_damaged_entries_are_forgotten(folder: Path) -> None:
    file = folder / "entry.o"
    file.write_bytes(file.read_bytes()[:-1] + b"X")
    assert cache.read("entry") is None
    assert not file.exists()
