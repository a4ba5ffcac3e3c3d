"""Files and functions stay short enough to be read: at most 400 lines a file, 200 a method of motion, 60 a function."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "holonomy"
FILES = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def limit(name: str) -> int:
    """How many lines a file may have: a method should fit on two screens, an explicit one is a tableau."""
    if name == "motion/methods/explicit.py":
        return 40
    return 200 if name.startswith("motion/methods/") else 400


def long_functions(text: str, most: int = 60) -> list[str]:
    """The functions of more lines, docstrings included and decorators not, with their lengths."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, functions)]
    lengths = [(node.name, (node.end_lineno or 0) - node.lineno + 1) for node in found]
    return [f"{name} ({lines} lines)" for name, lines in lengths if lines > most]


def test_no_file_is_too_long() -> None:
    lengths = {name: len(text.splitlines()) for name, text in FILES.items()}
    long = [
        f"{name} has {lines} lines, at most {limit(name)}" for name, lines in lengths.items() if lines > limit(name)
    ]
    assert long == []


def test_no_function_is_too_long() -> None:
    long = [f"{name}: {one}" for name, text in FILES.items() for one in long_functions(text)]
    assert long == []


def test_a_long_function_is_seen() -> None:
    inner = "\n".join(["class A:", "    def f(self):", *["        x = 1"] * 60])
    assert long_functions(inner) == ["f (61 lines)"]
    assert long_functions(inner.removesuffix("\n        x = 1")) == []
