"""Reading runs that `run.save` wrote.

A file may come from anyone. What it holds is data and nothing else: known arrays of known types, whose sizes are
checked before they are read, and every failure is one sentence.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Final

import numpy as np

from holonomy.motion.events import event_log
from holonomy.motion.events.event_log import Events
from holonomy.motion.loops.plain import Snapshot
from holonomy.motion.run import foreign, index, judgement, layout, provenance
from holonomy.motion.run.build import build
from holonomy.motion.run.layout import Contents, Unreadable, Variable
from holonomy.motion.run.positions import ORIGIN, Drawn, rods
from holonomy.motion.run.provenance import Provenance
from holonomy.motion.run.result import Result
from holonomy.motion.run.run import Run
from holonomy.motion.run.saved import Saved
from holonomy.motion.run.storage import EVENT_COLUMNS
from holonomy.systems.parameters import Parameters
from holonomy.systems.result_code import Code
from holonomy.types import Unchecked

_ENDING: Final = ("code", "time", "steps")
_ALWAYS: Final = (*(f"result_{name}" for name in _ENDING), "work", "dt")


def attributes(path: str | Path) -> dict[str, Unchecked]:
    """Where the run in a file came from: what `provenance` said of it when it was saved."""
    return _read(Path(path)).attributes


def load(path: str | Path) -> Run:
    """A run saved by `run.save`. It has its data, result and certificate, and no system to step on with.

    Raises `ValueError`, with the reason, for a file that is not a run or was damaged.
    """
    source = Path(path)
    held = _read(source)
    try:
        return _run(held)
    except Unreadable as error:
        raise _refused(source, error) from None


def _read(source: Path) -> Contents:
    if not source.is_file():
        raise ValueError(f"There is no file {source}.")
    try:
        with source.open("rb") as file:
            held = index.read(file) if index.has_index(file) else foreign.read(file)
        layout.check(held)
    except (Unreadable, OSError) as error:
        raise _refused(source, error) from None
    except MemoryError:
        raise ValueError(f"{source} is too large for the memory of this machine.") from None
    return held


def _refused(source: Path, error: Exception) -> ValueError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return ValueError(f"{source} is not a run saved by holonomy: {reason}.")


def _run(held: Contents) -> Run:
    data, _, said = held
    missing = [name for name in _ALWAYS if name not in said]
    if missing or not ("provenance" in said or "notes" in said):
        raise Unreadable(f"it has no attribute {missing[0] if missing else 'provenance'}")
    if said["result_code"] not in list(Code):
        raise Unreadable(f"there is no result code {said['result_code']}")
    made = _provenance(said)
    _check_coordinates(made, data["q"].values.shape[-1])
    batch = "member_code" in data
    result, work = _results(data) if batch else (Result(*(said[f"result_{k}"] for k in _ENDING)), said["work"])
    return build(
        _times(data),
        Snapshot(**_arrays(data)),
        result,
        work,
        made,
        parameters=_parameters(data, said),
        happened=_events(data, said),
        drawn=_picture(data),
        kinetic=data["kinetic"].values if "kinetic" in data else None,
        saved=_saved(data, said),
    )


def _saved(data: dict[str, Variable], said: dict[str, Any]) -> Saved | None:
    """What the run kept in place of whole states."""
    if "saved_time" not in data:
        return None
    named = _json("saved_names", said.get("saved_names", "{}"), dict)
    if not all(isinstance(s, list) and all(type(n) is int and n >= 0 for n in s) for s in named.values()):
        raise Unreadable("the shapes of its saved values are not whole numbers")
    t, energy, violation, rows = (data[f"saved_{name}"].values for name in ("time", "energy", "violation", "values"))
    ends = np.cumsum([math.prod(shape) for shape in named.values()])
    if rows.shape[1] != (ends[-1] if named else 0):
        raise Unreadable(f"it has {rows.shape[1]} saved values for each time, but names others")
    parts = np.split(rows, ends[:-1], axis=1) if named else []
    values = {name: part.reshape(len(t), *named[name]) for name, part in zip(named, parts, strict=True)}
    return Saved(t, values, energy, violation)


def _results(data: dict[str, Variable]) -> tuple[Result, np.ndarray]:
    """How each member of a batch ended, and its iterations."""
    codes = data["member_code"].values
    unknown = set(codes.tolist()) - set(map(int, Code))
    if unknown:
        raise Unreadable(f"there is no result code {min(unknown)}")
    differentiable = np.ones(len(codes), bool)
    reached = data["member_time"].values, data["member_steps"].values
    return Result(codes, *reached, differentiable), data["member_work"].values


def _times(data: dict[str, Variable]) -> np.ndarray:
    if "member_code" not in data:
        return data["time"].values
    if "member_times" in data:
        return data["member_times"].values
    return np.broadcast_to(data["time"].values, data["energy"].values.shape)


def _parameters(data: dict[str, Variable], said: dict[str, Any]) -> Parameters | None:
    """The parameters by name; those of a batch have an axis of members."""
    held = _json("parameters", said.get("parameters", "{}"), dict)
    try:
        first = {name: np.asarray(value, float) for name, value in sorted(held.items())}
    except (ValueError, TypeError):
        raise Unreadable("its parameters are not numbers") from None
    if "member_code" not in data:
        return Parameters(first)
    values = data["parameter_values"].values if "parameter_values" in data else np.zeros((len(data["q"].values), 0))
    ends = np.cumsum([x.size for x in first.values()])
    if values.shape[1] != (ends[-1] if first else 0):
        raise Unreadable(f"it has {values.shape[1]} numbers of parameters for each member, but names others")
    parts = np.split(values, ends[:-1], axis=1) if first else []
    return Parameters({k: x.reshape(len(values), *first[k].shape) for k, x in zip(first, parts, strict=True)})


def _json(name: str, text: Any, kind: type) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable(f"its attribute {name} is not JSON") from None
    if not isinstance(found, kind):
        raise Unreadable(f"its attribute {name} is not a {kind.__name__}")
    return found


def _provenance(said: dict[str, Any]) -> Provenance:
    try:
        if "provenance" in said:
            made = provenance.from_fields(_json("provenance", said["provenance"], dict))
            judgement.from_json(made.judgement)
            return made
        notes = _json("notes", said["notes"], dict)
        if not all(isinstance(value, str) for value in notes.values()):
            raise Unreadable("its notes are not words")
        return provenance.from_notes(notes, said["dt"])
    except Unreadable:
        raise
    except ValueError as error:
        raise Unreadable(str(error)) from None


def _check_coordinates(made: Provenance, count: int) -> None:
    if len(made.coordinates) not in (0, count) or len(made.kinds) not in (0, count):
        raise Unreadable(f"it names {len(made.coordinates)} coordinates of {len(made.kinds)} kinds, but has {count}")
    if not 0 <= made.carried < max(count, 1):
        raise Unreadable(f"of its {count} coordinates {made.carried} are said to carry the others")
    if made.frames < 1 or made.carried % made.frames:
        raise Unreadable(f"{made.carried} coordinates are said to be those of {made.frames} isometries")
    unknown = set(made.kinds) - {"angle", "length", "number"}
    if unknown:
        raise Unreadable(f"there is no kind of coordinate {min(unknown)[:40]!r}")


def _events(data: dict[str, Variable], said: dict[str, Any]) -> Events | None:
    called = tuple(_json("event_names", said.get("event_names", "[]"), list))
    if not all(isinstance(name, str) for name in called):
        raise Unreadable("its names of events are not words")
    if "event_t" not in data:
        return event_log.none(data["q"].values.shape[1], called) if called and "member_code" not in data else None
    t, which, q, before, after = (data[f"event_{name}"].values for name in EVENT_COLUMNS)
    count = data["member_events"].values if "member_events" in data else len(t)
    if np.any((np.asarray(count) < 0) | (np.asarray(count) > which.shape[-1])):
        raise Unreadable(f"a member has a number of events outside 0 to {which.shape[-1]}")
    empty = np.arange(which.shape[-1]) >= np.expand_dims(count, -1)  # rows of a batch that a member did not need
    if np.any(((which < 0) | (which >= len(called))) & ~empty):
        raise Unreadable(f"an event has a number outside 0 to {len(called) - 1}")
    return Events(t, which, q, before, after, count, called)


def _picture(data: dict[str, Variable]) -> Drawn | None:
    if "x" not in data or "member_code" in data:
        return None
    _, x, about = data["x"]
    if "rods" not in about:  # a file of an earlier version
        return Drawn(x, rods(x, None, data["time"].values, data["q"].values), "")
    pairs = _json("rods", about["rods"], list)
    ends = range(ORIGIN, x.shape[1])
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and all(type(k) is int and k in ends for k in pair)):
            raise Unreadable(f"a rod is not a pair of particles from {ORIGIN} to {x.shape[1] - 1}")
    return Drawn(x, tuple((i, j) for i, j in pairs), about.get("note", ""))


def _arrays(data: dict[str, Variable]) -> dict[str, Any]:
    rows = data["energy"].values.shape
    empty = {"multipliers": np.zeros((*rows, 0)), "violation": np.zeros((*rows, 2))}
    held = {name: data[name].values if name in data else none for name, none in empty.items()}
    return held | {name: data[name].values for name in ("q", "v", "energy", "momentum", "pull")}
