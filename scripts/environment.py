"""Set up the checkout: `python scripts/environment.py run` or `... dev`.

`run` is what the studio needs, `dev` everything that the checks need as well. The packages are installed into `.venv`
from the hashed requirements files, which hold versions for every supported Python; a Python newer than those gets what
the ranges in pyproject.toml allow. A stamp file holds the digest of everything that was installed, so a second call
does nothing. An environment that was left incomplete is made again. Each failure is reported in one sentence.

Standard library only, and the syntax of Python 3.8, so that an old Python can report that it is too old.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
EXTRAS = {"run": "build,all", "dev": "build,bench,docs,test,dev"}
LEVELS = {"run": ("run", "dev"), "dev": ("dev",)}
LOCKED_OPTIONS = ("--require-hashes", "--no-deps", "--only-binary=:all:")

# What pip prints if no index answers.
UNREACHABLE = re.compile(
    r"NewConnectionError|Max retries exceeded|ConnectTimeout|ReadTimeout|Read timed out|Temporary failure in name"
    r"|Name or service not known|Connection refused|Network is unreachable|ProxyError|Cannot connect to proxy"
    r"|Connection (?:broken|reset|aborted)|RemoteDisconnected"
)
NO_WRITING = (errno.EROFS, errno.EACCES, errno.EPERM)


def supported(root: Path = ROOT) -> list[tuple[int, int]]:
    """The versions of Python in the classifiers of pyproject.toml, oldest first."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    found = re.findall(r'"Programming Language :: Python :: (3)\.(\d+)"', text)
    return sorted((int(major), int(minor)) for major, minor in found)


