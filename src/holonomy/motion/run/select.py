"""Parts of a run: a variable by its name, states by index or by time, members of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.motion.events.event_log import Events
from holonomy.motion.run.judgement import of_members
from holonomy.motion.run.positions import drawn
from holonomy.spaces import AbstractSpace, Carried
from holonomy.systems import World, shaped
from holonomy.systems.coordinates import blocks_of
from holonomy.types import AnyArray, Decimal

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

_ROWS = ("t", "q", "v", "energy", "momentum", "pull", "multipliers", "violation", "kinetic")
_FIELDS = ("t", "energy", "kinetic")
_AXES = "xyz"
_NAMED = 24  # variables that a message names


class RunState(NamedTuple):
    """One saved state of a run: time, position, velocity, energy."""

    t: Decimal
    q: AnyArray
    v: AnyArray
    energy: Decimal


def variables(run: Run) -> dict[str, Callable[[], AnyArray]]:
    """Each name that `run[name]` knows, with what computes it.

    Coordinates have their names; their velocities end in ``_dot``, and those of ``theta...`` are ``omega...`` too;
    with constraints there are their largest violations ``constraint_error`` and ``velocity_error`` and the multipliers
    ``lambda1`` and so on; ``x1``, ``y1`` and so on are the positions of the particles, ``x``, ``y`` and ``z`` those of
    a single one. A name belongs to the first of these kinds that has it.
    """

    def column(rows: AnyArray, i: int) -> Callable[[], AnyArray]:
        return lambda: rows[..., i]

    found: dict[str, Callable[[], AnyArray]] = {}
    for name, part in _arrays(run):
        found.setdefault(name, lambda part=part: part(run.q))
        found.setdefault(f"{name}_dot", lambda part=part: part(run.v))
    for i, name in enumerate(run.names):
        found.setdefault(name, column(run.q, i))
    for i, name in enumerate(run.names):
        found.setdefault(f"{name}_dot", column(run.v, i))
    for i, name in enumerate(run.names):
        if name.startswith("theta"):
            found.setdefault("omega" + name.removeprefix("theta"), column(run.v, i))
    for name in _FIELDS:
        if getattr(run, name) is not None:
            found.setdefault(name, lambda name=name: getattr(run, name))
    if count := np.shape(run.multipliers)[-1]:
        found.setdefault("constraint_error", column(run.violation, 0))
        found.setdefault("velocity_error", column(run.violation, 1))
        for i in range(count):
            found.setdefault(f"lambda{i + 1}", column(run.multipliers, i))
    for name, place in _particles(run):
        found.setdefault(name, place)
    return found


def _arrays(run: Run) -> list[tuple[str, Callable[[AnyArray], AnyArray]]]:
    """The arrays that the coordinates were given as, each with what takes it out of rows."""
    blocks = () if run.system is None else blocks_of(run.system.coordinates)

    def part(name: str) -> Callable[[AnyArray], AnyArray]:
        return lambda rows: (
            shaped.unpacked(blocks, rows) if len(blocks) == 1 else getattr(shaped.unpacked(blocks, rows), name)
        )

    return [(block.name, part(block.name)) for block in blocks if block.shape]


def _particles(run: Run) -> list[tuple[str, Callable[[], AnyArray]]]:
    if not np.size(run.t) or isinstance(run.q, Tracer):
        return []
    shape = _picture_shape(run)
    if shape is None:
        return []
    count, d = shape

    def component(k: int, axis: int) -> Callable[[], AnyArray]:
        return lambda: positions(run)[..., k, axis]

    named = [(f"{_AXES[axis]}{k + 1}", component(k, axis)) for k in range(count) for axis in range(min(d, 3))]
    alone = [(_AXES[axis], component(0, axis)) for axis in range(min(d, 3))] if count == 1 else []
    return alone + named


def _picture_shape(run: Run) -> tuple[int, int] | None:
    """How many particles have places, and in how many dimensions; looked up in one state."""
    if run.drawn is not None:
        _, count, d = np.shape(run.drawn.x)
        return count, d
    if run.system is None or run.system.positions is None:
        return None
    if np.ndim(run.t) > 1:
        return _picture_shape(_members(run, 0))
    _, count, d = np.shape(run.system.places(run.t[:1], run.q[:1]))
    return count, d


def positions(run: Run) -> AnyArray:
    """The places of the particles, (times, particles, d); those of a batch have an axis of members first."""
    if np.ndim(run.t) > 1:
        return np.stack([positions(one) for one in members(run)])
    if run.system is not None and run.system.positions is not None:
        return run.system.places(run.t, run.q)
    picture = drawn(run)
    if picture is None:
        raise ValueError(
            "The system has no positions of particles; give them as positions= when the system is made, or take run.q."
        )
    return picture.x


def distance(run: Run, i: int, j: int) -> AnyArray:
    """The distance of two vertices of a world at the saved times."""
    if not isinstance(run.system, World):
        raise ValueError("run.distance(i, j) belongs to runs of a hl.World; this one has no vertices.")
    for one in (i, j):
        if not isinstance(one, int | np.integer) or not 0 <= one < run.system.count:
            raise ValueError(f"Vertices are numbered from 0 to {run.system.count - 1}; got {one!r}.")
    if isinstance(run.system.space, Carried):
        return np.asarray(_between_frames(run.system.space, run.q, np.array([[i, j]])))
    x = run.system.points(jnp.asarray(run.q))
    return np.asarray(_apart(run.system.point_space, x[..., i, :], x[..., j, :]))


@eqx.filter_jit
def _between_frames(space: Carried, q: AnyArray, pair: AnyArray) -> AnyArray:
    return jnp.vectorize(lambda row: space.apart(row, pair)[0], signature="(n)->()")(q)


@eqx.filter_jit
def _apart(space: AbstractSpace, x: AnyArray, y: AnyArray) -> AnyArray:
    return jnp.vectorize(space.distance, signature="(n),(n)->()")(x, y)


def by_name(run: Run, name: str) -> AnyArray:
    """A variable of the run. Raises `KeyError` with the names there are."""
    known = variables(run)
    if name not in known:
        raise KeyError(f"The run has no variable {name!r}; it has: {_said(run, list(known))}.")
    return known[name]()


def _said(run: Run, names: list[str]) -> str:
    """Names for a message: arrays in place of their entries, and of many the first and the last."""
    blocks = () if run.system is None else blocks_of(run.system.coordinates)
    inner = tuple(f"{block.name}_" for block in blocks if block.shape)
    if inner:
        whole = {f"{block.name}_dot" for block in blocks}
        names = [name for name in names if name in whole or not name.startswith(inner)]
    if len(names) > _NAMED:
        names = [*names[: _NAMED // 2], "...", *names[-_NAMED // 2 :]]
    return ", ".join(names)


# What `run[key]` takes; anything else is refused with a sentence.
Key: TypeAlias = str | int | np.integer | slice | list[int] | np.ndarray


def by_key(run: Run, key: Key) -> AnyArray | RunState | Run:
    """What `run[key]` gives: a variable by its name, members of a batch, or states by index or by time."""
    if isinstance(key, str):
        return by_name(run, key)
    if np.ndim(run.t) > 1:
        return _members(run, key)
    if isinstance(key, slice) and any(isinstance(x, float | np.floating) for x in (key.start, key.stop)):
        return _rows(run, _between(run, key))
    if isinstance(key, int | np.integer):
        at = _index(int(key), len(run.t), "states")
        return RunState(run.t[at], run.q[at], run.v[at], run.energy[at])
    if isinstance(key, slice | list | np.ndarray):
        return _rows(run, key)
    raise TypeError(
        f"run[...] takes the name of a variable, an index, a slice of indices, or a slice of times such as "
        f"run[1.0:2.0]; got {key!r}."
    )


def _index(key: int, count: int, what: str) -> int:
    if not -count <= key < count:
        raise IndexError(f"There are {count} {what}, so an index is from {-count} to {count - 1}; got {key}.")
    return key


def _between(run: Run, key: slice) -> np.ndarray:
    """The rows with times from start to stop, both included, in the direction of the run."""
    if key.step is not None:
        raise ValueError("A slice of times has no step; run(times) gives states at times of your own.")
    t = np.asarray(run.t)
    sign = -1.0 if len(t) > 1 and t[-1] < t[0] else 1.0
    first = -np.inf if key.start is None else sign * float(key.start)
    last = np.inf if key.stop is None else sign * float(key.stop)
    return np.flatnonzero((sign * t >= first) & (sign * t <= last))


def _rows(run: Run, key: Any) -> Run:
    if isinstance(run.t, Tracer) and not isinstance(key, slice):
        key = np.asarray(key)
    given = {name: getattr(run, name) for name in _ROWS}
    taken: dict[str, Any] = {name: x[key] for name, x in given.items() if x is not None}
    if not len(taken["t"]):
        raise ValueError(f"No state of the run is in {key!r}; it has {len(run.t)}, from t = {run.t[0]} to {run.t[-1]}.")
    picture = None if run.drawn is None else replace(run.drawn, x=run.drawn.x[key])
    made = replace(run.provenance, part=run.provenance.part or len(taken["t"]) < len(run.t))
    saved = None if made.part else run.saved
    happened = _events_within(run, taken["t"])
    return replace(
        run, drawn=picture, happened=happened, provenance=made, saved=saved, whole=whole_of(run, made.part), **taken
    )


def whole_of(run: Run, part: bool) -> Run | None:
    """The run that a part of this one belongs to; None where that cannot be looked at."""
    if not part or run.system is None or isinstance(run.t, Tracer):
        return None
    return run if run.whole is None else run.whole


def _events_within(run: Run, times: AnyArray) -> Events | None:
    """The events from the first to the last of these times; all of a run that is being traced."""
    if run.happened is None or isinstance(times, Tracer):
        return run.happened
    events, count = run.happened, len(run.happened)
    t = np.asarray(events.t)[:count]
    inside = np.flatnonzero((t >= np.min(times)) & (t <= np.max(times)))
    columns = {name: np.asarray(getattr(events, name))[inside] for name in ("t", "which", "q", "v_before", "v_after")}
    return replace(events, count=len(inside), **columns)


def members(run: Run) -> list[Run]:
    """The members of a batch."""
    return [_members(run, k) for k in range(len(run.t))]


def _members(run: Run, key: Any) -> Run:
    count = len(run.t)
    if isinstance(key, int | np.integer):
        key = _index(int(key), count, "members")
        said = replace(run.provenance, members=None)
    elif isinstance(key, slice | list | np.ndarray):
        key = key if isinstance(key, slice) else np.asarray(key)
        said = replace(run.provenance, members=len(np.arange(count)[key]))
    else:
        raise TypeError(f"run[...] of a batch takes an index, a slice or an array of indices; got {key!r}.")

    def taken(leaf: Any) -> Any:
        return leaf[key] if isinstance(leaf, Tracer) else np.asarray(leaf)[key]

    if said.judgement:
        said = replace(said, judgement=of_members(said.judgement, key))
    return replace(jax.tree.map(taken, run), provenance=said)
