"""What a file of a run may hold: the names, axes and types of its arrays, its attributes, and its checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from holonomy.types import Unchecked

FORMAT: Final = 2
"""Number of the present format. Format 1 has neither number nor checksum nor index."""


class Variable(NamedTuple):
    """An array, a name for each of its axes, and what is said about it."""

    dimensions: tuple[str, ...]
    values: np.ndarray
    attributes: dict[str, Unchecked]


class Contents(NamedTuple):
    """What a file holds: data, the coordinates that label it, and attributes of the whole.

    A coordinate with the name of a dimension labels that dimension; any other is an auxiliary coordinate in the sense
    of the CF conventions. Reading does not tell coordinates from data and returns all variables as data.
    """

    data: dict[str, Variable]
    coordinates: dict[str, Variable]
    attributes: dict[str, Unchecked]


class Unreadable(ValueError):
    """A file that is no run, with the reason as a clause without a full stop."""


_ROWS: Final = ("time", "coordinate")
_EVENTS: Final = ("event", "coordinate")
_MEMBERS: Final = ("member",)

DIMENSIONS: Final[dict[str, tuple[str, ...]]] = {
    "time": ("time",),
    "coordinate": ("coordinate",),
    "unit": ("coordinate",),
    "unit_rate": ("coordinate",),
    "q": _ROWS,
    "v": _ROWS,
    "energy": ("time",),
    "momentum": _ROWS,
    "pull": _ROWS,
    "multipliers": ("time", "condition"),
    "violation": ("time", "level"),
    "kinetic": ("time",),
    "x": ("time", "particle", "axis"),
    "event_t": ("event",),
    "event_which": ("event",),
    "event_q": _EVENTS,
    "event_v_before": _EVENTS,
    "event_v_after": _EVENTS,
    "member_code": _MEMBERS,
    "member_time": _MEMBERS,
    "member_steps": _MEMBERS,
    "member_work": _MEMBERS,
    "member_events": _MEMBERS,
    "member_times": ("member", "time"),
    "parameter_values": ("member", "parameter"),
    "saved_time": ("saved",),
    "saved_energy": ("saved",),
    "saved_violation": ("saved", "level"),
    "saved_values": ("saved", "number"),
}
"""The variables of a run and the names of their axes; those of a batch have an axis of members, too."""

_SHARED: Final = ("time", "coordinate", "unit", "unit_rate")
OF_BATCHES: Final = tuple(name for name, axes in DIMENSIONS.items() if axes[0] == "member")
"""The variables that only a batch has."""


def axes(name: str, batch: bool) -> tuple[str, ...]:
    """The names of the axes of a variable, in a file of one run or of a batch."""
    own = DIMENSIONS[name]
    return own if not batch or name in _SHARED or name in OF_BATCHES else ("member", *own)


TEXTS: Final = ("coordinate", "unit", "unit_rate")
"""The variables that hold words."""

INTEGERS: Final = ("event_which", "member_code", "member_steps", "member_work", "member_events")
"""The variables that hold whole numbers; those that are in neither list hold real ones."""

ALWAYS: Final = ("time", "q", "v", "energy", "momentum", "pull")
TOGETHER: Final = (
    tuple(name for name in DIMENSIONS if name.startswith("event_")),
    ("multipliers", "violation"),
    ("member_code", "member_time", "member_steps", "member_work"),
    tuple(name for name in DIMENSIONS if name.startswith("saved_")),
)

TYPES: Final = {"real": ("<f8", "<f4"), "whole": ("<i8", "<i4")}

ABOUT: Final[dict[str, tuple[str, ...]]] = {"x": ("rods", "note")}
"""The attributes of a variable that a run is made from; others only describe it."""

ATTRIBUTES: Final[dict[str, type]] = {
    "format": int,
    "checksum": str,
    "title": str,
    "holonomy": str,
    "versions": str,
    "python": str,
    "machine": str,
    "parameters": str,
    "provenance": str,
    "notes": str,
    "dt": float,
    "result_code": int,
    "result_time": float,
    "result_steps": int,
    "work": int,
    "event_names": str,
    "saved_names": str,
}
"""The attributes of a file and their types."""


def sealed(contents: Contents) -> Contents:
    """The same contents with the number of the format and a checksum of them all."""
    attributes = {**contents.attributes, "format": FORMAT}
    total = checksum(contents.data | contents.coordinates, attributes)
    return contents._replace(attributes=attributes | {"checksum": total})


def checksum(variables: Mapping[str, Variable], attributes: Mapping[str, Unchecked]) -> str:
    """The SHA-256 of the variables and attributes that a run is made from, in an order of its own.

    It finds accidents, not intent: whoever writes a file can write its checksum.
    """
    digest = hashlib.sha256()

    def put(part: bytes) -> None:
        digest.update(f"{len(part)}:".encode())
        digest.update(part)

    for name in sorted(variables.keys() & DIMENSIONS.keys()):
        _, values, about = variables[name]
        said = {key: about[key] for key in ABOUT.get(name, ()) if key in about}
        if name in TEXTS:
            kind, data = "text", json.dumps(values.tolist()).encode()
        else:
            little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
            kind, data = little.dtype.str, little.tobytes()
        for part in (name, kind, repr(tuple(values.shape)), json.dumps(said, sort_keys=True)):
            put(part.encode())
        put(data)
    known = {name: attributes[name] for name in ATTRIBUTES if name in attributes and name != "checksum"}
    put(json.dumps(known, sort_keys=True).encode())
    return digest.hexdigest()


def check(contents: Contents) -> None:
    """Raise `Unreadable` unless these are the variables and attributes of one run, unchanged since they were saved."""
    data, _, attributes = contents
    number = attributes.get("format", 1)
    if number > FORMAT or number < 1:
        raise Unreadable(f"it has format {number}, and this version reads formats 1 to {FORMAT}; update holonomy")
    _check_names(data)
    _check_sizes(data)
    if number > 1 and attributes.get("checksum") != checksum(data, attributes):
        raise Unreadable(
            "its contents do not match its checksum, so it was damaged or changed after it was saved; if you changed "
            "it, delete its attributes format and checksum"
        )


def _check_names(data: Mapping[str, Variable]) -> None:
    missing = [name for name in ALWAYS if name not in data]
    missing += [name for group in TOGETHER if any(n in data for n in group) for name in group if name not in data]
    if missing:
        raise Unreadable(f"it has no {', '.join(missing)}")


def _check_sizes(data: Mapping[str, Variable]) -> None:
    sizes: dict[str, tuple[int, str]] = {"level": (2, "two levels of constraints")}
    for name, variable in data.items():
        if len(variable.dimensions) != variable.values.ndim:
            raise Unreadable(f"{name} has {variable.values.ndim} axes, but must have {len(variable.dimensions)}")
        for axis, size in zip(variable.dimensions, variable.values.shape):
            known, whose = sizes.setdefault(axis, (size, name))
            if size != known:
                raise Unreadable(f"{name} has size {size} along {axis}, but {whose} has {known}")
