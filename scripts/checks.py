"""Run the checks of `make test`, on two cores: `python scripts/checks.py [NAME ...]`.

Each room of tests, of the longest ones each folder, is one check in a process of its own, so that what XLA compiled for
one is not kept for the next and a process stays small; types, frontend, documents and the two halves of the browser
tests are checks too, and Node and the pages are set up beside the first of them. The longest come first, so that both
cores are busy until the end. A check that passes is one line, with its seconds by the clock and of the processor; one
that fails is shown whole. With names only those are run.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
LOGS = ROOT / ".cache" / "checks"
NODE = (str(BIN / "python"), "scripts/node.py")
AT_ONCE = 2.3  # somewhat more than two cores: every check waits at times
# The longest checks, in the order in which they begin; the others follow by name.
FIRST = (
    "pages",
    "browser/1",
    "browser/2",
    "types",
    "tests/project",
    "tests/studio/labs",
    "tests/motion/events",
    "tests/systems",
    "tests/systems/constraints",
    "tests/models",
    "tests/motion",
    "tests",
    "tests/systems/bodies",
    "tests/motion/run",
    "tests/geometry",
    "tests/symmetry",
    "tests/show",
    "tests/motion/methods",
    "tests/spaces",
    "tests/locomotion",
    "tests/systems/contact",
    "tests/trace",
    "tests/motion/loops",
    "documents",
    "tests/study",
    "frontend",
)
# Rooms whose folders are checks of their own, and those that are too short for that.
LONG = ("motion", "systems", "studio")
SHORT = ("scene", "viewer", "testing")
# What `make compat` runs on two Pythons and `make test` leaves to it.
IN_COMPAT = ("tests/project/test_document_examples.py", "tests/project/test_live_labs.py")
# Only here types are checked at run time and native code is optimised, which would take half of the time elsewhere:
# `make proof` does both in every room.
TYPED = ("geometry", "study")
OPTIMISED = ("trace", "studio")
# Checks that need Node and the built pages, which are set up while others run.
WITH_PAGES = ("tests", "tests/project", "tests/show", "tests/studio", "frontend", "documents", "browser/1", "browser/2")
# How much of a core a check keeps busy, where that is less than one: setting up pages is mostly waiting for files, a
# browser test waits for its studio or its page for much of the time, and so do tests of set-up and of whole processes.
SHARES = {"pages": 0.0, "browser/1": 0.4, "browser/2": 0.4, "tests/project": 0.5}


class Check(NamedTuple):
    """Commands one after another, and what they find in their environment."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    settings: dict[str, str]


class Running(NamedTuple):
    """A check that has begun."""

    check: Check
    process: "subprocess.Popen[bytes]"
    log: Path
    began: float


class Ended(NamedTuple):
    """How a check went: its exit status, and seconds by the clock and of the processor, its processes included."""

    check: Check
    log: Path
    status: int
    clock: float
    processor: float


def group_of(folder: str) -> str:
    """The check to which the tests of a folder belong."""
    parts = folder.split("/")[1:]
    if not parts or parts[0] in SHORT:
        return "tests"
    return folder if parts[0] in LONG else f"tests/{parts[0]}"


def of_tests() -> Iterator[Check]:
    """A check for each group of tests; those of `make proof` and of `make compat` alone are not among them."""
    groups: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        file = path.relative_to(ROOT).as_posix()
        if file in IN_COMPAT:
            continue
        groups.setdefault(group_of(file.rpartition("/")[0]), []).append(file)
    groups.pop("tests/proof", None)
    for name, files in groups.items():
        room = (*name.split("/"), "")[1]
        settings = {"HOLONOMY_XLA": "quick", "HOLONOMY_TYPES": "1" if room in TYPED else "0"}
        if room not in OPTIMISED:
            settings["HOLONOMY_LLVM"] = "quick"
        yield Check(name, ((str(BIN / "pytest"), "-q", "-m", "not proof and not compat", *files),), settings)


