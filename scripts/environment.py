"""Set up the checkout: `python scripts/environment.py run` or `... dev`.

`run` is what the studio needs, `dev` everything the checks need as well. The packages go into `.venv`, from the hashed
requirements files on Python 3.11 and by the ranges in pyproject.toml on any other version (a hash fixes one Python's
wheels). A stamp holds the digest of all that went in, so a second call does nothing. Standard library only.
"""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
LOCKED = (3, 11)
EXTRAS = {"run": "build", "dev": "build,bench,docs,test,dev"}
LEVELS = {"run": ("run", "dev"), "dev": ("dev",)}


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
    return PYTHON.exists() and any(
        stamp(name).exists() and stamp(name).read_text() == digest(name) for name in LEVELS[level]
    )


def same_python() -> bool:
    """Whether `.venv` exists and runs the version of Python that runs this script."""
    if not PYTHON.exists():
        return False
    asked = subprocess.run(
        [PYTHON, "-c", "import sys; print(sys.version)"], capture_output=True, text=True, check=False
    )
    return asked.returncode == 0 and asked.stdout.strip() == sys.version.strip()


def pip(*arguments: str) -> None:
    """Run pip in `.venv`, and stop with its exit status if it fails."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *arguments]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if status != 0:
        sys.exit(f"pip could not install the packages (status {status}); its reason is above. Run make again to go on.")


def install(level: str) -> None:
    """Make `.venv` if needed and install the packages of a level, then the checkout itself, editable."""
    if sys.version_info[:2] < LOCKED:
        sys.exit(
            f"Holonomy needs Python 3.11 or newer, and this is {sys.version.split()[0]}. Run: make PYTHON=python3.11"
        )
    if not same_python():
        if importlib.util.find_spec("ensurepip") is None:
            sys.exit(f"{sys.executable} cannot make virtual environments; on Debian or Ubuntu install python3-venv.")
        if VENV.exists():
            shutil.rmtree(VENV)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    if stamp("dev").exists():
        level = "dev"  # never less than was there
    for name in EXTRAS:
        stamp(name).unlink(missing_ok=True)
    if sys.version_info[:2] == LOCKED:
        print(f"Installing the locked packages of requirements/{level}.txt into .venv ...", flush=True)
        pip("--require-hashes", "--no-deps", "--only-binary=:all:", "-r", f"requirements/{level}.txt")
        # The build backend is one of the locked packages, so that nothing comes in beside the lock.
        pip("--no-deps", "--no-build-isolation", "-e", ".")
    else:
        print("Installing the packages of pyproject.toml into .venv (the lock is for Python 3.11) ...", flush=True)
        pip("-e", f".[{EXTRAS[level]}]")
    stamp(level).write_text(digest(level))


def main(arguments: list[str]) -> None:
    """Install the level named on the command line unless it is there."""
    if len(arguments) != 1 or arguments[0] not in EXTRAS:
        sys.exit(f"Say which set of packages: {' or '.join(EXTRAS)}.")
    if not ready(arguments[0]):
        install(arguments[0])


if __name__ == "__main__":
    main(sys.argv[1:])