def interpreter(folder: Path) -> Path:
    """The Python of a virtual environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def no_writing(folder: Path, error: OSError) -> str:
    """The sentence for a folder that cannot be written to."""
    if error.errno in NO_WRITING:
        return (
            f"The checkout {ROOT} cannot be written to, and set-up makes {folder.name} in it: copy the checkout to a "
            "folder of your own and run make there."
        )
    return f"Set-up could not write {folder}: {error.strerror or error}."


def check_python() -> None:
    """Stop if this Python is too old, or cannot make virtual environments."""
    oldest, newest = supported()[0], supported()[-1]
    if sys.version_info[:2] < oldest:
        sys.exit(
            "Holonomy needs Python {}.{} to {}.{}, and {} is Python {}.{}; name another: "
            "make PYTHON=/path/to/python.".format(*oldest, *newest, sys.executable, *sys.version_info[:2])
        )
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(
            f"{sys.executable} cannot make virtual environments, because it has no module {missing[0]}; on Debian or "
            "Ubuntu install python3-venv, or name another Python: make PYTHON=/path/to/python."
        )


def usable(folder: Path, version: str = sys.version) -> bool:
    """Whether a virtual environment runs this version of Python, has pip, and no installation in it was interrupted."""
    if not interpreter(folder).exists() or marker(folder).exists():
        return False
    question = "import sys, pip; print(sys.version)"
    try:
        asked = subprocess.run(
            [str(interpreter(folder)), "-c", question], capture_output=True, text=True, check=False, cwd=str(ROOT)
        )
    except OSError:  # not a program
        return False
    return asked.returncode == 0 and asked.stdout.strip() == version.strip()


def marker(folder: Path) -> Path:
    """The file that is there while packages are being installed into an environment."""
    return folder / ".holonomy-incomplete"


def create(folder: Path, python: str | None = None) -> None:
    """Make a virtual environment, in place of what is in the folder."""
    if folder.is_symlink() and not folder.exists():
        sys.exit(f"{folder} is a link to a folder that does not exist; remove the link and run make again.")
    if folder.exists() and not folder.is_dir():
        sys.exit(f"{folder} is a file, and set-up makes a folder of that name; move the file and run make again.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        marker(folder).touch()
    except OSError as error:
        sys.exit(no_writing(folder, error))
    # If this Python itself belongs to the folder that is cleared, the one it was made from does the work.
    python = python or getattr(sys, "_base_executable", None) or sys.executable
    made = subprocess.run(
        [str(python), "-m", "venv", "--clear", str(folder)], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        said = (made.stderr + made.stdout).strip().splitlines() or ["no reason given"]
        sys.exit(f"{python} could not make the virtual environment {folder}: {said[-1].strip()}")


def pip(folder: Path, *arguments: str) -> None:
    """Install with the pip of an environment; if it fails, stop with one sentence and keep its messages in a file."""
    command = [str(interpreter(folder)), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *arguments]
    done = subprocess.run(
        command,
        cwd=str(ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        sys.exit(explain(done.stdout, folder))


def explain(printed: str, folder: Path) -> str:
    """One sentence for a failure of pip, from what it printed, which is kept in a file of the environment."""
    log = folder / "pip.log"
    try:
        log.write_text(printed, encoding="utf-8")
        where = f"pip's own messages are in {os.path.relpath(str(log), str(ROOT))}."
    except OSError:
        where = ""
    if UNREACHABLE.search(printed):
        return (
            "The packages could not be downloaded, because no package index answered: check the network, or pip's "
            f"proxy and index settings, and run make again; {where}"
        )
    if "No space left on device" in printed:
        return f"The disk is full, so the packages could not be installed: make room and run make again; {where}"
    errors = re.findall(r"^ERROR: (.+)$", printed, re.MULTILINE) or printed.strip().splitlines()[-1:]
    reason = errors[0].rstrip(".:") if errors else "it gave no reason"
    return f"pip could not install the packages: {reason}; {where}"


def fill(folder: Path, requirements: Path, ranges: str | None = None, *, options: tuple[str, ...] = ()) -> None:
    """Install a hashed requirements file, or the extras named by `ranges`, and the checkout itself, editable."""
    try:
        marker(folder).touch()
    except OSError as error:
        sys.exit(no_writing(folder, error))
    try:
        if ranges is None:
            pip(folder, *LOCKED_OPTIONS, *options, "-r", str(requirements))
            # The build backend is one of the locked packages, so that nothing comes in beside the lock.
            pip(folder, "--no-deps", "--no-build-isolation", "-e", ".")
        else:
            pip(folder, "-e", f".[{ranges}]")
    except SystemExit:
        marker(folder).unlink()  # pip undoes what it could not complete; only an interrupted pip leaves half a package
        raise
    marker(folder).unlink()


def digest(level: str) -> str:
    """A fingerprint of everything that decides what `.venv` holds, the place of the checkout included."""
    files = [ROOT / "pyproject.toml", ROOT / "requirements" / f"{level}.txt"]
    parts = [str(ROOT), sys.version, *(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def stamp(level: str) -> Path:
    """The file that says a level has been installed."""
    return VENV / f".holonomy-{level}"


def ready(level: str) -> bool:
    """Whether this level, or one that contains it, is in place already."""
    if not interpreter(VENV).exists() or marker(VENV).exists():
        return False
    return any(stamp(name).exists() and stamp(name).read_text() == digest(name) for name in LEVELS[level])


def install(level: str) -> None:
    """Make `.venv` if needed and install the packages of a level, then the checkout itself."""
    check_python()
    if stamp("dev").exists():
        level = "dev"  # never less than was there
    if not usable(VENV):
        create(VENV)
    try:
        for name in EXTRAS:
            if stamp(name).exists():
                stamp(name).unlink()
    except OSError as error:
        sys.exit(no_writing(VENV, error))
    requirements = ROOT / "requirements" / f"{level}.txt"
    if sys.version_info[:2] <= supported()[-1]:
        print(f"Installing the locked packages of requirements/{level}.txt into .venv ...", flush=True)
        # Checks import a small part of their packages, which is compiled when it is imported; pip would compile every
        # module, for a minute. The studio's own packages are compiled, so that its first start does not wait for it.
        fill(VENV, requirements, options=("--no-compile",) if level == "dev" else ())
    else:
        print(
            "Python {}.{} is newer than any that requirements/ is for, so the packages are installed by the ranges in "
            "pyproject.toml ...".format(*sys.version_info[:2]),
            flush=True,
        )
        fill(VENV, requirements, EXTRAS[level])
    stamp(level).write_text(digest(level))


def main(arguments: list[str]) -> None:
    """Install the level named on the command line unless it is there."""
    if len(arguments) != 1 or arguments[0] not in EXTRAS:
        sys.exit(f"Say which set of packages to install: {' or '.join(EXTRAS)}.")
    try:
        if not ready(arguments[0]):
            install(arguments[0])
    except KeyboardInterrupt:
        sys.exit("\nSet-up was interrupted; run make again to complete it.")


if __name__ == "__main__":
    main(sys.argv[1:])
