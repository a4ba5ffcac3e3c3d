"""Test the package on the Pythons and package versions at both ends of what it supports: `make compat`, `make newest`.

`python scripts/compat.py locked` makes two environments under `.cache/compat` and runs tests in each:

- `oldest`: the oldest supported Python with requirements/oldest.txt, the oldest versions that pyproject.toml allows;
- `newest`: the newest supported Python of this machine with requirements/dev.txt.

`python scripts/compat.py newest` takes the newest versions that the package index has, whatever the lock says, and
prints which packages differ from the lock and which tests fail.

The Pythons are those that scripts/find_python.sh finds. One that is missing is reported and is no failure.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from environment import create, fill, interpreter, marker, pip, supported, usable

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".cache" / "compat"
EXAMPLES = ("tests/project/test_document_examples.py", "tests/project/test_live_labs.py")


def files_of(folder: str, *, without: str = "") -> list[str]:
    """The files of tests in a folder itself, but for the one of this name."""
    paths = sorted((ROOT / "tests" / folder).glob("test_*.py"))
    return [path.relative_to(ROOT).as_posix() for path in paths if path.stem != f"test_{without}"]


ROOMS = ("trace", "systems", "motion")  # with constraints, contact and events
TESTS = (*EXAMPLES, *(f"tests/{room}" for room in ROOMS))
# Both sets together must take less than 15 minutes on two cores, so the oldest gets part of the slowest folders: every
# kind of constraint, of contact and of event, not every method with each, nor two long files about numbers alone.
OLDEST_TESTS = (
    *EXAMPLES,
    "tests/trace",
    *files_of("systems"),
    *files_of("motion", without="far_out"),
    *(f"tests/systems/constraints/test_{name}.py" for name in ("bad_input", "constrained", "curved", "nonholonomic")),
    *(f"tests/systems/contact/test_{name}.py" for name in ("complementarity", "friction", "impact")),
    *(f"tests/motion/{folder}" for folder in ("loops", "methods")),
    *files_of("motion/run", without="verdict"),
    *(f"tests/motion/events/test_{name}.py" for name in ("shared", "traced")),
)
SHORT = "not proof and not compat"  # the tests of `make test`; the newest set runs those marked `compat` besides
EVERYTHING = "build,bench,test"
# In the oldest set, old packages meet recent ones whose names they use before these were deprecated. That works, so it
# sets no lower bound: such warnings are errors everywhere else.
OLD_WARNINGS = ("-W", "default::DeprecationWarning")
# `make proof` checks types and compiles as users do, as `make newest` does; the locked sets compile quickly.
SETTINGS = {"HOLONOMY_MEMORY_LIMIT": "0", "HOLONOMY_TYPES": "0"}
QUICK_SETTINGS = SETTINGS | {"HOLONOMY_XLA": "quick", "HOLONOMY_LLVM": "quick"}

IMPORT = "import holonomy; [getattr(holonomy, name) for name in holonomy.__all__]"
INSTALLED = """
import importlib.metadata as m, json
print(json.dumps({d.metadata["Name"].lower().replace("_", "-"): d.version for d in m.distributions()}))
"""
LOCKED = """
import json, re, sys
from packaging.requirements import Requirement
lines = re.findall(r"^[A-Za-z0-9._-]+==[^\\\\\\n]+", open(sys.argv[1], encoding="utf-8").read(), re.MULTILINE)
pins = [Requirement(line.strip()) for line in lines]
found = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
print(json.dumps({pin.name.lower(): str(pin.specifier).removeprefix("==") for pin in found}))
"""


@dataclass
class Outcome:
    """What the tests of one environment gave."""

    name: str
    python: str
    jax: str
    passed: int
    failed: list[str]
    seconds: float


def pythons() -> dict[tuple[int, int], str]:
    """The supported Pythons of this machine, with their paths."""
    done = subprocess.run(["sh", "scripts/find_python.sh", "all"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    return {(3, int(version.split(".")[1])): path for version, path in lines}


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Text in columns."""
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [head, *rows]]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def ask(folder: Path, program: str, *arguments: str) -> dict[str, str]:
    """What a short program prints as JSON in an environment."""
    command = [interpreter(folder), "-c", program, *arguments]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def version_of(python: str) -> str:
    """The full version of a Python, as `sys.version` has it."""
    command = [python, "-c", "import sys; print(sys.version)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def prepare(name: str, python: str, requirements: Path) -> Path:
    """An environment with the packages of a requirements file, made anew when the file or the Python changed."""
    folder = FOLDER / name
    version = version_of(python)
    parts = (str(ROOT), version, requirements.read_text(encoding="utf-8"))
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    stamp = folder / ".holonomy-compat"
    if usable(folder, version) and stamp.exists() and stamp.read_text() == digest:
        return folder
    where = requirements.relative_to(ROOT)
    print(f"Installing the packages of {where} into {folder.relative_to(ROOT)} ...", flush=True)
    create(folder, python)  # from nothing, so that no package of an earlier set stays
    # The modules that tests import are compiled when they are imported; pip would compile all of them, for a minute.
    fill(folder, requirements, options=("--no-compile",))
    stamp.write_text(digest)
    return folder


def prepare_newest(python: str) -> Path:
    """An environment with the newest versions that the index has."""
    folder = FOLDER / "index"
    print(f"Installing the newest packages of the index into {folder.relative_to(ROOT)} ...", flush=True)
    create(folder, python)
    marker(folder).unlink(missing_ok=True)
    pip(folder, "--upgrade", "--no-compile", "-e", f".[{EVERYTHING}]")
    return folder


def run_tests(
    name: str, folder: Path, tests: tuple[str, ...], warnings: tuple[str, ...] = (), settings: dict[str, str] = SETTINGS
) -> Outcome:
    """Import the package, then run tests, in an environment; `settings` are the switches of tests/conftest.py."""
    began = time.monotonic()
    installed = ask(folder, INSTALLED)
    python = version_of(str(interpreter(folder))).split()[0]
    print(f"\n── {name}: Python {python}, JAX {installed['jax']}, NumPy {installed['numpy']}", flush=True)
    report = FOLDER / f"{name}.xml"
    report.unlink(missing_ok=True)
    # Warnings are errors while importing, as they are in tests.
    imported = subprocess.run([interpreter(folder), "-W", "error", *warnings, "-c", IMPORT], cwd=ROOT, check=False)
    failed = ["import holonomy"] if imported.returncode else []
    marks = SHORT if name == "oldest" else "not proof"
    options = ["-q", "-n", "2", "--dist", "loadfile", "-m", marks, f"--junitxml={report}", *warnings, *tests]
    command = [interpreter(folder), "-m", "pytest", *options]
    ended = subprocess.run(command, cwd=ROOT, env=os.environ | settings, check=False)
    passed, wrong = read_report(report)
    failed += wrong or ([f"pytest (status {ended.returncode})"] if ended.returncode else [])
    return Outcome(name, python, installed["jax"], passed, failed, time.monotonic() - began)


def read_report(path: Path) -> tuple[int, list[str]]:
    """How many tests passed or were skipped, and the names of those that failed."""
    if not path.exists():
        return 0, []
    cases = list(ElementTree.parse(path).iter("testcase"))
    wrong = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    names = [f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}" for case in wrong]
    return len(cases) - len(wrong), names


def show_pythons(found: dict[tuple[int, int], str]) -> None:
    """Print which supported Pythons this machine has."""
    rows = [("{}.{}".format(*version), found.get(version, "not on this machine")) for version in supported()]
    print(table(("Python", "where"), rows), flush=True)


def show_outcomes(outcomes: list[Outcome]) -> None:
    """Print a line for each environment, then the tests that failed."""
    rows = [
        (one.name, one.python, one.jax, str(one.passed), str(len(one.failed)), f"{one.seconds:.0f} s")
        for one in outcomes
    ]
    print("\n" + table(("set", "Python", "JAX", "passed", "failed", "time"), rows))
    for one in outcomes:
        for test in one.failed:
            print(f"{one.name} failed: {test}")


def differences(locked: dict[str, str], installed: dict[str, str]) -> list[tuple[str, ...]]:
    """Packages whose installed version is not the locked one: name, locked, installed."""
    return [
        (name, locked.get(name, "not in the lock"), version)
        for name, version in sorted(installed.items())
        if name not in ("holonomy", "pip", "setuptools") and locked.get(name) != version
    ]


def locked(tests: tuple[str, ...], found: dict[tuple[int, int], str]) -> list[Outcome]:
    """Test the oldest and the newest locked set."""
    outcomes = []
    oldest, newest = supported()[0], max(found)
    with ThreadPoolExecutor(1) as beside:
        # the newest packages are fetched and unpacked, which is mostly waiting, while the oldest are tested
        if oldest in found:
            first = prepare("oldest", found[oldest], ROOT / "requirements" / "oldest.txt")
            second = beside.submit(prepare, "newest", found[newest], ROOT / "requirements" / "dev.txt")
            outcomes.append(run_tests("oldest", first, tests or OLDEST_TESTS, OLD_WARNINGS, QUICK_SETTINGS))
        else:
            print("Python {}.{} is not on this machine, so the oldest packages are not tested.".format(*oldest))
            second = beside.submit(prepare, "newest", found[newest], ROOT / "requirements" / "dev.txt")
        outcomes.append(run_tests("newest", second.result(), tests or TESTS, (), QUICK_SETTINGS))
    return outcomes


def newest_of_index(tests: tuple[str, ...], found: dict[tuple[int, int], str]) -> list[Outcome]:
    """Test the newest packages of the index on the newest Python."""
    folder = prepare_newest(found[max(found)])
    pins = ask(folder, LOCKED, str(ROOT / "requirements" / "dev.txt"))
    changed = differences(pins, ask(folder, INSTALLED))
    print(
        table(("package", "locked", "newest"), changed) if changed else "Every package is the locked one.", flush=True
    )
    return [run_tests("index", folder, tests or TESTS)]


def main(arguments: list[str]) -> None:
    """Run one of the two checks; exit with status 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="scripts/compat.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("locked", "newest"))
    parser.add_argument("tests", nargs="*", help="tests to run instead of the usual ones")
    options = parser.parse_args(arguments)
    found = pythons()
    if not found:
        sys.exit("This machine has no supported Python that can make virtual environments; install one of them.")
    show_pythons(found)
    check = {"locked": locked, "newest": newest_of_index}[options.what]
    outcomes = check(tuple(options.tests), found)
    show_outcomes(outcomes)
    if any(one.failed for one in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
