"""What the documents say to type works as it stands. `make compat` runs this, on two Pythons; `make test` does not."""

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
