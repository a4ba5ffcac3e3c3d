"""What `make compat` and `make newest` report is what happened."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import compat
import environment

ROOT = Path(__file__).resolve().parents[2]
REPORT = """<testsuites><testsuite>
<testcase classname="tests.trace.test_dag" name="test_good"/>
<testcase classname="tests.trace.test_dag" name="test_skipped"><skipped/></testcase>
<testcase classname="tests.trace.test_dag" name="test_bad[1]"><failure message="no"/></testcase>
<testcase classname="tests.motion.events.test_walls" name="test_setup"><error message="no"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """Which set was tested with which Python and which file, without installing or testing anything."""
    done: list[tuple[str, str, str]] = []

    def prepare(name: str, python: str, requirements: Path) -> Path:
        done.append((name, python, requirements.name))
        return Path(name)

    def run_tests(name: str, *_: object) -> compat.Outcome:
        return compat.Outcome(name, "3.11.0", "0.10.0", 3, ["tests/x.py::test_y"] if name == "newest" else [], 1.0)

    monkeypatch.setattr(compat, "prepare", prepare)
    monkeypatch.setattr(compat, "run_tests", run_tests)
    return done


def test_what_is_tested_exists() -> None:
    assert [test for test in (*compat.TESTS, *compat.OLDEST_TESTS) if not (ROOT / test).exists()] == []
    for room in compat.ROOMS:
        assert any(test.startswith(f"tests/{room}") for test in compat.OLDEST_TESTS)


def test_tests_that_it_alone_runs_are_in_the_rooms_that_it_runs() -> None:
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if "mark.compat" in path.read_text()]
    rooms = tuple(ROOT / "tests" / room for room in compat.ROOMS)
    assert [path for path in marked if path != Path(__file__) and not any(room in path.parents for room in rooms)] == []
    assert len(marked) > 1


def test_a_report_names_the_tests_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    assert compat.read_report(path) == (0, [])
    path.write_text(REPORT)
    assert compat.read_report(path) == (
        2,
        ["tests/trace/test_dag.py::test_bad[1]", "tests/motion/events/test_walls.py::test_setup"],
    )


def test_packages_that_differ_from_the_lock_are_listed() -> None:
    locked = {"jax": "0.10.2", "numpy": "2.4.6", "unused": "1"}
    installed = {"jax": "0.12.0", "numpy": "2.4.6", "added": "3", "holonomy": "0.1.0", "pip": "26"}
    assert compat.differences(locked, installed) == [("added", "not in the lock", "3"), ("jax", "0.10.2", "0.12.0")]


def test_the_oldest_and_the_newest_python_are_tested_and_a_failure_is_named(
    monkeypatch: pytest.MonkeyPatch, outcomes: list[tuple[str, str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compat, "pythons", lambda: {(3, 11): "/a", (3, 12): "/b", (3, 13): "/c"})
    with pytest.raises(SystemExit) as stop:
        compat.main(["locked"])
    assert stop.value.code == 1
    assert outcomes == [("oldest", "/a", "oldest.txt"), ("newest", "/c", "dev.txt")]
    printed = capsys.readouterr().out
    assert "3.14    not on this machine" in printed
    assert "newest failed: tests/x.py::test_y" in printed


def test_a_missing_python_is_reported_and_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, outcomes: list[tuple[str, str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    newest = environment.supported()[-1]
    monkeypatch.setattr(compat, "pythons", lambda: {newest: "/only"})
    monkeypatch.setattr(compat, "run_tests", lambda name, *_: compat.Outcome(name, "3.14.0", "0.12.0", 3, [], 1.0))
    compat.main(["locked"])
    assert outcomes == [("newest", "/only", "dev.txt")]
    assert "Python 3.11 is not on this machine, so the oldest packages are not tested." in capsys.readouterr().out


def test_without_any_python_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compat, "pythons", dict)
    with pytest.raises(SystemExit, match="no supported Python that can make virtual environments"):
        compat.main(["locked"])


def test_the_lock_is_read_for_the_python_that_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "lock.txt"
    lines = ("a==1.0 ; python_full_version < '3' \\", "a==2.0 ; python_full_version >= '3' \\", "b==3 \\")
    lock.write_text("".join(f"{line}\n    --hash=sha256:0\n    # via a\n" for line in lines))
    monkeypatch.setattr(compat, "interpreter", lambda folder: Path(sys.executable))
    assert compat.ask(tmp_path, compat.LOCKED, str(lock)) == {"a": "2.0", "b": "3"}
    assert compat.ask(tmp_path, compat.INSTALLED)["pytest"] == pytest.__version__
