"""Names and kinds of coordinates: what a plot labels and wraps. The dynamics never wraps an angle."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from holonomy import notation

KINDS = tuple(notation.KINDS)

# What a user passes: names, or names with kinds, numbers of entries or shapes.
CoordinatesLike: TypeAlias = Sequence[str] | Mapping[str, str | int | tuple[int, ...]]


class Block(NamedTuple):
    """An array of coordinates: its name and shape, () for a coordinate of its own."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many coordinates it has."""
        return int(np.prod(self.shape, dtype=int))


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A coordinate's name and kind: ``"angle"`` (radians), ``"length"``, or ``"number"`` where nothing was said."""

    name: str
    kind: str = "number"
    block: Block | None = None  # the array that it is an entry of


class Coordinates(tuple[Coordinate, ...]):
    """Coordinates in a row. They are part of the key of compiled code, so their hash is computed once."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The arrays that the coordinates form, in order; empty where none was given with a shape."""
        found = self.__dict__.get("_blocks")
        if found is None:
            found = self.__dict__["_blocks"] = tuple(_blocks(self))
        return found

    @property
    def digest(self) -> str:
        """A digest of names, kinds and arrays, the same in every process."""
        found = self.__dict__.get("_digest")
        if found is None:
            text = hashlib.sha256()
            for block, part in groupby(self, key=lambda one: one.block):
                text.update(f"{block} ".encode())
                for one in part:
                    text.update(f"{one.name} {one.kind} ".encode())
            found = self.__dict__["_digest"] = text.hexdigest()
        return found

    def __hash__(self) -> int:
        found = self.__dict__.get("_hash")
        if found is None:
            found = self.__dict__["_hash"] = super().__hash__()
        return found

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)

    def __reduce__(self) -> tuple[type[Coordinates], tuple[tuple[Coordinate, ...]]]:
        return Coordinates, (tuple(self),)  # without the hash, which is another one in another process


def blocks_of(given: Sequence[Coordinate]) -> tuple[Block, ...]:
    """The arrays that coordinates form; empty where none was given with a shape."""
    return given.blocks if isinstance(given, Coordinates) else ()


def _blocks(given: Sequence[Coordinate]) -> Iterator[Block]:
    if all(one.block is None for one in given):
        return
    at = 0
    while at < len(given):
        block = given[at].block or Block(given[at].name, ())
        yield block
        at += block.size


def coordinates(given: CoordinatesLike) -> Coordinates:
    """Coordinates from names, or from a mapping of names to kinds or to shapes."""
    if isinstance(given, str):
        given = (given,)
    if not isinstance(given, Mapping | Sequence):
        raise ValueError(
            "coordinates are names in a row, such as ('theta', 'phi'), or a mapping to their kinds or shapes, such as "
            f"{{'theta': 'angle', 'x': (50, 50)}}; got {given!r}."
        )
    items: list[tuple[Any, Any]]
    items = list(given.items()) if isinstance(given, Mapping) else [(name, "number") for name in given]
    if not items:
        raise ValueError("A system needs at least one coordinate; got coordinates=().")
    for name, kind in items:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"A coordinate's name must be an identifier such as 'theta'; got {name!r}.")
        if isinstance(kind, int | tuple | list):
            _refuse_shape(name, kind)
        elif kind not in KINDS:
            raise ValueError(f"Coordinate {name!r} is of unknown kind {kind!r}; the kinds are {', '.join(KINDS)}.")
    names = [name for name, _ in items]
    twice = {name for name, count in Counter(names).items() if count > 1}
    if twice:
        raise ValueError(f"Coordinates must have different names; {', '.join(sorted(twice))} stands twice.")
    return Coordinates(one for name, kind in items for one in _of_item(name, kind))


def _of_item(name: str, kind: str | int | tuple[int, ...]) -> Iterator[Coordinate]:
    """One coordinate, or the entries of an array of them, named by their places: x_0_0, x_0_1 and so on."""
    if isinstance(kind, str):
        yield Coordinate(name, kind)
        return
    block = Block(name, (kind,) if isinstance(kind, int) else tuple(kind))
    for place in np.ndindex(*block.shape):
        yield Coordinate("_".join([name, *map(str, place)]), "number", block)


def _refuse_shape(name: str, shape: Any) -> None:
    sizes = (shape,) if isinstance(shape, int) else shape
    if not sizes or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in sizes):
        raise ValueError(
            f"The shape of coordinates {name!r} is a whole number or whole numbers from 1, such as 100 or (50, 50, 2); "
            f"got {shape!r}."
        )
