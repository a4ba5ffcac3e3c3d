"""Names and kinds of coordinates: what a plot labels and wraps. The dynamics never wraps an angle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holonomy import notation

KINDS = tuple(notation.KINDS)


@dataclass(frozen=True)
class Coordinate:
    """A coordinate's name and kind: ``"angle"`` (radians), ``"length"``, or ``"number"`` where nothing was said."""

    name: str
    kind: str = "number"


def coordinates(given: Sequence[str] | Mapping[str, str]) -> tuple[Coordinate, ...]:
    """Coordinates from names, or from a mapping of names to kinds."""
    if isinstance(given, str):
        given = (given,)
    items: list[tuple[Any, str]]
    items = list(given.items()) if isinstance(given, Mapping) else [(name, "number") for name in given]
    if not items:
        raise ValueError("A system needs at least one coordinate; got coordinates=().")
    for name, kind in items:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"A coordinate's name must be an identifier such as 'theta'; got {name!r}.")
        if kind not in KINDS:
            raise ValueError(f"Coordinate {name!r} is of unknown kind {kind!r}; the kinds are {', '.join(KINDS)}.")
    names = [name for name, _ in items]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"Coordinates must have different names; {', '.join(sorted(twice))} stands twice.")
    return tuple(Coordinate(name, kind) for name, kind in items)
