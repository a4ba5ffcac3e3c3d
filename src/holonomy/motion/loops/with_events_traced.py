r"""A motion with events as one scan, to be traced by a user's jit, vmap or grad.

Each turn of the scan goes to the next event or to the end of a step. How far that is, is found without derivatives.
The step is then taken with them, and where it ends on an event its length \(\tau\) is a function of the state by
\(\sigma(\Phi_\tau(y)) = 0\): adding \(\partial_\tau\Phi\,\delta\tau\), \(\delta\tau = -\sigma/\dot\sigma\), which is
zero in value, gives the event its derivative, and all that follows with it (saltation).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion.events import event_log, locate
from holonomy.motion.events.event import Watched
from holonomy.motion.events.event_log import Events
from holonomy.motion.events.locate import Base, Goal, Search, Setting, Trial
from holonomy.motion.loops import plain, with_events
from holonomy.motion.methods.base import AbstractMethod, Status, keep_if
from holonomy.motion.save_times import Plan
from holonomy.systems import System
from holonomy.systems.contact import contact
from holonomy.systems.quantities import ambient_acceleration
from holonomy.systems.result_code import Code

_TRIALS = 4096


class Carry(NamedTuple):
    """Where the scan is: base, code, rows reached, iterations, and whether all events so far were smooth."""

    base: Base
    code: Any
    row: Any
    work: Any
    smooth: Any


class Told(NamedTuple):
    """What a turn of the scan gives: a state, the row it is for or -1, and records."""

    state: Any
    touch: Any
    t: Any
    row: Any
    made: Any
    delay: Any
    q: Any
    before: Any
    after: Any


def traced(
    system: System, method: AbstractMethod, watched: Watched, plan: Plan, q: Any, v: Any, most: int
) -> tuple[Carry, plain.Snapshot, Events, Any]:
    """The whole plan: the end, snapshots with NaN after a failure, at most so many records, and the last time."""
    real = q.dtype
    setting = Setting(system, watched, method, jnp.asarray(plan.t0, real), jnp.asarray(plan.dt, real))
    marks, rests = jnp.asarray(np.cumsum(plan.counts)), jnp.asarray(np.abs(plan.rests), real)
    start = with_events.begin(system, watched, method, setting.t0, q, v)
    first = int(plan.counts[0] == 0 and plan.rests[0] == 0)
    code = start.code
    if system.constraints is not None:
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
        found, work = _located(*jax.lax.stop_gradient((setting, base, goal)))
        trial, t = _stepped(setting, base, found)
        system = setting.at(base.touch)
        q, v = setting.method.read(system, t, trial.state)
        told = locate.land(setting, base, trial.met, trial.touched, t, q, v)
        told = told._replace(q=_spoilt(told.q, ~told.smooth), after=_spoilt(told.after, ~told.smooth))
        anew = jnp.any(trial.met) | locate.is_short(setting, trial.length)
        moved = keep_if(anew, locate.leave(setting, base, trial, told, goal), locate.go_on(setting, base, trial, goal))
        ends = jnp.bool_(False)
        for k, final in enumerate(setting.watched.terminal):
            ends = ends | (trial.met[k] if final else False)
        here = moved._replace(index=base.index, past=base.past + trial.length)
        moved = keep_if(ends, here, moved)
        code = jnp.where((told.code == Code.ok) & ends, jnp.int32(Code.event), told.code)
        code = jnp.where(trial.status.code == Code.ok, code, trial.status.code)
        good = (code == Code.ok) | (code == Code.event)
        reached = (code == Code.ok) & (moved.index >= mark) & (moved.past >= rest)
        new = Carry(
            keep_if(good, moved, base),
            code,
            carry.row + reached.astype(carry.row.dtype),
            carry.work + work.astype(carry.work.dtype),
            carry.smooth & told.smooth,
        )
        said = Told(
            new.base.state,
            new.base.touch,
            t,
            jnp.where(reached, carry.row, -1),
            told.made & good,
            told.delay,
            told.q,
            told.before,
            told.after,
        )
        return new, said

    return go


class _Hunt(NamedTuple):
    base: Base
    search: Search
    past: Any
    met: Any
    touched: Any
    seen: Any
    signed: Any
    work: Any
    count: Any
    done: Any
    code: Any


def _located(setting: Setting, base: Base, goal: Goal) -> tuple[_Hunt, Any]:
    """How far it is to the first event or to the goal, and what is met there; without derivatives."""

    def once(h: _Hunt) -> _Hunt:
        looked, trial = locate.attempt(setting, h.base, h.search, goal, plain.judged_step)
        left = goal.length - h.base.past
        ends = trial.accept & (jnp.any(trial.met) | (trial.length >= left))
        further = looked._replace(
            state=trial.state,
            past=h.base.past + trial.length,
            seen=trial.seen,
            fresh=jnp.zeros_like(looked.fresh),
        )
        failed = trial.status.code != Code.ok
        return _Hunt(
            keep_if(trial.accept & ~ends, further, looked),
            trial.search,
            jnp.where(ends, jnp.where(trial.length >= left, goal.length, h.base.past + trial.length), h.past),
            trial.met & ends,
            trial.touched,
            trial.seen,
            keep_if(h.base.known, h.signed, looked.seen),
            h.work + trial.status.work,
            h.count + 1,
            ends | failed,
            trial.status.code,
        )

    quiet = jnp.zeros_like(base.fresh)
    first = _Hunt(
        base,
        locate.nothing(setting),
        base.past,
        quiet,
        quiet,
        base.seen,
        base.seen,
        jnp.int32(0),
        jnp.int32(0),
        jnp.bool_(False),
        jnp.int32(Code.ok),
    )
    last = jax.lax.while_loop(lambda h: ~h.done & (h.count < _TRIALS), once, first)
    stuck = (last.code == Code.ok) & ~last.done
    last = last._replace(code=jnp.where(stuck, jnp.int32(Code.no_convergence), last.code))
    return last, last.work


def _stepped(setting: Setting, base: Base, found: _Hunt) -> tuple[Trial, Any]:
    """The step of the length found, with derivatives; also of its length where it ends on an event."""
    method, way = setting.method, setting.way
    system, t = setting.at(base.touch), setting.time(base.index, base.past)
    length = jnp.where(found.past > base.past, found.past - base.past, setting.pace)
    row = (jnp.arange(found.met.shape[0]) == jnp.argmax(found.met)).astype(length.dtype)

    def step(h: Any) -> tuple[Any, Any, Any]:
        state, status = plain.judged_step(system, method, t + 0.0 * h, way * h, base.state)
        q, v = method.read(system, t + way * h, state)
        return state, jnp.dot(row, locate.values(setting, system, t + way * h, q, v)), status.code

    if method.fixed_step:
        (state, value, code), (slopes, rate, _) = jax.jvp(step, (length,), (jnp.ones_like(length),))
    else:
        state, value, code = step(length)
        q, v = method.read(system, t + way * length, state)
        flow = (v, ambient_acceleration(system, t + way * length, q, v))
        slopes = state._replace(q=way * flow[0], v=way * flow[1], inner=jnp.zeros_like(state.inner))
        rate = jnp.dot(row, locate.observe(setting, system, t + way * length, q, v).rate)
    isolated = jnp.any(found.met & ~found.touched)
    safe = jnp.where(isolated & (rate != 0), jax.lax.stop_gradient(rate), 1.0)
    change = jnp.where(isolated, -value / safe, 0.0)
    state = jax.tree.map(lambda x, d: _moved(x, d, change), state, slopes)
    exact = length + change
    trial = Trial(
        state, exact, found.seen, Status(jnp.where(code == Code.ok, found.code, code), found.work), jnp.bool_(True),
        found.met, found.touched, found.search,
    )  # fmt: skip
    return trial, t + way * exact


def _moved(x: Any, slope: Any, change: Any) -> Any:
    return x + jax.lax.stop_gradient(slope) * change if jnp.issubdtype(x.dtype, jnp.floating) else x


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
    called = event_log.names(setting.watched.count, contact.count(setting.system), setting.rubbing)
    which = jnp.where(there, jnp.maximum(at, 0) % labels, -1)
    return Events(t, which, q, before, after, jnp.minimum(count, most), called), count
