"""The citation file agrees with the package."""

import re
import tomllib
from pathlib import Path

import holonomy as hl

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_names_this_version_and_licence() -> None:
    text = (ROOT / "CITATION.cff").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.search(r"^version: (.+)$", text, re.MULTILINE)[1] == hl.__version__  # pyright: ignore[reportOptionalSubscript]
    assert f"\nlicense: {project['license']}\n" in text
    assert re.findall(r"^  - (.+)$", text.partition("keywords:")[2], re.MULTILINE) == project["keywords"]
