"""What the documents name exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_test_named_in_validation_exists() -> None:
    named = re.findall(r"`(tests/[^`:]+)(?:::[^`]*)?`", (ROOT / "docs" / "validation.md").read_text())
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