def checks() -> list[Check]:
    """All checks, in the order in which they begin."""
    every = [
        *of_tests(),
        Check("types", ((str(BIN / "basedpyright"),),), {}),
        Check("pages", ((*NODE, "install"), (*NODE, "build")), {}),
        *(Check(f"browser/{k}", ((*NODE, "npm", "run", "browser", "--", f"{k}/2"),), {}) for k in (1, 2)),
        Check("frontend", ((*NODE, "npm", "run", "check"), (*NODE, "npm", "test")), {}),
        Check("documents", ((str(BIN / "mkdocs"), "build", "--strict", "--quiet"),), {"NO_MKDOCS_2_WARNING": "1"}),
    ]
    return sorted(every, key=lambda one: FIRST.index(one.name) if one.name in FIRST else len(FIRST))


def can_begin(check: Check, unfinished: list[str]) -> bool:
    """Whether what a check needs is there."""
    needs = check.name in WITH_PAGES or check.name.startswith("tests/studio/")
    return not needs or "pages" not in unfinished


def share(check: Check) -> float:
    """How much of a core a check keeps busy."""
    return SHARES.get(check.name, 1.0)


def fitting(ready: list[Check], running: list[Check]) -> list[Check]:
    """Those of the checks that can begin which the cores have room for, in their order."""
    busy = sum(share(check) for check in running)
    chosen: list[Check] = []
    for check in ready:
        if busy + share(check) <= AT_ONCE:
            busy += share(check)
            chosen.append(check)
    return chosen


def begin(check: Check) -> Running:
    """Start a check, its output in a file."""
    log = LOGS / f"{check.name.replace('/', '-')}.log"
    script = " && ".join(" ".join(f"'{part}'" for part in command) for command in check.commands)
    with log.open("w") as output:
        process = subprocess.Popen(
            ["sh", "-c", script], cwd=ROOT, env=os.environ | check.settings, stdout=output, stderr=subprocess.STDOUT
        )
    return Running(check, process, log, time.monotonic())


def ended(one: Running) -> Ended | None:
    """How a check went, or None while it runs."""
    process, status, usage = os.wait4(one.process.pid, os.WNOHANG)
    if process == 0:
        return None
    one.process.returncode = os.waitstatus_to_exitcode(status)  # so that nothing waits for it again
    clock = time.monotonic() - one.began
    return Ended(one.check, one.log, one.process.returncode, clock, usage.ru_utime + usage.ru_stime)


def passed(one: Ended) -> bool:
    """Whether a check passed, and a line that says so. Of tests, 5 says that a folder has only long ones."""
    tests = one.check.name.startswith("tests")
    good = one.status == 0 or (one.status == 5 and tests)
    text = one.log.read_text(encoding="utf-8", errors="replace")
    last = text.splitlines()[-1] if text and tests else ""
    seconds = f"{one.clock:4.0f} s, {one.processor:4.0f} s of the processor"
    print(f"{'passed' if good else 'FAILED'}  {one.check.name:26} {seconds}  {last}", flush=True)
    if not good:
        print(text, flush=True)
    return good


def main(names: list[str]) -> int:
    """Run the checks; 1 if one of them failed."""
    waiting = [check for check in checks() if not names or check.name in names]
    missing = set(names) - {check.name for check in waiting}
    if missing:
        print(f"There is no check {sorted(missing)[0]!r}; there are {', '.join(check.name for check in checks())}.")
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    running: list[Running] = []
    failed: list[str] = []
    try:
        while waiting or running:
            unfinished = [check.name for check in waiting] + [one.check.name for one in running]
            ready = [check for check in waiting if can_begin(check, unfinished)]
            for check in fitting(ready, [one.check for one in running]):
                waiting.remove(check)
                running.append(begin(check))
            time.sleep(0.2)
            for one in list(running):
                found = ended(one)
                if found is not None:
                    running.remove(one)
                    if not passed(found):
                        failed.append(one.check.name)
    finally:
        for one in running:
            one.process.terminate()
    used = sum(os.times()[2:4])
    print(f"All checks: {time.monotonic() - began:.0f} s, {used:.0f} s of the processor.")
    if failed:
        print(f"Failed: {', '.join(failed)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
