"""What happened along a run: events, impacts, contacts and releases, in order."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NamedTuple, SupportsIndex

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Shaped

from holonomy.types import AnyArray, AnyCount, Delays, Number, Point, Records, Tangent, Whole

OF_WALLS = ("impact", "contact", "release")
OF_FRICTION = ("stick", "slip")
KINDS = ("event", *OF_WALLS, *OF_FRICTION)
_SAID = 4  # records that a line of text names


class Happening(NamedTuple):
    """One record: what it is called, when, where, and the velocity before and after."""

    name: str
    t: float
    q: np.ndarray
    v_before: np.ndarray
    v_after: np.ndarray


class Events(eqx.Module):
    """The events of a run in the order in which they happened; arrays have one row for each.

    `which` is a number into `names`: the name of one of `events`, or ``"event k"`` for the k-th if it has none,
    ``"impact i"``, ``"contact i"`` and ``"release i"`` for the i-th wall. `t`, `q`, `v_before` and `v_after` are the
    states. Under a user's jit, vmap or grad there are `max_events` rows; those after the first `count` have `which` =
    -1 and the rest NaN.
    """

    t: Shaped[AnyArray, ...]
    which: Shaped[AnyArray, ...]
    q: Shaped[AnyArray, ...]
    v_before: Shaped[AnyArray, ...]
    v_after: Shaped[AnyArray, ...]
    count: Whole
    names: tuple[str, ...] = eqx.field(static=True)

    def __len__(self) -> int:
        return int(self.count)

    def __repr__(self) -> str:
        if isinstance(self.count, Tracer) or np.ndim(self.count):
            return f"<Events of {', '.join(self.names) or 'no kind'}, several runs or being traced>"
        said = [f"{one.name} at t = {one.t:g}" for one in (self[k] for k in range(min(len(self), _SAID)))]
        more = [f"and {len(self) - _SAID} more"] if len(self) > _SAID else []
        return f"<Events: {', '.join(said + more) or 'none'}>"

    def __iter__(self) -> Iterator[Happening]:
        for k in range(len(self)):
            yield self[k]

    def __getitem__(self, k: SupportsIndex) -> Happening:
        index = operator.index(k)
        if not -len(self) <= index < len(self):
            raise IndexError(f"There are {len(self)} events; asked for number {index}.")
        index = index % len(self)
        rows = (np.asarray(x[index]) for x in (self.q, self.v_before, self.v_after))
        return Happening(self.names[int(self.which[index])], float(self.t[index]), *rows)

    def of(self, name: str) -> np.ndarray:
        """The numbers of the rows called `name`, such as ``"impact 0"``, or of a kind, such as ``"impact"``."""
        wanted = [i for i, n in enumerate(self.names) if name in (n, _kind(n))]
        if not wanted:
            raise ValueError(f"No event is called {name!r}; there are {', '.join(self.names) or 'none'}.")
        return np.flatnonzero(np.isin(np.asarray(self.which), wanted))


def _kind(name: str) -> str:
    """The kind of a record: that of a wall by its first word, `event` for all others."""
    first = name.split()[0]
    return first if first in KINDS else "event"


def names(events: tuple[str, ...], walls: int, with_friction: int = 0) -> tuple[str, ...]:
    """The names of the records of events with these names and of so many walls, of which so many have friction."""
    of_walls = [f"{kind} {i}" for kind in OF_WALLS for i in range(walls)]
    return (*events, *of_walls, *(f"{kind} {i}" for kind in OF_FRICTION for i in range(with_friction)))


def none(points: int, called: tuple[str, ...] = ()) -> Events:
    """No events."""
    rows = np.zeros((0, points))
    return Events(np.zeros(0), np.zeros(0, int), rows, rows, rows, 0, called)


# ── In compiled loops ─────────────────────────────────────────────────────────────────────────────────

CAPACITY = 64  # records that a compiled loop holds before the host takes them out


class Log(NamedTuple):
    """Records in a compiled loop: CAPACITY rows, those that one more state may make, and one that takes what is not
    to be kept; how many there are."""

    t: Float[Array, " rows"]
    which: Int[Array, " rows"]
    q: Float[Array, "rows point"]
    before: Float[Array, "rows point"]
    after: Float[Array, "rows point"]
    count: AnyCount  # pyright: ignore[reportIncompatibleMethodOverride]


def empty(q: Point, most: int) -> Log:
    """A log without records, for states that make at most so many."""
    rows = CAPACITY + most
    table = jnp.zeros((rows + 1, q.shape[0]), q.dtype)
    return Log(jnp.zeros(rows + 1, q.dtype), jnp.zeros(rows + 1, jnp.int64), table, table, table, jnp.int64(0))


def write(
    log: Log,
    made: Records,
    labels: Int[Array, " records"],
    t: Number,
    delay: Delays,
    q: Point,
    before: Tangent,
    after: Tangent,
) -> Log:
    """The log with one more row for each of the `labels` that is `made`."""
    last = log.t.shape[0] - 1

    def once(k: Any, log: Log) -> Log:
        row = jnp.where(made[k], jnp.minimum(log.count, last), last)
        return Log(
            log.t.at[row].set(t + delay[k]),
            log.which.at[row].set(labels[k]),
            log.q.at[row].set(q),
            log.before.at[row].set(before),
            log.after.at[row].set(after),
            log.count + made[k].astype(log.count.dtype),
        )

    return jax.lax.fori_loop(0, made.shape[0], once, log)


def gathered(logs: list[Log], called: tuple[str, ...], points: int, most: int) -> Events:
    """The records of several logs, at most so many, in the order of time."""
    kept = [[np.asarray(x)[: int(log.count)] for x in log[:5]] for log in logs if int(log.count)]
    if not kept:
        return none(points, called)
    t, which, q, before, after = (np.concatenate(parts)[:most] for parts in zip(*kept, strict=True))
    return Events(t, which, q, before, after, len(t), called)
