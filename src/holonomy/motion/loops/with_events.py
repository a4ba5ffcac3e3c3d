"""The compiled loop of a motion with events, driven from the host in chunks; without events `plain` is used."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float, Int

from holonomy.motion.events import event_log, locate, turn, wall_selection
from holonomy.motion.events.event import Watched
from holonomy.motion.events.event_log import Log
from holonomy.motion.events.locate import Base, Goal, Search, Setting, Trial
from holonomy.motion.loops import plain
from holonomy.motion.methods.base import AbstractMethod, keep_if
from holonomy.systems import System
from holonomy.systems.contact import contact
from holonomy.systems.result_code import Code
from holonomy.types import AnyArray, AnyCount, AnyScalar, Count, Flag, Number, Point, Tangent, Whole


class Progress(NamedTuple):
    """Where a loop with events is: base and search, code, iterations in all and at most a step, and new records."""

    base: Base
    search: Search
    code: AnyCount
    work: AnyCount
    worst: AnyCount
    log: Log
    smooth: Flag

    @property
    def index(self) -> AnyCount:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Whole steps done."""
        return self.base.index


def begin(system: System, watched: Watched, method: AbstractMethod, t: Number, q: Point, v: Tangent) -> Progress:
    """The loop's state at an initial condition."""
    t = jnp.asarray(t, q.dtype)
    setting = Setting(system, watched, method, t, jnp.ones_like(t))
    events, sides = setting.counts
    touch, log, code = contact.apart(system), event_log.empty(q, setting.labels), jnp.int32(Code.ok)
    if sides:
        all_walls, few = jnp.zeros(sides, bool), jnp.zeros(setting.facing, bool)
        quiet = (all_walls, few, all_walls, few[: setting.with_friction or None])
        told = contact.settle(system, jnp.ones_like(t), jnp.zeros_like(t), t, q, v, touch, *quiet)
        made = jnp.concatenate([jnp.zeros(events, bool), told.made])
        labels = wall_selection.numbers(setting, told.touch)
        log = event_log.write(log, made, labels, t, jnp.zeros(setting.labels, q.dtype), q, v, told.v)
        v, touch, code = told.v, told.touch, told.code
        grips = ~jnp.any(touch.active) | method.grips | (code != Code.ok)
        code = jnp.where(grips, code, jnp.int32(Code.no_contact))
    base = locate.begin(setting, method.start(setting.at(touch), t, q, v), touch)
    return Progress(base, locate.nothing(setting), code, jnp.int64(0), jnp.int32(0), log, jnp.bool_(True))


def advance(setting: Setting, now: Progress, goal: Goal) -> Progress:
    """One trial step; where it is accepted, the base moves on, through an event if there is one."""
    base, trial = locate.attempt(setting, now.base, now.search, goal, plain.judged_step)
    return moved_on(setting, now, goal, base, trial)


def moved_on(setting: Setting, now: Progress, goal: Goal, base: Base, trial: Trial) -> Progress:
    """The progress after a trial."""
    meets = jnp.any(trial.met) & trial.accept
    landing = trial.accept & (meets | turn.is_short(setting, trial.length))
    moved, log, code, smooth = jax.lax.cond(
        landing,
        lambda base, trial, log: _landed(setting, base, trial, log, goal),
        lambda base, trial, log: _flown(setting, base, trial, log, goal),
        base,
        trial,
        now.log,
    )
    work = now.work + trial.status.work.astype(now.work.dtype)
    return Progress(
        moved,
        trial.search,
        jnp.where(trial.status.code == Code.ok, code, trial.status.code),
        work,
        jnp.maximum(now.worst, trial.status.work),
        log,
        now.smooth & smooth,
    )


def _flown(setting: Setting, base: Base, trial: Trial, log: Log, goal: Goal) -> Any:
    moved = keep_if(trial.accept, turn.flown(setting, base, trial, goal), base)
    return moved, log, jnp.int32(Code.ok), jnp.bool_(True)


def _landed(setting: Setting, base: Base, trial: Trial, log: Log, goal: Goal) -> Any:
    moved, told = turn.landed(setting, base, trial, goal)
    t = setting.time(base.index, base.past + trial.length)
    labels = wall_selection.numbers(setting, told.touch)
    log = event_log.write(log, told.made, labels, t, told.delay, told.q, told.before, told.after)
    return moved, log, told.code, told.smooth


def chunk(
    system: System,
    watched: Watched,
    method: AbstractMethod,
    now: Progress,
    t0: AnyScalar,
    dt: AnyScalar,
    counts: Int[AnyArray, " rows"],
    rests: Float[AnyArray, " rows"],
    rows: Whole,
) -> tuple[Progress, plain.Snapshot, Count]:
    """Some rows of a plan, fewer where the log is full. As `plain.chunk`.

    A row whose time is off the grid is reached by a step that counts: the grid's next step begins there.
    """
    setting = Setting(system, watched, method, t0, dt)

    def open_(n: Progress) -> Any:
        return (n.code == Code.ok) & (n.log.count <= event_log.CAPACITY)

    def row(carry: Any) -> Any:
        k, now, saved = carry
        last, rest = now.index + counts[k], jnp.abs(rests[k])

        def short(n: Progress) -> Any:
            return (n.index < last) | (n.base.past < rest)

        def once(n: Progress) -> Progress:
            whole = n.index < last
            return advance(setting, n, Goal(jnp.where(whole, setting.pace, rest), whole))

        now = jax.lax.while_loop(lambda n: open_(n) & short(n), once, now)
        done = (now.code == Code.ok) & ~short(now)
        shot = look(setting, now.base)
        saved = jax.tree.map(lambda buffer, value: buffer.at[k].set(value), saved, shot)
        return k + done, now, saved

    shapes = jax.eval_shape(lambda: look(setting, now.base))
    blank = jax.tree.map(lambda s: jnp.zeros((counts.shape[0], *s.shape), s.dtype), shapes)
    done, now, saved = jax.lax.while_loop(lambda c: (c[0] < rows) & open_(c[1]), row, (jnp.int64(0), now, blank))
    return now, saved, done


def wider(
    system: System, wide: System, watched: Watched, method: AbstractMethod, now: Progress, t0: AnyScalar, dt: AnyScalar
) -> Progress:
    """The progress of a system as that of the same which looks at more of its walls together."""
    old, new = (Setting(each, watched, method, t0, dt) for each in (system, wide))
    base, kept = now.base, sum(old.counts)
    t = old.time(base.index, base.past)
    touch = contact.looking_wider(wide, base.touch)
    state = method.start(new.at(touch), t, *method.read(old.at(base.touch), t, base.state))
    start = locate.begin(new, state, touch)
    fresh, band, side = (
        blank.at[:kept].set(x[:kept])
        for blank, x in zip((start.fresh, start.band, start.side), (base.fresh, base.band, base.side), strict=True)
    )
    start = start._replace(index=base.index, past=base.past, fresh=fresh, band=band, side=side)
    more = new.labels - old.labels
    tables = [jnp.pad(x, [(0, more)] + [(0, 0)] * (x.ndim - 1)) for x in now.log[:5]]
    return now._replace(base=start, search=locate.nothing(new), log=Log._make([*tables, now.log.count]))


def look(setting: Setting, base: Base) -> plain.Snapshot:
    """The snapshot of a base."""
    return plain.look(setting.at(base.touch), setting.method, setting.time(base.index, base.past), base.state)
