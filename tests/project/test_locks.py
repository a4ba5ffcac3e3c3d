"""The locks fix every file by its hash, name no place to get it from, and hold what pyproject.toml asks for."""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import environment
import lock

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = [lock.dotted(version) for version in environment.supported()]
PIN = re.compile(r"^[A-Za-z0-9._-]+==[^\s\\]+(?: ; [^\\\n]+)?", re.MULTILINE)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def text(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.txt").read_text()


def pins(name: str, python: str) -> dict[str, Version]:
    """The versions that pip takes from a file on a Python on Linux."""
    place = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux"}
    found = [Requirement(line) for line in PIN.findall(text(name))]
    chosen = [pin for pin in found if pin.marker is None or pin.marker.evaluate(place)]
    names = [pin.name for pin in chosen]
    assert len(names) == len(set(names)), "a package has one version on each Python"
    return {pin.name: Version(str(pin.specifier).removeprefix("==")) for pin in chosen}


def asked(extras: str) -> Iterator[Requirement]:
    """What pyproject.toml asks for with some extras, those that name other extras included."""
    waiting = [*PROJECT["dependencies"]]
    waiting += [line for extra in extras.split(",") for line in PROJECT["optional-dependencies"][extra]]
    for requirement in map(Requirement, waiting):
        if requirement.name == PROJECT["name"]:
            yield from asked(",".join(requirement.extras))
        else:
            yield requirement


@pytest.mark.parametrize("name", ["run", "dev", "oldest", "uv"])
def test_requirements_are_pins_with_hashes_and_nothing_else(name: str) -> None:
    lines = [line for line in text(name).splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found = [line for line in lines if PIN.match(line)]
    hashes = [line for line in lines if re.fullmatch(r"\s+--hash=sha256:[0-9a-f]{64}( \\)?", line)]
    assert len(found) + len(hashes) == len(lines)
    assert all(line.endswith("\\") for line in found)
    assert "://" not in text(name)
    assert lock.foreign_lines(text(name)) == []


@pytest.mark.parametrize("line", ["--index-url https://example.org/simple", "-e file:///home", "numpy>=2"])
def test_a_line_that_names_a_place_or_no_version_does_not_belong_in_a_lock(line: str) -> None:
    assert lock.foreign_lines(f"# made by uv\n{line}\n") == [line]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("level", ["run", "dev"])
def test_a_lock_has_what_the_project_asks_for_on_every_supported_python(level: str, python: str) -> None:
    found = pins(level, python)
    place = {"python_version": python}
    wanted = [r for r in asked(environment.EXTRAS[level]) if r.marker is None or r.marker.evaluate(place)]
    assert wanted
    assert [str(r) for r in wanted if r.name not in found or found[r.name] not in r.specifier] == []


@pytest.mark.parametrize("python", PYTHONS)
def test_both_locks_pin_the_same_versions(python: str) -> None:
    assert pins("run", python).items() <= pins("dev", python).items()


def test_a_newer_python_never_gets_an_older_jax() -> None:
    versions = [pins("run", python)["jax"] for python in PYTHONS]
    assert versions == sorted(versions)


def test_the_oldest_set_has_the_lower_bounds_of_the_project() -> None:
    found = pins("oldest", PYTHONS[0])
    for requirement in asked(lock.OLDEST_EXTRAS):
        (lower,) = (Version(part.version) for part in requirement.specifier if part.operator == ">=")
        # 3.12 may be 3.12.1 where 3.12.0 was never published for this Python.
        assert found[requirement.name].release[: len(lower.release)] == lower.release, requirement


def test_the_supported_pythons_begin_where_the_project_says() -> None:
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    minors = [minor for _, minor in environment.supported()]
    assert minors == list(range(minors[0], minors[-1] + 1))


def test_the_frontend_lock_has_hashes_and_no_addresses() -> None:
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    entries = {name: entry for name, entry in packages.items() if name}
    assert entries
    assert [name for name, entry in entries.items() if "resolved" in entry] == []
    assert [name for name, entry in entries.items() if "integrity" not in entry and not entry.get("inBundle")] == []
