"""Of many walls those that a trial step looks at: their rows among all watched ones, and the numbers of their records.

`systems/contact/many_walls` says which walls these are. Where there are few walls, all rows are looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from holonomy.motion.events import event_log
from holonomy.systems.constraints.conditions import Touch
from holonomy.systems.contact import many_walls
from holonomy.types import Flag, Number

if TYPE_CHECKING:
    from holonomy.motion.events.locate import Base, Search, Setting, Trial
    from holonomy.motion.events.zero_crossing import Looked, Seen


def numbers(setting: Setting, touch: Touch) -> Int[Array, " records"]:
    """The numbers of the records that a state in this contact may make, into all names (`event_log.names`)."""
    events, sides = setting.counts
    if touch.near is None:
        return jnp.arange(setting.labels)
    c = setting.system.constraints.walls.counts[0]
    of_walls = jnp.concatenate([jnp.asarray(touch.near), jnp.arange(c, sides)])
    kinds = len(event_log.OF_WALLS)
    parts = [jnp.arange(events), *(events + kind * sides + of_walls for kind in range(kinds))]
    if setting.with_friction:
        parts += [events + kinds * sides + kind * c + touch.near for kind in range(len(event_log.OF_FRICTION))]
    return jnp.concatenate(parts)


def rows_to_look_at(
    setting: Setting, base: Base, search: Search, looked: Looked, length: Number, seen: Seen
) -> tuple[Int[Array, " rows"] | None, Flag]:
    """The rows that may have a zero in a trial, None for all, and whether they are too few; a search keeps its own."""
    if not setting.window:
        return None, jnp.bool_(False)
    events, c = setting.counts[0], setting.system.constraints.walls.counts[0]
    first, last = ((s.value[events:][:c], s.rate[events:][:c]) for s in (base.seen, seen))
    near, crowded = many_walls.may_close(first, last, length, looked.on[events:][:c], setting.window)
    at = jnp.concatenate([jnp.arange(events), events + near, jnp.arange(events + c, base.fresh.shape[0])])
    assert search.at is not None  # as `locate.nothing` makes it
    return jnp.where(search.on, search.at, at), crowded & ~search.on


def some_of(at: Int[Array, " rows"] | None, seen: tuple[Base, Looked, Seen]) -> tuple[Base, Looked, Seen]:
    """The same of some rows only."""
    if at is None:
        return seen
    base, looked, end = seen
    pick = lambda x: x.at[at].get(mode="promise_in_bounds")  # noqa: E731
    few = base._replace(
        seen=jax.tree.map(pick, base.seen), fresh=pick(base.fresh), band=pick(base.band), side=pick(base.side)
    )
    return few, jax.tree.map(pick, looked), jax.tree.map(pick, end)


def for_all(at: Int[Array, " rows"] | None, total: int, trial: Trial) -> Trial:
    """A trial's outcome for all rows: nothing was met in those that were not looked at."""
    if at is None:
        return trial

    def spread(x: Any) -> Any:
        return jnp.zeros(total, x.dtype).at[at].set(x, mode="promise_in_bounds", unique_indices=True)

    met, touched, came, band = (spread(x) for x in (trial.met, trial.touched, trial.came, trial.band))
    return trial._replace(met=met, touched=touched, came=came, band=band)
