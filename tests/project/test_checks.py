"""`scripts/checks.py` runs every test, and no more at once than the cores have room for."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import checks
import compat

ROOT = Path(__file__).resolve().parents[2]


def test_every_file_of_tests_belongs_to_one_check():
    named = [part for check in checks.of_tests() for part in check.commands[0] if part.endswith(".py")]
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(named) == len(set(named))
    left = {file for file in there if file.startswith("tests/proof/")} | set(checks.IN_COMPAT)
    assert there - set(named) == left
    assert set(checks.IN_COMPAT) <= set(compat.TESTS) & set(compat.OLDEST_TESTS)


def test_the_order_names_checks_that_there_are():
    names = {check.name for check in checks.checks()}
    assert set(checks.FIRST) | set(checks.WITH_PAGES) | set(checks.SHARES) <= names
    assert not any(checks.can_begin(check, ["pages"]) for check in checks.checks() if check.name in checks.WITH_PAGES)


def test_checks_that_wait_run_beside_others():
    every = checks.checks()
    halves = [check for check in every if re.match(r"browser/\d", check.name)]
    assert [check.commands[0][-1] for check in halves] == ["1/2", "2/2"]
    waits = [check for check in every if check.name in checks.SHARES and check.name != "pages"]
    others = [check for check in every if check.name not in checks.SHARES]
    assert checks.fitting([*waits, *others], []) == [*waits, others[0]]
    assert checks.fitting(every, others[:2]) == [check for check in every if check.name == "pages"]
    assert checks.fitting(others, halves[:1]) == others[:1]
    begun = checks.fitting(every, [])
    assert sum(map(checks.share, begun)) <= checks.AT_ONCE
    assert all(check in begun or sum(map(checks.share, [*begun, check])) > checks.AT_ONCE for check in every)
