"""What the documents say to type works as it stands."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(block, id=f"{path.relative_to(ROOT)}-{number}")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for number, block in enumerate(BLOCK.findall(path.read_text()))
]


def test_the_readme_has_an_example() -> None:
    assert BLOCK.search((ROOT / "README.md").read_text())


@pytest.mark.parametrize("source", EXAMPLES)
def test_an_example_in_a_document_runs(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "example.py"
    script.write_text(source)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))


def test_every_test_named_in_validation_exists() -> None:
    named = re.findall(r"`(tests/[^`:]+)(?:::[^`]*)?`", (ROOT / "docs" / "validation.md").read_text())
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_make_unit_names_every_folder_of_tests() -> None:
    """The groups in which `make unit` runs the tests leave nothing out."""
    (groups,) = re.findall(r"^UNIT := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = {name for group in groups.split() for name in group.split(",")}
    here = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() or path.name.startswith("test_")}
    assert named == here - {"proof", "reference", "__pycache__"}  # `reference` has numbers, not tests
