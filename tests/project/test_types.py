"""Public signatures say what they take and give: no bare `Any`, and no parameter without a type.

Counted are parameters and results of public functions and methods, and fields of public classes. The options that a
convenience hands on to a function of `show` have the types that are written there.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "holonomy"
CLEAN = ("geometry", "spaces", "systems", "motion", "study", "models")
HANDED_ON = {
    ("motion/run/run.py", "Run.plot", "options"),
    ("motion/run/run.py", "Run.animate", "options"),
    ("motion/run/run.py", "Run.view", "options"),
    ("systems/system.py", "System.studio", "options"),
}
# How many are left in files whose types are still to be written. A number here may only become smaller.
LEFT = {
    "motion/events/event.py": 7,
    "motion/events/event_log.py": 20,
    "motion/events/locate.py": 46,
    "motion/events/taylor_events.py": 7,
    "motion/events/turn.py": 11,
    "motion/events/wall_selection.py": 5,
    "motion/events/zero_crossing.py": 6,
    "motion/loops/driver.py": 5,
    "motion/loops/plain.py": 40,
    "motion/loops/with_events.py": 19,
    "motion/loops/with_events_traced.py": 16,
    "motion/methods/moving_chart.py": 25,
    "motion/methods/rank_guard.py": 31,
    "motion/methods/through_singular.py": 11,
    "motion/run/build.py": 2,
    "motion/run/foreign.py": 1,
    "motion/run/hdf5_reader.py": 1,
    "motion/run/layout.py": 3,
    "motion/run/load.py": 1,
    "motion/run/provenance.py": 2,
    "motion/run/storage.py": 1,
    "systems/constraints/add.py": 26,
    "systems/constraints/massless.py": 3,
    "systems/constraints/project.py": 26,
    "systems/contact/contact.py": 30,
    "systems/contact/contact_friction.py": 25,
    "systems/contact/many_walls.py": 3,
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


def test_no_new_bare_any_in_public_signatures() -> None:
    rows = found()
    more = {name: here for name, here in rows.items() if len(here) > LEFT.get(name, 0)}
    assert more == {}, "give these a type of holonomy.types, or one of their own"
    fewer = {name: len(rows.get(name, ())) for name, most in LEFT.items() if len(rows.get(name, ())) < most}
    assert fewer == {}, "these have become fewer: lower their numbers in LEFT"


def test_a_bare_any_is_seen() -> None:
    text = "class A:\n    x: Any\n    def f(self, y, *z: list[Any]) -> Any: ...\n    def _g(self, y: Any): ...\n"
    seen = list(untyped(ast.parse(text).body))
    assert seen == [("A", "x"), ("A.f", "y"), ("A.f", "z"), ("A.f", "return")]
