"""The locks fix every file by its hash and name no place to get it from."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


@pytest.mark.parametrize("name", ["run", "dev"])
def test_requirements_are_pins_with_hashes_and_nothing_else(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    pins = [line for line in lines if PIN.match(line)]
    hashes = [line for line in lines if re.fullmatch(r"\s+--hash=sha256:[0-9a-f]{64}( \\)?", line)]
    assert len(pins) + len(hashes) == len(lines)
    assert all(line.endswith("\\") for line in pins)
    assert "://" not in text


def test_both_requirements_files_pin_the_same_versions() -> None:
    run, dev = (dict(PIN.findall((ROOT / "requirements" / f"{name}.txt").read_text())) for name in ("run", "dev"))
    assert run.items() <= dev.items()


def test_the_frontend_lock_has_hashes_and_no_addresses() -> None:
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    entries = {name: entry for name, entry in packages.items() if name}
    assert entries
    assert [name for name, entry in entries.items() if "resolved" in entry] == []
    assert [name for name, entry in entries.items() if "integrity" not in entry and not entry.get("inBundle")] == []
