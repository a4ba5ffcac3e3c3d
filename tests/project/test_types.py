"""Public signatures say what they take and give: no bare `Any`, and no parameter without a type.

Counted are parameters and results of public functions and methods, and fields of public classes. The options that a
function hands on to another have the types that are written there.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "holonomy"
CLEAN = ("geometry", "spaces", "systems", "motion", "locomotion", "study", "models")
HANDED_ON = {
    ("motion/run/run.py", "Run.plot", "options"),
    ("motion/run/run.py", "Run.animate", "options"),
    ("motion/run/run.py", "Run.view", "options"),
    ("motion/run/build.py", "of_problem", "known"),  # fields of a Provenance
    ("motion/run/build.py", "of_driven", "known"),
    ("motion/run/provenance.py", "of", "known"),
    ("systems/system.py", "System.studio", "options"),
}


def is_any(annotation: ast.expr | None) -> bool:
    """Whether a type has a bare `Any` in it."""
    return annotation is not None and any(isinstance(n, ast.Name) and n.id == "Any" for n in ast.walk(annotation))


def untyped(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, str]]:
    """(name of the function or class, name of the parameter) for everything public without a type of its own."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from untyped(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if not node.target.id.startswith("_") and is_any(node.annotation) and not is_alias(node):
                yield prefix.rstrip("."), node.target.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_") and not node.name.startswith("__"):
                continue
            given = node.args
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            for one in (one for one in every if one is not None and one.arg not in ("self", "cls")):
                if one.annotation is None or is_any(one.annotation):
                    yield prefix + node.name, one.arg
            if is_any(node.returns):
                yield prefix + node.name, "return"


def is_alias(node: ast.AnnAssign) -> bool:
    return ast.unparse(node.annotation) == "TypeAlias"


def found() -> dict[str, list[tuple[str, str]]]:
    """What is untyped, by file."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for room in CLEAN:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            name = path.relative_to(PACKAGE).as_posix()
            here = [one for one in untyped(ast.parse(path.read_text()).body) if (name, *one) not in HANDED_ON]
            if here:
                rows[name] = here
    return rows


def test_no_bare_any_in_public_signatures() -> None:
    assert found() == {}, "give these a type of holonomy.types, or one of their own"


def test_a_bare_any_is_seen() -> None:
    text = "class A:\n    x: Any\n    def f(self, y, *z: list[Any]) -> Any: ...\n    def _g(self, y: Any): ...\n"
    seen = list(untyped(ast.parse(text).body))
    assert seen == [("A", "x"), ("A.f", "y"), ("A.f", "z"), ("A.f", "return")]
