"""Packages have one direction: each imports only from those above it (MAP.md), inside functions too.

Within a package modules may import each other in any order that has no cycle.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "holonomy"
ROOMS = [
    "trace",
    "geometry",
    "spaces",
    "systems",
    "motion",
    "symmetry",
    "locomotion",
    "study",
    "models",
    "viewer",
    "show",
    "scene",
    "studio",
    "testing",
]
# Conveniences on public objects that may import downwards, when they are called: at most six.
CONVENIENCES = {
    ("holonomy.motion.run.run", "holonomy.show.plot"),  # run.plot
    ("holonomy.motion.run.run", "holonomy.show.animate"),  # run.animate
    ("holonomy.motion.run.run", "holonomy.show.notebook"),  # run.view
    ("holonomy.study.section", "holonomy.show.plot"),  # section.plot
    ("holonomy.systems.system", "holonomy.show.notebook"),  # system.studio
    ("holonomy.models.linkages.linkage", "holonomy.show.linkage"),  # Linkage.animate
}
PRIVATE = ("jax._src", "equinox.internal", "jax.experimental.sparse")


def module_name(path: Path) -> str:
    """The dotted name of a file's module."""
    parts = ["holonomy", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(name: str) -> set[str]:
    """Every module that a file imports anywhere in it, relative imports and those in functions included.

    Not those under TYPE_CHECKING, which no program carries out.
    """
    tree = ast.parse(MODULES[name].read_text())
    typing_only = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for part in ast.walk(statement)
    }
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            inner = [f"{base}.{alias.name}" for alias in node.names]
            found.update(one if one in MODULES else base for one in inner)
    return found


def room(name: str) -> str:
    """The package of holonomy that a module belongs to; "" for the modules beside them."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else ""


def test_every_package_has_its_place_in_the_order() -> None:
    folders = {path.relative_to(PACKAGE).parts[0] for path in MODULES.values() if path.parent != PACKAGE}
    assert folders <= set(ROOMS)


def test_a_package_imports_only_from_packages_above_it() -> None:
    downward = {
        (name, other)
        for name in MODULES
        if room(name)
        for other in imports(name)
        if room(other) and ROOMS.index(room(other)) > ROOMS.index(room(name))
    }
    assert downward == CONVENIENCES
    assert len(CONVENIENCES) <= 6


def test_relative_and_nested_imports_are_seen() -> None:
    """The test above sees what it must: an import in a function, and a relative one."""
    assert "holonomy.show.plot" in imports("holonomy.motion.run.run")
    assert "holonomy.trace.symbolic.polynomial" in imports("holonomy.trace.symbolic.lagrange")


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, the first again at the end; empty where there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))  # it lists what is imported before what imports it
    return []


def test_no_cycle_of_modules() -> None:
    graph = {
        name: {other for other in imports(name) if other in MODULES and (name, other) not in CONVENIENCES}
        for name in MODULES
    }
    assert cycle(graph) == [], "these modules import each other, each the next one"


def test_a_cycle_is_named() -> None:
    found = cycle({"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": set()})
    assert found[0] == found[-1]
    steps = set(pairwise(found))
    assert steps == {("a", "b"), ("b", "c"), ("c", "a")}


def test_tests_mirror_the_packages() -> None:
    """A folder of tests has the name of the package that it tests; besides, those of the project and of long runs."""
    tests = Path(__file__).resolve().parents[1]
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    folders -= {Path(), Path("project"), Path("proof")}
    assert sorted(str(folder) for folder in folders if not (PACKAGE / folder).is_dir()) == []


def test_no_private_or_abandoned_modules_of_other_packages() -> None:
    wrong = [f"{name} imports {other}" for name in MODULES for other in imports(name) if other.startswith(PRIVATE)]
    assert wrong == []
