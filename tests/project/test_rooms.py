"""The house has one direction: a room imports only from rooms above it (MAP.md)."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "holonomy"
ROOMS = [
    "geometry",
    "spaces",
    "trace",
    "systems",
    "motion",
    "symmetry",
    "locomotion",
    "study",
    "models",
    "show",
    "scene",
    "studio",
    "testing",
]
PRIVATE = ("jax._src", "equinox.internal", "jax.experimental.sparse")


def imports(tree: ast.Module) -> set[str]:
    """Modules that a file imports when it is itself imported: none inside functions or under TYPE_CHECKING."""
    found: set[str] = set()
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update([node.module, *(f"{node.module}.{name.name}" for name in node.names)])
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting.extend(node.orelse)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            waiting.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))
    return found


def all_imports(tree: ast.Module) -> set[str]:
    """Modules that a file names in any import."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return names | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


def sources() -> list[tuple[str, Path, ast.Module]]:
    """Every Python file in a room, with the room's name and its syntax tree."""
    return [
        (path.relative_to(PACKAGE).parts[0], path, ast.parse(path.read_text()))
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.parent != PACKAGE
    ]


def test_every_room_has_its_place_in_the_order() -> None:
    assert {room for room, _, _ in sources()} <= set(ROOMS)


def test_a_room_imports_only_from_rooms_above_it() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for room, path, tree in sources()
        for module in sorted(imports(tree))
        for other in ROOMS[ROOMS.index(room) + 1 :]
        if module == f"holonomy.{other}" or module.startswith(f"holonomy.{other}.")
    ]
    assert wrong == []


def test_no_private_or_abandoned_modules_of_other_packages() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for _, path, tree in sources()
        for module in sorted(all_imports(tree))
        if module.startswith(PRIVATE)
    ]
    assert wrong == []
