"""Names and kinds of coordinates: what a plot labels and wraps. The dynamics never wraps an angle."""

from __future__ import annotations

from collections import Counter
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


class Coordinates(tuple[Coordinate, ...]):
    """Coordinates in a row. They are part of the key of compiled code, so their hash is computed once."""

    def __hash__(self) -> int:
        found = self.__dict__.get("_hash")
        if found is None:
            found = self.__dict__["_hash"] = super().__hash__()
        return found

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)

    def __reduce__(self) -> tuple[type[Coordinates], tuple[tuple[Coordinate, ...]]]:
        return Coordinates, (tuple(self),)  # without the hash, which is another one in another process


def coordinates(given: Sequence[str] | Mapping[str, str]) -> Coordinates:
    """Coordinates from names, or from a mapping of names to kinds."""
    if isinstance(given, str):
        given = (given,)
    if not isinstance(given, Mapping | Sequence):
        raise ValueError(
            "coordinates are names in a row, such as ('theta', 'phi'), or a mapping to their kinds, such as "
            f"{{'theta': 'angle'}}; got {given!r}."
        )
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
    twice = {name for name, count in Counter(names).items() if count > 1}
    if twice:
        raise ValueError(f"Coordinates must have different names; {', '.join(sorted(twice))} stands twice.")
    return Coordinates(Coordinate(name, kind) for name, kind in items)
