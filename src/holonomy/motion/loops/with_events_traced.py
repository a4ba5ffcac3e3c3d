r"""A motion with events as one scan, to be traced by a user's jit, vmap or grad.

Each turn of the scan goes to the next event or to the end of a step. How far that is, is found without derivatives.
The step is then taken with them, and where it ends on an event its length \(\tau\) is a function of the state by
\(\sigma(\Phi_\tau(y)) = 0\). The implicit function theorem gives it derivatives of every order, and all that follows
has them too (saltation).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from holonomy.motion.events import event_log, locate, turn, wall_selection
from holonomy.motion.events.event import Watched
from holonomy.motion.events.event_log import Events
from holonomy.motion.events.locate import Base, Goal, Search, Setting, Trial
from holonomy.motion.loops import plain, with_events
from holonomy.motion.methods.base import AbstractMethod, PositionVelocity, Status, keep_if
from holonomy.motion.methods.explicit import RK4
from holonomy.motion.save_times import Plan
from holonomy.systems import System
from holonomy.systems.constraints.conditions import Touch
from holonomy.systems.contact import contact
from holonomy.systems.result_code import Code
from holonomy.types import AnyCount, Count, Flag, Point, Scalar, State, Tangent

_TRIALS = 4096  # on the way to the next event or the end of a step, at most


class Carry(NamedTuple):
    """Where the scan is: base, code, rows reached, iterations, and whether all events so far were smooth."""

    base: Base
    code: AnyCount
    row: Count
    work: AnyCount
    smooth: Flag


class Told(NamedTuple):
    """What a turn of the scan gives: a state, the row it is for or -1, and records."""

    state: State
    touch: Touch
    t: Float[Array, "*turns"]
    row: Int[Array, "*turns"]
    made: Bool[Array, "*turns records"]
    delay: Float[Array, "*turns records"]
    q: Float[Array, "*turns point"]
    before: Float[Array, "*turns point"]
    after: Float[Array, "*turns point"]


def traced(
    system: System, method: AbstractMethod, watched: Watched, plan: Plan, q: Point, v: Tangent, most: int
) -> tuple[Carry, plain.Snapshot, Events, Scalar]:
    """The whole plan: the end, snapshots with NaN after a failure, at most so many records, and the last time."""
    real = q.dtype
    setting = Setting(system, watched, method, jnp.asarray(plan.t0, real), jnp.asarray(plan.dt, real))
    marks, rests = jnp.asarray(np.cumsum(plan.counts)), jnp.asarray(np.abs(plan.rests), real)
    start = with_events.begin(system, watched, method, setting.t0, q, v)
    first = int(plan.counts[0] == 0 and plan.rests[0] == 0)
    code = start.code
    if system.constraints:
        code = jnp.where(code == Code.ok, plain.consistent(system, setting.t0, q, v), code)
    carry = Carry(start.base, code, jnp.int64(first), start.work, start.smooth)
    initial = _told(setting, start.base, q, v, jnp.int64(first - 1))

    def turn(carry: Carry, _: Any) -> tuple[Carry, Told]:
        over = (carry.code != Code.ok) | (carry.row >= len(plan.counts))
        idle = _told(setting, carry.base, q, v, jnp.int64(-1))
        go = _segment(setting, carry, marks, rests)
        return jax.lax.cond(over, lambda: (carry, idle), go)

    turns = plan.steps + int(np.count_nonzero(plan.rests)) + most
    carry, told = _scanned(turn, carry, turns)
    told = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), initial, told)
    events, made = _events(setting, told, most)
    short = (carry.code == Code.ok) & ((made > most) | (carry.row < len(plan.counts)))
    carry = carry._replace(code=jnp.where(short, jnp.int32(Code.too_many_events), carry.code))
    t = setting.time(carry.base.index, carry.base.past)
    return carry, _rows(setting, told, len(plan.counts)), events, t


def _scanned(turn: Any, carry: Carry, turns: int) -> tuple[Carry, Told]:
    """The scan; where it is long, in blocks whose inside reverse mode does again rather than remember."""
    if turns <= plain.REMEMBERED:
        return jax.lax.scan(turn, carry, None, length=turns)
    block = math.isqrt(turns)
    count = -(-turns // block)

    def several(c: Carry, _: Any) -> tuple[Carry, Told]:
        return jax.lax.scan(turn, c, None, length=block)

    carry, told = jax.lax.scan(jax.checkpoint(several), carry, None, length=count)
    return carry, jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), told)


# ── One turn ──────────────────────────────────────────────────────────────────────────────────────────


def _segment(setting: Setting, carry: Carry, marks: Any, rests: Any) -> Any:
    def go() -> tuple[Carry, Told]:
        base = carry.base
        mark, rest = marks[carry.row], rests[carry.row]
        whole = base.index < mark
        goal = Goal(jnp.where(whole, setting.pace, rest), whole)
        trial = _stepped(setting, base, _located(*jax.lax.stop_gradient((setting, base, goal))))
        moved, told = turn.landed(setting, base, trial, goal)
        anew = jnp.any(trial.met) | turn.is_short(setting, trial.length)
        moved = keep_if(anew, moved, turn.flown(setting, base, trial, goal))
        code = jnp.where(trial.status.code == Code.ok, told.code, trial.status.code)
        good = (code == Code.ok) | (code == Code.event)
        reached = (code == Code.ok) & (moved.index >= mark) & (moved.past >= rest)
        new = Carry(
            keep_if(good, _spoilt_base(moved, ~told.smooth), base),
            code,
            carry.row + reached.astype(carry.row.dtype),
            carry.work + trial.status.work.astype(carry.work.dtype),
            carry.smooth & told.smooth,
        )
        said = Told(
            new.base.state,
            new.base.touch,
            setting.time(base.index, base.past + trial.length),
            jnp.where(reached, carry.row, -1),
            told.made & good,
            told.delay,
            _spoilt(told.q, ~told.smooth),
            told.before,
            _spoilt(told.after, ~told.smooth),
        )
        return new, said

    return go


class _Hunt(NamedTuple):
    """A search for the first event or the goal: from where, how, what the last trial was, and what it took."""

    base: Base
    search: Search
    trial: Trial
    count: Any
    done: Any


def _located(setting: Setting, base: Base, goal: Goal) -> Trial:
    """The trial that ends on the first event or at the goal, its length counted from `base`; without derivatives."""

    def once(h: _Hunt) -> _Hunt:
        looked, trial = locate.attempt(setting, h.base, h.search, goal, plain.judged_step)
        ends = trial.accept & (jnp.any(trial.met) | (trial.length >= goal.length - h.base.past))
        further = turn.flown(setting, looked, trial, goal)
        work = h.trial.status.work + trial.status.work
        trial = trial._replace(status=Status(trial.status.code, work))
        failed = trial.status.code != Code.ok
        return _Hunt(keep_if(trial.accept & ~ends, further, looked), trial.search, trial, h.count + 1, ends | failed)

    shapes = jax.eval_shape(lambda: locate.attempt(setting, base, locate.nothing(setting), goal, plain.judged_step)[1])
    blank = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)
    first = _Hunt(base, locate.nothing(setting), blank, jnp.int32(0), jnp.bool_(False))
    last = jax.lax.while_loop(lambda h: ~h.done & (h.count < _TRIALS), once, first)
    code = last.trial.status.code
    code = jnp.where((code == Code.ok) & ~last.done, jnp.int32(Code.no_convergence), code)
    reached = last.trial.length >= goal.length - last.base.past
    length = jnp.where(reached, goal.length, last.base.past + last.trial.length) - base.past
    return last.trial._replace(
        length=length, status=Status(code, last.trial.status.work), met=last.trial.met & last.done
    )


def _stepped(setting: Setting, base: Base, found: Trial) -> Trial:
    r"""The step of the length found, with derivatives; also of its length where it ends on an event.

    That length is the root of \(\sigma(\Phi_\tau(y)) = 0\), which is known in value; `custom_root` gives it the
    derivatives of the implicit function theorem, of every order.
    """
    method, way = setting.method, setting.way
    system, t = setting.at(base.touch), setting.time(base.index, base.past)
    length = jnp.where(found.length > 0, found.length + jax.lax.stop_gradient(base.past) - base.past, setting.pace)
    isolated = jnp.any(found.met & ~found.touched)
    row = jnp.arange(found.met.shape[0]) == jnp.argmax(found.met)

    def watched(state: Any, h: Any) -> Any:
        q, v = method.read(system, t + way * h, state)
        return jnp.sum(jnp.where(row, locate.values(setting, system, t + way * h, q, v), 0.0))

    def root_of(value: Any, known: Any) -> Any:
        """The zero of `value`, which is `known`, or just that where there is no event."""
        return jax.lax.custom_root(
            lambda h: jnp.where(isolated, value(h), h - known),
            jax.lax.stop_gradient(known),
            lambda _, h: h,
            lambda slope, y: y / slope(jnp.ones_like(y)),
        )

    if method.fixed_step:

        def step(h: Any) -> tuple[Any, Status]:
            return plain.judged_step(system, method, t, way * h, base.state)

        exact = root_of(lambda h: watched(step(h)[0], h), length)
        state, status = step(exact)
    else:
        # an adaptive step has no derivative by its length: the flow's own, by a step of length zero of RK4
        state, status = plain.judged_step(system, method, t, way * length, base.state)

        def flow(h: Any) -> Any:
            start = PositionVelocity(*method.read(system, t + way * length, state))
            q, v = RK4().step(system, t + way * length, way * h, start)[0]
            return state._replace(q=q, v=v)

        more = root_of(lambda h: watched(flow(h), length + h), jnp.zeros_like(length))
        state, exact = keep_if(isolated, flow(more), state), length + more
    code = jnp.where(status.code == Code.ok, found.status.code, status.code)
    return found._replace(state=state, length=exact, status=Status(code, found.status.work), accept=jnp.bool_(True))


def _spoilt_base(base: Base, bad: Any) -> Base:
    """A base whose derivatives are NaN where `bad`."""
    spoil = lambda x: _spoilt(x, bad) if jnp.issubdtype(x.dtype, jnp.floating) else x  # noqa: E731
    return base._replace(state=jax.tree.map(spoil, base.state))


@jax.custom_jvp
def _spoilt(x: Any, bad: Any) -> Any:
    """x, whose derivatives are NaN where `bad`."""
    del bad
    return x


@_spoilt.defjvp
def _(primals: Any, tangents: Any) -> Any:
    x, bad = primals
    return x, jnp.where(bad, jnp.nan, 1.0) * tangents[0]


# ── What came out ─────────────────────────────────────────────────────────────────────────────────────


def _told(setting: Setting, base: Base, q: Any, v: Any, row: Any) -> Told:
    none, blank = jnp.zeros(setting.labels, bool), jnp.zeros(setting.labels, q.dtype)
    return Told(base.state, base.touch, setting.time(base.index, base.past), row, none, blank, q, v, v)


def _rows(setting: Setting, told: Told, rows: int) -> plain.Snapshot:
    """Snapshots of the rows that were reached, NaN for the others."""
    turns = jnp.arange(told.row.shape[0])
    at = jnp.full(rows + 1, -1).at[jnp.where(told.row >= 0, told.row, rows)].set(turns)[:rows]

    def shot(turn: Any) -> plain.Snapshot:
        state, touch, t = jax.tree.map(lambda x: x[jnp.maximum(turn, 0)], (told.state, told.touch, told.t))
        seen = plain.look(setting.at(touch), setting.method, t, state)
        return keep_if(turn >= 0, seen, jax.tree.map(lambda x: jnp.full_like(x, jnp.nan), seen))

    return jax.lax.map(shot, at)


def _events(setting: Setting, told: Told, most: int) -> tuple[Events, Any]:
    """The records in a table of fixed size, and how many there were."""
    labels = setting.labels
    flat = told.made.ravel()
    (at,) = jnp.nonzero(flat, size=most, fill_value=-1)
    there = at >= 0
    turn = jnp.maximum(at, 0) // labels
    t = jnp.where(there, (told.t[:, None] + told.delay).ravel()[jnp.maximum(at, 0)], jnp.nan)
    q, before, after = (jnp.where(there[:, None], x[turn], jnp.nan) for x in (told.q, told.before, told.after))
    count = jnp.sum(flat)
    called = event_log.names(
        setting.watched.names, contact.count(setting.system), contact.with_friction(setting.system)
    )
    numbers = jax.vmap(lambda touch: wall_selection.numbers(setting, touch))(told.touch).ravel()
    which = jnp.where(there, numbers[jnp.maximum(at, 0)], -1)
    return Events(t, which, q, before, after, jnp.minimum(count, most), called), count
